/* cmd_recipe_list.c - `wheelsmith recipe list`: a line for each recipe that a build would find. */
#include "base/json.h"
#include "cli/cmd_recipe.h"
#include "config/recipes.h"
#include "model/wheel_name.h"

#include <string.h>

struct listing {
	struct ws_session *s;
	const char *only; /* a package, normalised; NULL: all */
	struct ws_json_writer *w;
};

/* "8.0 to 12.1"; "any" where the recipe does not say. */
static const char *
archs_text(const struct ws_recipe *recipe, struct ws_arena *a)
{
	const struct ws_arch_set *set = &recipe->archs;
	if (set->count == 0) {
		return recipe->extension_count > 0 ? "any" : "-";
	}
	const char *first = ws_arch_text(&set->at[0], a);
	return set->count == 1
		? first
		: ws_arena_printf(a, "%s to %s", first, ws_arch_text(&set->at[set->count - 1], a));
}

/* "License :: OSI Approved :: BSD License" is "BSD License". */
static const char *
license_text(const struct ws_metadata *metadata)
{
	const char *text =
		metadata->license_expression ? metadata->license_expression : metadata->license;
	for (size_t i = 0; !text && i < metadata->classifier_count; i++) {
		if (ws_starts_with(metadata->classifiers[i], "License :: ")) {
			text = strrchr(metadata->classifiers[i], ':') + 1;
			text += strspn(text, " ");
		}
	}
	return text && text[0] ? text : "-";
}

static void
add_recipe(const struct listing *l, const struct ws_recipe *recipe)
{
	struct ws_arena *a = l->s->a;
	enum ws_binding binding = ws_recipe_binding(recipe);
	const char *torch = recipe->needs_torch ? ws_specifiers_text(recipe->needs_torch) : "any";
	const char *bound = binding == WS_BINDING_NONE ? "Python" : ws_binding_name(binding);
	if (!l->w) {
		ws_out_result(&l->s->out, "%-27s  %-16s  %-13s  %-16s  %-12s  %s\n", recipe->name,
			recipe->version.text, bound, torch, archs_text(recipe, a),
			license_text(&recipe->metadata));
		return;
	}
	ws_json_open_object(l->w, NULL);
	ws_json_add_text(l->w, "name", recipe->name);
	ws_json_add_text(l->w, "version", recipe->version.text);
	ws_json_add_text(l->w, "binding", bound);
	ws_json_add_text(l->w, "torch", torch);
	ws_json_add_text(l->w, "archs", archs_text(recipe, a));
	ws_json_add_text(l->w, "license", license_text(&recipe->metadata));
	ws_json_add_text(l->w, "path", recipe->path);
	ws_json_close(l->w);
}

static bool
list_all(const struct listing *l, struct ws_err *err)
{
	struct ws_recipe_catalog catalog;
	size_t shown = 0;
	if (!ws_session_open_facts(l->s, err) || !ws_session_list_recipes(l->s, NULL, &catalog, err)) {
		return false;
	}
	for (size_t i = 0; i < catalog.count; i++) {
		const struct ws_recipe_file *file = &catalog.files[i];
		struct ws_recipe recipe;
		if (l->only && strcmp(file->name, l->only) != 0) {
			continue;
		}
		if (!ws_recipe_find(&catalog, file->name, &file->version, l->s->a, &recipe, err)) {
			return false;
		}
		add_recipe(l, &recipe);
		shown++;
	}
	if (l->only && shown == 0) {
		ws_err_set(err, WS_ERR_NEGATIVE, "there is no recipe for '%s'", l->only);
		return ws_err_cure(err, "a draft of one:  wheelsmith recipe new %s==VERSION", l->only);
	}
	return true;
}

bool
ws_cmd_recipe_list(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct listing l = {.s = s};
	struct ws_usage usage = {
		.command = "recipe list",
		.synopsis = "[NAME]",
		.summary = "Prints a line for each recipe, or for those of one package: version, what its "
				   "modules\n"
				   "are bound to, the torch and the architectures that it takes, licence.",
		.most = 1,
	};
	ws_words words = {0};
	if (!ws_command_options(s, &usage, argc, argv, &words, err)) {
		return false;
	}
	l.only = words.len > 0 ? ws_package_normal(words.at[0], s->a) : NULL;
	if (!s->globals.json) {
		return list_all(&l, err);
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	l.w = ws_json_begin();
	ws_json_open_object(l.w, NULL);
	ws_json_add_text(l.w, "schema", "wheelsmith.recipe-list/1");
	ws_json_open_list(l.w, "recipes");
	bool good = list_all(&l, err);
	ws_json_close(l.w);
	ws_json_close(l.w);
	ws_json_finish(l.w, WS_JSON_PRETTY, &text);
	if (good) {
		ws_out_result(&s->out, "%s", ws_buf_text(&text));
	}
	return good;
}
