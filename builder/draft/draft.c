/* draft.c - the child that writes drafts: its order, its answer, and the proof that the draft can
 * be read. The child limits its own memory and CPU time; sys/child.h limits how long it runs and
 * how much it says. */
#include "draft/draft.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "config/recipe.h"
#include "model/wheel_name.h"
#include "net/index_config.h"
#include "sys/child.h"

#include <stdlib.h>
#include <string.h>

static void
write_source(struct ws_json_writer *w, const struct ws_source_spec *spec)
{
	ws_json_open_object(w, "source");
	const struct {
		const char *key, *text;
	} members[] = {{"sdist", spec->file}, {"folder", spec->path}, {"git", spec->url},
		{"commit", spec->commit}, {"sha256", spec->sha256}};
	for (size_t i = 0; i < WS_LEN(members); i++) {
		if (members[i].text) {
			ws_json_add_text(w, members[i].key, members[i].text);
		}
	}
	if (spec->submodule_count > 0) {
		ws_json_open_list(w, "submodules");
		for (size_t i = 0; i < spec->submodule_count; i++) {
			ws_json_add_text(w, NULL, spec->submodules[i]);
		}
		ws_json_close(w);
	}
	ws_json_close(w);
}

/* refused: why the metadata of the last draft cannot stand in a recipe; NULL for the first. */
static void
write_order(const struct ws_draft_order *order, const char *refused, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "folder", order->folder);
	ws_json_add_text(w, "from", order->from);
	ws_json_add_text(w, "name", order->name);
	ws_json_add_text(w, "distribution", order->distribution);
	ws_json_add_text(w, "version", order->version);
	ws_json_add_text(w, "source_note", order->source_note);
	ws_json_add_text(w, "refused", refused);
	write_source(w, order->source);
	if (order->base) {
		ws_json_open_object(w, "base");
		ws_json_add_text(w, "folder", order->base->folder);
		ws_json_add_copy(w, "recipe", order->base->recipe);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

static bool
read_answer(
	const struct ws_buf *answer, struct ws_arena *a, struct ws_draft *draft, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_parse(
			"the draft's answer", ws_buf_text(answer), answer->len, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const struct ws_json *missing = ws_json_find(doc.root, "missing");
	uint64_t count = 0;
	*draft = (struct ws_draft){.text = ws_json_text(doc.root, "draft"),
		.repository = ws_json_text(doc.root, "repository")};
	if (!draft->text || !missing || !ws_str_to_u64(ws_str_of(missing->text), &count)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "the child that writes drafts gave no draft");
	}
	draft->missing_sources = count;
	const struct ws_json *lost = ws_json_find(doc.root, "incomplete");
	for (const struct ws_json *item = lost ? lost->first : NULL; item; item = item->next) {
		*ws_vec_push(&draft->incomplete, a) = item->text;
	}
	const struct ws_json *changes = ws_json_find(doc.root, "changes");
	for (const struct ws_json *item = changes ? changes->first : NULL; item; item = item->next) {
		*ws_vec_push(&draft->changes, a) = item->text;
	}
	return true;
}

static bool
run_child(const struct ws_draft_order *order, const char *refused, struct ws_arena *a,
	struct ws_draft *draft, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf words = {0};
	WS_AUTO_BUF struct ws_buf answer = {0};
	write_order(order, refused, &words);
	const char *const argv[] = {
		"/usr/bin/env", "python3", "-I", "-S", "-B", order->reader, ws_buf_text(&words), NULL};
	const char *const env[] = {
		ws_arena_printf(a, "PATH=%s", order->path_variable), "LC_ALL=C.UTF-8", NULL};
	const struct ws_child_order command = {.argv = argv, .env = env, .limits.timeout_ms = 60000};
	if (!ws_child_ask(&command, &answer, err)) {
		/* env(1) exits with 127 where there is none. */
		return strstr(err->text, "127") ? ws_err_set(
				   err, WS_ERR_CONFIG, "there is no python3 on PATH, which drafts are written by")
										: false;
	}
	return read_answer(&answer, a, draft, err);
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
	if (!run_child(order, NULL, a, draft, err)) {
		return false;
	}
	if (can_be_read(draft->text, a, err)) {
		return true;
	}
	/* Metadata may hold what a recipe cannot; the rest of the draft is kept. */
	const char *refused = ws_arena_strdup(a, err->text);
	return run_child(order, refused, a, draft, err)
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

/* Sorts them; nightly builds count only where there is nothing else. */
static void
list_versions(
	struct ws_version *versions, size_t count, struct ws_arena *a, struct ws_sdist_found *found)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *last = "";
	bool finals = false;
	if (count > 1) {
		qsort(versions, count, sizeof(*versions), cmp_newest_first);
	}
	for (size_t i = 0; i < count; i++) {
		finals = finals || !ws_version_is_prerelease(&versions[i]);
	}
	for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
		bool counts = !finals || !ws_version_is_prerelease(&versions[i]);
		found->newest = counts && !found->newest ? &versions[i] : found->newest;
		if (counts && strcmp(versions[i].text, last) != 0) {
			ws_buf_printf(&b, "%s%s", shown++ > 0 ? ", " : "", versions[i].text);
			last = versions[i].text;
		}
	}
	found->others = ws_buf_copy(&b, a);
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
	list_versions(versions.at, versions.len, a, found);
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
