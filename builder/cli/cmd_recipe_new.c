/* cmd_recipe_new.c - `wheelsmith recipe new` and `recipe update`: bring a source distribution and
 * have its draft written (draft/draft.h). */
#include "base/fs.h"
#include "cli/session.h"
#include "config/recipe.h"
#include "config/values.h"
#include "draft/draft.h"
#include "fetch/source.h"
#include "fetch/source_tree.h"
#include "net/download.h"
#include "store/cas.h"

#define LARGEST ((size_t)1 << 20) /* files that are read here */

struct drafting {
	struct ws_session *s;
	const char *name; /* normalised */
	const char *distribution;
	struct ws_version version; /* text NULL: the newest that has a source distribution */
	const char *to;            /* -o; NULL: stdout */
	const char *git, *folder;  /* --git, --folder: where the sources are; NULL: on an index */
	const char *sources;       /* the folder they are unpacked in; NULL: nothing was fetched */
	const struct ws_draft_base *base; /* `recipe update` has one */
	bool updates;
	struct ws_draft draft;
};

/* NAME==V; for an update, or where an index has the sources, NAME alone. */
static bool
parse_wanted(struct drafting *d, const char *word, struct ws_err *err)
{
	const char *equals = strstr(word, "==");
	const char *name = equals ? ws_arena_copy(d->s->a, word, (size_t)(equals - word)) : word;
	bool elsewhere = !d->updates && (d->git || d->folder);
	if (!ws_is_package_name(name) || (!equals && elsewhere)
		|| (equals && !ws_version_parse(equals + 2, d->s->a, &d->version))) {
		ws_err_set(
			err, WS_ERR_USAGE, "'%s' names no %spackage", word, d->updates ? "" : "version of a ");
		return ws_err_cure(err, "write it like this: %s",
			d->updates ? "torch-scatter, or torch-scatter==2.1.2" : "causal-conv1d==1.5.3.post1");
	}
	if (d->version.local) {
		ws_err_set(err, WS_ERR_USAGE, "a recipe is for %s, without '+%s'", d->version.public_text,
			d->version.local);
		return ws_err_cure(err, "write %s==%s", name, d->version.public_text);
	}
	d->distribution = name;
	d->name = ws_package_normal(name, d->s->a);
	return true;
}

static bool
find_newest(struct drafting *d, struct ws_err *err)
{
	struct ws_sdist_found found;
	if (!ws_session_open_net(d->s, NULL, false, err)
		|| !ws_sdist_find(&d->s->fetch, d->name, NULL, d->s->a, &found, err)) {
		return false;
	}
	d->version = *found.newest;
	ws_out_note(&d->s->out, "%s: version %s, the newest with a source distribution\n", d->name,
		d->version.text);
	return true;
}

/* A folder stands for FOLDER/NAME/VERSION.json. */
static bool
choose_place(struct drafting *d, struct ws_err *err)
{
	if (!d->to) {
		return true;
	}
	if (!ws_ends_with(d->to, ".json") || ws_fs_is_dir(d->to)) {
		const char *file = ws_arena_printf(d->s->a, "%s.json", d->version.text);
		d->to = ws_path_join(d->s->a, d->to, d->name, file, NULL);
	}
	if (ws_fs_exists(d->to)) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is there already", d->to);
		return ws_err_cure(err, "move it away, or write elsewhere (-o FILE)");
	}
	/* Called before the first download: the nearest existing folder must be writable. */
	const char *folder = ws_path_dir(d->s->a, d->to);
	while (!ws_fs_exists(folder) && strcmp(folder, ws_path_dir(d->s->a, folder)) != 0) {
		folder = ws_path_dir(d->s->a, folder);
	}
	if (!ws_fs_is_dir(folder)) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' exists and is not a folder", folder);
		return ws_err_cure(err, "write to a folder, or to a file that ends in .json (-o FILE)");
	}
	return access(folder, W_OK | X_OK) == 0
		|| ws_err_sys(err, WS_ERR_IO, "cannot write into the folder '%s'", folder);
}

/* The index gives no digest: fetch the file first and compute it. */
static const char *
fetch_digest(const struct drafting *d, const struct ws_index_file *file, struct ws_err *err)
{
	struct ws_session *s = d->s;
	const char *partial = ws_store_path(&s->store, s->a, "partial");
	struct ws_download download = {
		.url = file->url,
		.path = ws_arena_printf(s->a, "%s/sdist-%s", partial, file->name),
		.partial = ws_arena_printf(s->a, "%s/sdist-%s.part", partial, file->name),
		.size_bytes = file->size_bytes,
	};
	struct ws_digest digest;
	if (!ws_download_all(s->fetch.http, &download, 1, err)
		|| !ws_cas_take(&s->store, download.path, &digest, NULL, err)) {
		return NULL;
	}
	return ws_arena_strdup(s->a, digest.hex);
}

static bool
fetch(struct drafting *d, const struct ws_source_spec *spec, struct ws_source_found *found,
	struct ws_err *err)
{
	const struct ws_source_wish wish = {
		.name = d->name, .version = d->version.text, .specs = spec, .spec_count = 1};
	if (!ws_source_bring(&d->s->fetch, &wish, d->s->a, found, err)) {
		return false;
	}
	d->sources = found->tree.path;
	return true;
}

/* @a tree NULL: a form. */
static bool
write_draft(struct drafting *d, const struct ws_source_spec *spec, const char *from,
	const struct ws_tree *tree, const char *note, struct ws_err *err)
{
	struct ws_session *s = d->s;
	const char *path = ws_user_env_get(&s->env, "PATH");
	const struct ws_draft_order order = {
		.reader = s->data.draft_reader,
		.path_variable = path ? path : "/usr/bin:/bin",
		.partial = ws_store_path(&s->store, s->a, "partial"),
		.folder = tree ? tree->path : NULL,
		.from = from,
		.name = d->name,
		.distribution = d->distribution,
		.version = d->version.text,
		.source = spec,
		.source_note = note,
		.base = d->base,
	};
	if (!ws_draft_make(&order, s->a, &d->draft, err)) {
		return false;
	}
	for (size_t i = 0; i < d->draft.incomplete_count; i++) {
		ws_out_warn(&s->out, "the draft is incomplete: %s", d->draft.incomplete[i]);
	}
	return true;
}

/* A placeholder for the commit. */
static struct ws_source_spec
unknown_commit(const struct drafting *d, const char *repository)
{
	return (struct ws_source_spec){.kind = WS_SOURCE_GIT,
		.url = repository ? repository : "https://example.org/someone/something",
		.commit = ws_arena_printf(d->s->a, "%040d", 0)};
}

static const char commit_note[] =
	"the commit that `git ls-remote URL 'refs/tags/v*'` shows for this version, and the "
	"submodules that are compiled against: \"submodules\": [\"third_party/cutlass\"]";

/* With --git the recipe names that repository; the rest is read from setup.py of the sdist. */
static bool
draft_sdist(struct drafting *d, const struct ws_index_file *file, struct ws_err *err)
{
	struct ws_session *s = d->s;
	const char *sha256 = file->sha256[0] ? file->sha256 : fetch_digest(d, file, err);
	if (!sha256) {
		return false;
	}
	if (file->is_yanked) {
		ws_out_warn(&s->out, "%s was withdrawn by its authors: %s", file->name,
			file->yanked_why[0] ? file->yanked_why : "without a reason");
	}
	const struct ws_source_spec spec = {
		.kind = WS_SOURCE_SDIST, .file = file->name, .package = d->name, .sha256 = sha256};
	const struct ws_source_spec git = unknown_commit(d, d->git);
	struct ws_source_found found;
	if (!fetch(d, &spec, &found, err)
		|| !write_draft(
			d, d->git ? &git : &spec, file->name, &found.tree, d->git ? commit_note : NULL, err)) {
		return false;
	}
	/* An sdist without files that its setup.py compiles cannot be built. */
	const struct ws_draft *draft = &d->draft;
	if (draft->missing_sources > 0 && !d->git) {
		ws_out_warn(&d->s->out,
			"'%s' cannot be built: it lacks %ju of the files that its setup.py compiles",
			file->name, (uintmax_t)draft->missing_sources);
		ws_out_note(&d->s->out,
			"         from its repository:  wheelsmith recipe new %s==%s --git %s\n",
			d->distribution, d->version.text, draft->repository ? draft->repository : "URL");
	}
	return true;
}

static bool
draft_form(struct drafting *d, struct ws_err *err)
{
	const struct ws_source_spec spec = unknown_commit(d, d->git);
	return write_draft(d, &spec, NULL, NULL, commit_note, err);
}

static bool
draft_index(struct drafting *d, struct ws_err *err)
{
	struct ws_session *s = d->s;
	struct ws_sdist_found found;
	if (!ws_session_open_net(s, NULL, false, err)) {
		return false;
	}
	if (!ws_sdist_find(&s->fetch, d->name, &d->version, s->a, &found, err)) {
		if (err->kind != WS_ERR_CONFIG || d->git) {
			return err->kind == WS_ERR_CONFIG && draft_form(d, err);
		}
		return ws_err_cure(err, "for sources in git:  wheelsmith recipe new %s==%s --git URL",
			d->distribution, d->version.text);
	}
	if (found.file) {
		return draft_sdist(d, found.file, err);
	}
	ws_out_warn(&s->out,
		"%s %s has wheels, but no source distribution; this is a form for sources in git", d->name,
		d->version.text);
	if (found.others[0]) {
		ws_out_note(&s->out, "         source distributions of other versions: %s\n", found.others);
	}
	return draft_form(d, err);
}

static bool
draft_folder(struct drafting *d, struct ws_err *err)
{
	struct ws_source_found found;
	WS_AUTO_FREE char *path = realpath(d->folder, NULL);
	if (!path || !ws_fs_is_dir(path)) {
		return ws_err_set(err, WS_ERR_USAGE, "'%s' is not a folder", d->folder);
	}
	const struct ws_source_spec spec = {
		.kind = WS_SOURCE_FOLDER, .path = ws_arena_strdup(d->s->a, path)};
	if (!ws_session_open_net(d->s, NULL, true, err) || !fetch(d, &spec, &found, err)) {
		return false;
	}
	d->sources = NULL; /* the person has them */
	return write_draft(d, &spec, spec.path, &found.tree, NULL, err);
}

static bool
read_member(
	const struct drafting *d, const struct ws_tree *tree, const char *name, struct ws_buf *text)
{
	const char *path = ws_path_join(d->s->a, tree->path, name, NULL);
	return ws_tree_lookup(tree, name) && ws_fs_read_at_most(path, LARGEST, text, NULL);
}

/* Selects the submodules whose folders setup.py names. */
static bool
name_submodules(
	struct drafting *d, const struct ws_tree *tree, struct ws_source_spec *spec, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf modules = {0};
	WS_AUTO_BUF struct ws_buf setup = {0};
	WS_VEC(const char *) named = {0};
	ws_gitmodule_list list;
	if (!read_member(d, tree, ".gitmodules", &modules)
		|| !read_member(d, tree, "setup.py", &setup)) {
		return true;
	}
	if (!ws_gitmodules_parse(ws_buf_str(&modules), d->s->a, &list, err)) {
		return false;
	}
	for (size_t i = 0; i < list.len; i++) {
		const char *path = list.at[i].path;
		if (path && ws_path_is_inside(path) && strstr(ws_buf_text(&setup), ws_path_base(path))) {
			*ws_vec_push(&named, d->s->a) = path;
		}
	}
	spec->submodules = named.at;
	spec->submodule_count = named.len;
	return true;
}

/* URL@COMMIT: the commit itself is read. */
static bool
draft_commit(struct drafting *d, const char *at, struct ws_err *err)
{
	struct ws_arena *a = d->s->a;
	struct ws_source_found found;
	struct ws_source_spec spec = {.kind = WS_SOURCE_GIT,
		.url = ws_arena_copy(a, d->git, (size_t)(at - d->git)),
		.commit = at + 1};
	if (!ws_session_open_net(d->s, NULL, false, err) || !fetch(d, &spec, &found, err)
		|| !name_submodules(d, &found.tree, &spec, err)) {
		return false;
	}
	if (spec.submodule_count > 0 && !fetch(d, &spec, &found, err)) {
		return false;
	}
	const char *note =
		spec.submodule_count > 0 ? "the submodules that setup.py names; others stay empty" : NULL;
	return write_draft(d, &spec, d->git, &found.tree, note, err);
}

static bool
draft(struct drafting *d, struct ws_err *err)
{
	if ((!d->version.text && !find_newest(d, err)) || !choose_place(d, err)) {
		return false;
	}
	if (d->git && d->folder) {
		return ws_err_set(err, WS_ERR_USAGE, "give one of --git and --folder");
	}
	if (d->git && !ws_starts_with(d->git, "https://") && !ws_starts_with(d->git, "http://")) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--git takes a URL (https://...), not '%s'; --folder takes sources on this host",
			d->git);
	}
	if (!ws_session_open_store(d->s, false, err)) {
		return false;
	}
	const char *at = d->git ? strrchr(d->git, '@') : NULL;
	bool done = d->folder            ? draft_folder(d, err)
		: at && ws_git_is_id(at + 1) ? draft_commit(d, at, err)
									 : draft_index(d, err);
	if (!done) {
		return false;
	}
	const struct ws_out *out = &d->s->out;
	for (size_t i = 0; i < d->draft.change_count; i++) {
		ws_out_note(out, "  %s\n", d->draft.changes[i]);
	}
	if (d->base && d->draft.change_count == 0) {
		ws_out_note(out, "  no key of the recipe changes\n");
	}
	if (!d->to) {
		ws_out_result(out, "%s", d->draft.text);
		return true;
	}
	if (!ws_fs_mkdirs(ws_path_dir(d->s->a, d->to), err)
		|| !ws_fs_write_atomic(d->to, d->draft.text, strlen(d->draft.text), 0644, err)) {
		return false;
	}
	unsigned checks = 0;
	for (const char *mark = d->draft.text; (mark = strstr(mark, "// check:")); mark++) {
		checks++;
	}
	ws_out_note(out, "wrote %s, with %u line%s to check\n", d->to, checks, checks == 1 ? "" : "s");
	if (d->sources) {
		ws_out_note(out, "its sources, to read:  %s\n", d->sources);
	}
	ws_out_note(out, "then:  wheelsmith recipe check --fetch %s\n", d->to);
	return true;
}

bool
ws_cmd_recipe_new(struct ws_session *s, struct ws_err *err)
{
	struct drafting d = {.s = s};
	const struct ws_option options[] = {
		{"output", 'o', WS_OPTION_TEXT, &d.to, "FILE",
			"write there; a folder stands for FOLDER/NAME/V.json"},
		{"git", 0, WS_OPTION_TEXT, &d.git, "URL", "its sources are in git; URL@COMMIT is read"},
		{"folder", 0, WS_OPTION_TEXT, &d.folder, "DIR", "its sources are in this folder"},
	};
	struct ws_usage usage = {
		.command = "recipe new",
		.synopsis = "NAME[==V] [-o FILE] [--git URL | --folder DIR]",
		.summary =
			"Writes the draft of a recipe: brings the source distribution of a version from\n"
			"the package index (or a commit, or looks into a folder) and reads its metadata,\n"
			"its setup.py (which is not run), and which sources, headers and packages there\n"
			"are. Guesses are marked \"check:\".",
		WS_OPTIONS(options),
		.least = 1,
		.most = 1,
	};
	return ws_command_options(s, &usage, err) && parse_wanted(&d, s->words.at[0], err)
		&& draft(&d, err);
}

/* ---- an update: the newest recipe of a package, and what the index has since then ---- */

/* The newest version on the index, if newer than the recipe; else d->version.text stays NULL. */
static bool
find_update(struct drafting *d, const struct ws_recipe *recipe, struct ws_err *err)
{
	const struct ws_source_spec *sdist = NULL;
	struct ws_sdist_found found;
	for (size_t i = 0; i < recipe->source_count && !sdist; i++) {
		sdist = recipe->sources[i].kind == WS_SOURCE_SDIST ? &recipe->sources[i] : NULL;
	}
	if (!sdist) {
		ws_err_set(err, WS_ERR_USAGE, "the sources of '%s' %s are not on an index", d->name,
			recipe->version.text);
		return ws_err_cure(
			err, "name the version and its commit:  %s==VERSION --git URL@COMMIT", d->name);
	}
	if (!ws_sdist_find(&d->s->fetch, sdist->package, &recipe->version, d->s->a, &found, err)) {
		return false;
	}
	if (found.newest && ws_version_cmp(found.newest, &recipe->version) > 0) {
		d->version = *found.newest;
	}
	return true;
}

/* Without a commit the new version has to be on the index, as sources. */
static bool
has_sources(struct drafting *d, struct ws_err *err)
{
	struct ws_sdist_found found;
	if (!ws_sdist_find(&d->s->fetch, d->name, &d->version, d->s->a, &found, err)) {
		return false;
	}
	if (!found.file) {
		ws_err_set(err, WS_ERR_CONFIG, "%s %s has wheels, but no source distribution", d->name,
			d->version.text);
		return ws_err_cure(err, "where its repository is known:  %s==%s --git URL@COMMIT", d->name,
			d->version.text);
	}
	return true;
}

static bool
update(struct drafting *d, struct ws_err *err)
{
	struct ws_session *s = d->s;
	struct ws_recipe_catalog catalog;
	struct ws_recipe recipe;
	struct ws_document document;
	struct ws_source_found found;
	d->distribution = d->name;
	/* The newest recipe that is older than the wanted version. Recipes with a local label are left
	 * out. */
	const struct ws_recipe_file *newest = NULL;
	if (!ws_session_open_facts(s, err) || !ws_session_list_recipes(s, &catalog, err)) {
		return false;
	}
	for (size_t i = 0; i < catalog.count; i++) {
		const struct ws_recipe_file *file = &catalog.files[i];
		bool older = !d->version.text || ws_version_cmp(&file->version, &d->version) < 0;
		if (strcmp(file->name, d->name) == 0 && !file->version.local && older) {
			newest = file;
		}
	}
	if (!newest) {
		ws_err_set(err, WS_ERR_CONFIG, "no recipe of '%s' to go on from", d->name);
		return ws_err_cure(err, "a first one:  wheelsmith recipe new %s==VERSION", d->name);
	}
	if (!ws_recipe_find(&catalog, d->name, &newest->version, s->a, &recipe, err)
		|| !ws_document_read(newest->path, "recipe", s->a, &document, err)
		|| !ws_session_open_net(s, NULL, false, err)
		|| (!d->version.text && !find_update(d, &recipe, err))) {
		return false;
	}
	if (!d->version.text) {
		ws_out_note(&s->out, "%s %s is the newest that has a source distribution\n", d->name,
			recipe.version.text);
		return true;
	}
	const struct ws_source_wish wish = {.name = d->name,
		.version = recipe.version.text,
		.specs = recipe.sources,
		.spec_count = recipe.source_count};
	if ((!d->git && !has_sources(d, err))
		|| !ws_source_bring(&s->fetch, &wish, s->a, &found, err)) {
		return false;
	}
	const struct ws_draft_base base = {.recipe = document.doc->root, .folder = found.tree.path};
	d->base = &base;
	ws_out_note(&s->out, "%s %s, after %s:\n", d->name, d->version.text, recipe.version.text);
	return draft(d, err);
}

bool
ws_cmd_recipe_update(struct ws_session *s, struct ws_err *err)
{
	struct drafting d = {.s = s, .updates = true};
	const struct ws_option options[] = {
		{"output", 'o', WS_OPTION_TEXT, &d.to, "FILE",
			"write there; a folder stands for FOLDER/NAME/V.json"},
		{"git", 0, WS_OPTION_TEXT, &d.git, "URL", "its sources are in git: URL@COMMIT"},
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
	return ws_command_options(s, &usage, err) && parse_wanted(&d, s->words.at[0], err)
		&& update(&d, err);
}
