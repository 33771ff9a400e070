/* draft.c - runs the child that writes drafts and reads its draft back as a recipe. The child
 * limits its own memory and CPU time; sys/child.h limits its time and the size of its answer. */
#include "draft/draft.h"

#include "base/fs.h"
#include "base/table.h"
#include "config/recipe.h"
#include "net/index_config.h"
#include "sys/child.h"

/* ---- the order and the answer of the child ---- */

static const struct ws_field source_fields[] = {
	WS_VALUE("sdist", struct ws_source_spec, file, WS_IF_ANY, NULL),
	WS_VALUE("folder", struct ws_source_spec, path, WS_IF_ANY, NULL),
	WS_VALUE("git", struct ws_source_spec, url, WS_IF_ANY, NULL),
	WS_VALUE("commit", struct ws_source_spec, commit, WS_IF_ANY, NULL),
	WS_VALUE("sha256", struct ws_source_spec, sha256, WS_IF_ANY, NULL),
	WS_LIST("submodules", struct ws_source_spec, submodules, submodule_count, WS_IF_ANY, NULL),
};
static const struct ws_table source_table = {NULL, source_fields, WS_LEN(source_fields)};

static const struct ws_field base_fields[] = {
	WS_VALUE("folder", struct ws_draft_base, folder, WS_ALWAYS, NULL),
	WS_VALUE("recipe", struct ws_draft_base, recipe, WS_ALWAYS, NULL),
};
static const struct ws_table base_table = {NULL, base_fields, WS_LEN(base_fields)};

static const struct ws_field order_fields[] = {
	WS_VALUE("folder", struct ws_draft_order, folder, WS_OR_NULL, NULL),
	WS_VALUE("from", struct ws_draft_order, from, WS_OR_NULL, NULL),
	WS_VALUE("name", struct ws_draft_order, name, WS_ALWAYS, NULL),
	WS_VALUE("distribution", struct ws_draft_order, distribution, WS_ALWAYS, NULL),
	WS_VALUE("version", struct ws_draft_order, version, WS_ALWAYS, NULL),
	WS_VALUE("source_note", struct ws_draft_order, source_note, WS_OR_NULL, NULL),
	WS_VALUE("refused", struct ws_draft_order, refused, WS_OR_NULL, NULL),
	WS_POINTED("source", struct ws_draft_order, source, source_table, WS_ALWAYS, NULL),
	WS_POINTED("base", struct ws_draft_order, base, base_table, WS_IF_ANY, NULL),
};
static const struct ws_table order_table = {NULL, order_fields, WS_LEN(order_fields)};

static const struct ws_field answer_fields[] = {
	WS_VALUE("draft", struct ws_draft, text, WS_ALWAYS, NULL),
	WS_VALUE("missing", struct ws_draft, missing_sources, WS_ALWAYS, NULL),
	WS_VALUE("repository", struct ws_draft, repository, WS_OR_NULL, NULL),
	WS_LIST("incomplete", struct ws_draft, incomplete, incomplete_count, WS_ALWAYS, NULL),
	WS_LIST("changes", struct ws_draft, changes, change_count, WS_ALWAYS, NULL),
};
static const struct ws_table answer_table = {NULL, answer_fields, WS_LEN(answer_fields)};

static bool
run_child(const struct ws_draft_order *order, struct ws_arena *a, struct ws_draft *draft,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf answer = {0};
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	const char *python = NULL;
	for (struct ws_str rest = ws_str_of(order->path_variable); rest.s && !python;) {
		const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
		const char *program = ws_path_join(a, folder, "python3", NULL);
		bool found = folder[0] == '/' && access(program, X_OK) == 0 && !ws_fs_is_dir(program);
		python = found ? program : NULL;
	}
	if (!python) {
		return ws_err_set(err, WS_ERR_CONFIG, "no python3 on PATH: 'recipe new' needs one");
	}
	if (!ws_scratch_make(order->partial, "draft-", a, &scratch, err)) {
		return false;
	}
	ws_table_text(&order_table, order, WS_JSON_COMPACT, &text);
	const char *const argv[] = {python, "-I", "-S", "-B", order->reader, NULL};
	const char *const env[] = {"LC_ALL=C.UTF-8", NULL};
	const struct ws_child_order command = {
		.argv = argv, .env = env, .dir = scratch.path, .order = &text, .limits.timeout_ms = 60000};
	return ws_child_ask(&command, &answer, err)
		&& ws_table_parse("the draft's answer", ws_buf_str(&answer), &answer_table, a, draft, err);
}

/* The proof: what is written can be read again. */
static bool
can_be_read(const char *text, struct ws_arena *a, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct ws_recipe recipe;
	return ws_json_parse("the draft", text, strlen(text), WS_JSON_RELAXED, a, &doc, err)
		&& ws_recipe_parse(&doc, "/", a, &recipe, err);
}

bool
ws_draft_make(const struct ws_draft_order *order, struct ws_arena *a, struct ws_draft *draft,
	struct ws_err *err)
{
	if (!run_child(order, a, draft, err)) {
		return false;
	}
	if (can_be_read(draft->text, a, err)) {
		return true;
	}
	/* Metadata may hold what a recipe cannot; the rest of the draft is kept. */
	struct ws_draft_order again = *order;
	again.refused = ws_arena_strdup(a, err->text);
	return run_child(&again, a, draft, err)
		&& (can_be_read(draft->text, a, err)
			|| ws_err_wrap(
				err, "no draft could be made of '%s'", order->from ? order->from : order->name));
}

/* ---- source distributions ---- */

#define SHOWN 8 /* versions that a message names */

bool
ws_sdist_version(
	const char *file, const char *package, struct ws_arena *a, struct ws_version *version)
{
	static const char *const endings[] = {".tar.gz", ".zip"};
	size_t len = 0;
	for (size_t i = 0; i < WS_LEN(endings); i++) {
		len = ws_ends_with(file, endings[i]) ? strlen(file) - strlen(endings[i]) : len;
	}
	const char *stem = ws_arena_copy(a, file, len);
	for (const char *dash = strchr(stem, '-'); dash; dash = strchr(dash + 1, '-')) {
		const char *name = ws_arena_copy(a, stem, (size_t)(dash - stem));
		if (strcmp(ws_package_normal(name, a), package) == 0
			&& ws_version_parse(dash + 1, a, version)) {
			return true;
		}
	}
	return false;
}

static int
cmp_newest_first(const void *x, const void *y)
{
	return ws_version_cmp(y, x);
}

static void
look_at_page(const struct ws_index_page *page, const char *package,
	const struct ws_version *version, struct ws_arena *a, struct ws_sdist_found *found)
{
	WS_VEC(struct ws_version) versions = {0};
	for (size_t i = 0; i < page->count; i++) {
		const struct ws_index_file *file = &page->files[i];
		struct ws_wheel_name wheel;
		struct ws_version of;
		const char *why;
		if (ws_wheel_name_parse(file->name, a, &wheel, &why)) {
			found->has_wheels = found->has_wheels
				|| (version && ws_version_cmp_public(&wheel.version, version) == 0);
		} else if (ws_sdist_version(file->name, package, a, &of)) {
			bool is_named = version && ws_version_cmp(&of, version) == 0;
			if (is_named || !file->is_yanked) { /* PEP 592: taken by those that name it */
				*ws_vec_push(&versions, a) = of;
			}
			if (is_named && (!found->file || ws_ends_with(file->name, ".tar.gz"))) {
				found->file = file;
			}
		}
	}
	/* Nightly builds count only where there is nothing else. */
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *last = "";
	bool finals = false;
	if (versions.len > 1) {
		qsort(versions.at, versions.len, sizeof(*versions.at), cmp_newest_first);
	}
	for (size_t i = 0; i < versions.len; i++) {
		finals = finals || !ws_version_is_prerelease(&versions.at[i]);
	}
	for (size_t i = 0, shown = 0; i < versions.len && shown < SHOWN; i++) {
		bool counts = !finals || !ws_version_is_prerelease(&versions.at[i]);
		found->newest = counts && !found->newest ? &versions.at[i] : found->newest;
		if (counts && strcmp(versions.at[i].text, last) != 0) {
			ws_buf_printf(&b, "%s%s", shown++ > 0 ? ", " : "", versions.at[i].text);
			last = versions.at[i].text;
		}
	}
	found->others = ws_buf_copy(&b, a);
}

bool
ws_sdist_find(const struct ws_fetch *fetch, const char *package, const struct ws_version *version,
	struct ws_arena *a, struct ws_sdist_found *found, struct ws_err *err)
{
	const struct ws_index_page **pages;
	size_t count;
	struct ws_index_list list = ws_index_config_list(fetch->indexes, NULL, a);
	*found = (struct ws_sdist_found){.others = ""};
	if (!ws_index_pages(fetch->index, &list, package, &pages, &count, err)) {
		return false;
	}
	if (count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the package index has no '%s'", package);
	}
	look_at_page(pages[0], package, version, a, found);
	if (found->file || found->has_wheels || (!version && found->newest)) {
		return true;
	}
	if (!version) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "the package index has no source distribution of '%s'", package);
	}
	ws_err_set(err, WS_ERR_CONFIG, "the package index has no '%s' %s", package, version->text);
	return ws_err_cure(
		err, "it has sources of: %s", found->others[0] ? found->others : "no version at all");
}
