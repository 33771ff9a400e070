/* cmd_recipe_list.c - `wheelsmith recipe list`: a line for each recipe that a build would find. */
#include "cli/session.h"

struct row {
	const char *name, *version, *binding, *torch, *archs, *license, *path;
};

static const struct ws_field row_fields[] = {
	WS_VALUE("name", struct row, name, WS_ALWAYS, NULL),
	WS_VALUE("version", struct row, version, WS_ALWAYS, NULL),
	WS_VALUE("binding", struct row, binding, WS_ALWAYS, "Python: no module is compiled"),
	WS_VALUE("torch", struct row, torch, WS_ALWAYS, "a range, or any"),
	WS_VALUE("archs", struct row, archs, WS_ALWAYS, "any, one, first to last, or -: none"),
	WS_VALUE("license", struct row, license, WS_ALWAYS, "-: the recipe names none"),
	WS_VALUE("path", struct row, path, WS_ALWAYS, NULL),
};
static const struct ws_table row_table = {NULL, row_fields, WS_LEN(row_fields)};

struct listing {
	const struct row *rows;
	size_t count;
};

static const struct ws_field fields[] = {
	WS_FIXED("schema", "wheelsmith.recipe-list/1"),
	WS_LIST_OF("recipes", struct listing, rows, count, row_table, WS_ALWAYS, NULL),
};
const struct ws_table ws_recipe_list_table = {NULL, fields, WS_LEN(fields)};

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

bool
ws_cmd_recipe_list(struct ws_session *s, struct ws_err *err)
{
	struct listing listing = {0};
	struct ws_usage usage = {
		.command = "recipe list",
		.synopsis = "[NAME]",
		.summary = "Prints a line for each recipe, or for those of one package: version, what its "
				   "modules\n"
				   "are bound to, the torch and the architectures that it takes, licence.",
		.most = 1,
	};
	if (!ws_command_options(s, &usage, err)) {
		return false;
	}
	const char *only = s->words.len > 0 ? ws_package_normal(s->words.at[0], s->a) : NULL;
	/* @a only: a package, normalised; NULL: all. */
	struct ws_recipe_catalog catalog;
	if (!ws_session_open_facts(s, err) || !ws_session_list_recipes(s, &catalog, err)) {
		return false;
	}
	struct row *rows = WS_NEW_N(s->a, struct row, catalog.count);
	listing.rows = rows;
	for (size_t i = 0; i < catalog.count; i++) {
		const struct ws_recipe_file *file = &catalog.files[i];
		struct ws_recipe recipe;
		if (only && strcmp(file->name, only) != 0) {
			continue;
		}
		if (!ws_recipe_find(&catalog, file->name, &file->version, s->a, &recipe, err)) {
			return false;
		}
		enum ws_binding binding = ws_recipe_binding(&recipe);
		rows[listing.count++] = (struct row){.name = recipe.name,
			.version = recipe.version.text,
			.binding = binding == WS_BINDING_NONE ? "Python" : ws_binding_words[binding],
			.torch = recipe.needs_torch ? ws_specifiers_text(recipe.needs_torch) : "any",
			.archs = archs_text(&recipe, s->a),
			.license = license_text(&recipe.metadata),
			.path = recipe.path};
	}
	if (only && listing.count == 0) {
		ws_err_set(err, WS_ERR_NEGATIVE, "no recipe for '%s'", only);
		return ws_err_cure(err, "draft one:  wheelsmith recipe new %s==VERSION", only);
	}
	if (s->globals.json) {
		ws_session_print_json(s, &ws_recipe_list_table, &listing);
		return true;
	}
	for (size_t i = 0; i < listing.count; i++) {
		const struct row *row = &listing.rows[i];
		ws_out_result(&s->out, "%-27s  %-16s  %-13s  %-16s  %-12s  %s\n", row->name, row->version,
			row->binding, row->torch, row->archs, row->license);
	}
	return true;
}
