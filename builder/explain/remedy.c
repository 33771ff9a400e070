/* remedy.c - recipes are read until one has the module; a recipe that has a mistake has none. */
#include "explain/remedy.h"

#include "base/text.h"

#include <string.h>

/* "demo._C" and "_C" are both names of the module that the recipe calls "demo._C". */
static bool
is_module(const char *named, const char *module)
{
	const char *last = strrchr(named, '.');
	return strcmp(named, module) == 0 || (last && strcmp(last + 1, module) == 0);
}

static bool
makes(const struct ws_recipe *recipe, const char *module)
{
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (is_module(recipe->extensions[i].module, module)) {
			return true;
		}
	}
	return false;
}

const char *
ws_remedy_package(const struct ws_recipe_catalog *catalog, const char *module, struct ws_arena *a)
{
	for (size_t i = catalog ? catalog->count : 0; i-- > 0;) {
		const struct ws_recipe_file *file = &catalog->files[i];
		struct ws_recipe recipe;
		if (ws_recipe_find(catalog, file->name, &file->version, a, &recipe, NULL)
			&& makes(&recipe, module)) {
			return file->name;
		}
	}
	return NULL;
}

/* The recipe of that version, else the newest of the package that compiles: what has a label of its
 * own (+any) is Python over another package's modules. NULL: there is none. */
static const char *
version_to_build(const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy)
{
	const char *newest = NULL;
	for (size_t i = 0; catalog && i < catalog->count; i++) {
		const struct ws_recipe_file *file = &catalog->files[i];
		if (!ws_same(file->name, remedy->package)) {
			continue;
		}
		if (ws_same(file->version.text, remedy->version)) {
			return file->version.text;
		}
		newest = strchr(file->version.text, '+') ? newest : file->version.text;
	}
	return newest;
}

static void
put_option(struct ws_buf *line, const char *option, const char *value)
{
	if (value) {
		ws_buf_printf(line, " --%s ", option);
		ws_buf_put_quoted(line, value);
	}
}

static const char *
package_text(const struct ws_remedy *remedy, const char *version, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s==%s", remedy->package ? remedy->package : "NAME",
		version               ? version
			: remedy->version ? remedy->version
							  : "VERSION");
}

const char *
ws_remedy_command(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *version = version_to_build(catalog, remedy);
	ws_buf_printf(&line, "wheelsmith build %s", package_text(remedy, version, a));
	ws_buf_puts(&line, remedy->torch ? "" : " --here");
	put_option(&line, "torch", remedy->torch);
	put_option(&line, "python", remedy->python);
	put_option(&line, "arch", remedy->arch);
	put_option(&line, "recipes",
		remedy->recipes                   ? remedy->recipes
			: remedy->package && !version ? "recipes"
										  : NULL);
	return ws_buf_copy(&line, a);
}

const char *
ws_remedy_draft(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a)
{
	if (!remedy->package || version_to_build(catalog, remedy)) {
		return NULL;
	}
	return ws_arena_printf(a, "wheelsmith recipe new %s -o %s/", package_text(remedy, NULL, a),
		remedy->recipes ? remedy->recipes : "recipes");
}
