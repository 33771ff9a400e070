/* cmd_recipe_update.c - `wheelsmith recipe update`: finds the newest recipe of a package, its
 * sources and what the index has since then; cmd_recipe_new.c drafts. */
#include "cli/session.h"
#include "config/recipe.h"
#include "config/values.h"
#include "draft/draft.h"
#include "fetch/source.h"

struct updating {
	struct ws_session *s;
	const char *name;         /* normalised */
	struct ws_version wanted; /* text NULL: the newest */
	struct ws_recipe recipe;  /* the base of the update */
	struct ws_document document;
};

static const struct ws_source_spec *
sdist_of(const struct ws_recipe *recipe)
{
	for (size_t i = 0; i < recipe->source_count; i++) {
		if (recipe->sources[i].kind == WS_SOURCE_SDIST) {
			return &recipe->sources[i];
		}
	}
	return NULL;
}

/* The newest version on the index, if newer than the recipe; else text is NULL. */
static bool
find_newest(struct updating *u, struct ws_err *err)
{
	const struct ws_source_spec *sdist = sdist_of(&u->recipe);
	struct ws_sdist_found found;
	if (!sdist) {
		ws_err_set(err, WS_ERR_USAGE, "the sources of '%s' %s are not on an index", u->name,
			u->recipe.version.text);
		return ws_err_cure(
			err, "name the version and its commit:  %s==VERSION --git URL@COMMIT", u->name);
	}
	if (!ws_sdist_find(&u->s->fetch, sdist->package, &u->recipe.version, u->s->a, &found, err)) {
		return false;
	}
	if (found.newest && ws_version_cmp(found.newest, &u->recipe.version) > 0) {
		u->wanted = *found.newest;
	}
	return true;
}

/* Without a commit the new version has to be on the index, as sources. */
static bool
has_sources(struct updating *u, struct ws_err *err)
{
	struct ws_sdist_found found;
	if (!ws_sdist_find(&u->s->fetch, u->name, &u->wanted, u->s->a, &found, err)) {
		return false;
	}
	if (!found.file) {
		ws_err_set(err, WS_ERR_CONFIG, "%s %s has wheels, but no source distribution", u->name,
			u->wanted.text);
		return ws_err_cure(err, "where its repository is known:  %s==%s --git URL@COMMIT", u->name,
			u->wanted.text);
	}
	return true;
}

static bool
update(struct updating *u, const char *to, const char *git, struct ws_err *err)
{
	struct ws_session *s = u->s;
	/* The newest recipe that is older than the wanted version. Recipes with a local label are left
	 * out. */
	struct ws_recipe_catalog catalog;
	const struct ws_recipe_file *newest = NULL;
	if (!ws_session_open_facts(u->s, err) || !ws_session_list_recipes(u->s, &catalog, err)) {
		return false;
	}
	for (size_t i = 0; i < catalog.count; i++) {
		const struct ws_recipe_file *file = &catalog.files[i];
		bool older = !u->wanted.text || ws_version_cmp(&file->version, &u->wanted) < 0;
		if (strcmp(file->name, u->name) == 0 && !file->version.local && older) {
			newest = file;
		}
	}
	if (!newest) {
		ws_err_set(err, WS_ERR_CONFIG, "no recipe of '%s' to go on from", u->name);
		return ws_err_cure(err, "a first one:  wheelsmith recipe new %s==VERSION", u->name);
	}
	if (!ws_recipe_find(&catalog, u->name, &newest->version, u->s->a, &u->recipe, err)
		|| !ws_document_read(newest->path, "recipe", u->s->a, &u->document, err)
		|| !ws_session_open_net(s, NULL, false, err) || (!u->wanted.text && !find_newest(u, err))) {
		return false;
	}
	if (!u->wanted.text) {
		ws_out_note(&s->out, "%s %s is the newest that has a source distribution\n", u->name,
			u->recipe.version.text);
		return true;
	}
	if (!git && !has_sources(u, err)) {
		return false;
	}
	const struct ws_source_wish wish = {.name = u->name,
		.version = u->recipe.version.text,
		.specs = u->recipe.sources,
		.spec_count = u->recipe.source_count};
	struct ws_source_found found;
	if (!ws_source_bring(&s->fetch, &wish, s->a, &found, err)) {
		return false;
	}
	const struct ws_draft_base base = {.recipe = u->document.doc->root, .folder = found.tree.path};
	ws_out_note(&s->out, "%s %s, after %s:\n", u->name, u->wanted.text, u->recipe.version.text);
	return ws_recipe_update(
		s, ws_arena_printf(s->a, "%s==%s", u->name, u->wanted.text), to, git, &base, err);
}

bool
ws_cmd_recipe_update(struct ws_session *s, struct ws_err *err)
{
	struct updating u = {.s = s};
	const char *to = NULL, *git = NULL;
	const struct ws_option options[] = {
		{"output", 'o', WS_OPTION_TEXT, &to, "FILE",
			"write there; a folder stands for FOLDER/NAME/V.json"},
		{"git", 0, WS_OPTION_TEXT, &git, "URL", "its sources are in git: URL@COMMIT"},
	};
	struct ws_usage usage = {
		.command = "recipe update",
		.synopsis = "NAME[==V] [-o FILE] [--git URL@COMMIT]",
		.summary =
			"Writes the recipe of a package's newest version from its last recipe: drafts of\n"
			"both versions are made, their differences are applied to the recipe and listed.\n"
			"Values that need a decision are marked \"check:\".",
		WS_OPTIONS(options),
		.least = 1,
		.most = 1,
	};
	if (!ws_command_options(s, &usage, err)) {
		return false;
	}
	struct ws_arena *a = u.s->a;
	const char *equals = strstr(s->words.at[0], "==");
	const char *name = equals ? ws_arena_copy(a, s->words.at[0], (size_t)(equals - s->words.at[0]))
							  : s->words.at[0];
	if (!ws_is_package_name(name) || (equals && !ws_version_parse(equals + 2, a, &u.wanted))) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' names no package", s->words.at[0]);
		return ws_err_cure(err, "write it like this: torch-scatter, or torch-scatter==2.1.2");
	}
	u.name = ws_package_normal(name, a);
	return update(&u, to, git, err);
}
