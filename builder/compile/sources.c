/* sources.c - see sources.h. Reads listings, no files. */
#include "compile/sources.h"

#include "base/str.h"

#include <fnmatch.h>

/* C files too are for the C++ compiler, as torch's BuildExtension has it. */
bool
ws_unit_kind(const char *path, bool *cuda)
{
	static const char *const host[] = {".cpp", ".cc", ".cxx", ".c"};
	*cuda = ws_ends_with(path, ".cu");
	for (size_t i = 0; i < WS_LEN(host); i++) {
		if (ws_ends_with(path, host[i])) {
			return true;
		}
	}
	return *cuda;
}

bool
ws_units_add(const struct ws_recipe *recipe, const struct ws_tree *source, const char *path,
	struct ws_arena *a, ws_unit_list *units, struct ws_err *err)
{
	struct ws_unit unit = {.path = path};
	if (!ws_unit_kind(path, &unit.cuda)) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"%s %s: nobody compiles '%s' (.cu .cpp .cc .cxx .c are)", recipe->name,
			recipe->version.text, path);
	}
	if (!ws_tree_lookup(source, path)) {
		ws_err_set(err, WS_ERR_CONFIG, "%s %s: its sources hold no '%s'", recipe->name,
			recipe->version.text, path);
		return ws_err_cure(err, "the recipe '%s' names it", recipe->path);
	}
	*ws_vec_push(units, a) = unit;
	return true;
}

static bool
add_glob(const struct ws_recipe *recipe, const struct ws_tree *source,
	const struct ws_source_list *list, struct ws_arena *a, ws_unit_list *units, struct ws_err *err)
{
	unsigned found = 0;
	for (size_t i = 0; i < source->count; i++) {
		const struct ws_tree_entry *entry = &source->entries[i];
		if (entry->kind != WS_TREE_LINK && fnmatch(list->glob, entry->path, FNM_PATHNAME) == 0) {
			found++;
			if (!ws_units_add(recipe, source, entry->path, a, units, err)) {
				return false;
			}
		}
	}
	return found == list->expected
		|| ws_err_set(err, WS_ERR_CONFIG,
			"%s %s: '%s' matches %u files where the recipe expects %u", recipe->name,
			recipe->version.text, list->glob, found, list->expected);
}

bool
ws_units_add_list(const struct ws_recipe *recipe, const struct ws_tree *source,
	const struct ws_source_list *list, struct ws_arena *a, ws_unit_list *units, struct ws_err *err)
{
	for (size_t i = 0; i < list->path_count; i++) {
		if (!ws_units_add(recipe, source, list->paths[i], a, units, err)) {
			return false;
		}
	}
	return !list->glob || add_glob(recipe, source, list, a, units, err);
}
