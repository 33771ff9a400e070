/* source.c - tries the sources of a recipe in order, fills a tree from the first that works, and
 * remembers it. */
#include "fetch/source.h"

#include "base/fs.h"
#include "fetch/shared_downloads.h"
#include "fetch/source_tree.h"
#include "net/download.h"
#include "net/index_config.h"
#include "net/url.h"
#include "store/cas.h"

#include <fcntl.h>

#define PATCH_MOST ((size_t)16 << 20)

/* One attempt with one source. */
struct attempt {
	const struct ws_fetch *fetch;
	const struct ws_source_wish *wish;
	const struct ws_source_spec *spec;
	struct ws_arena *a;
	struct ws_source_found *found;
	bool is_again; /* a damaged cache of this spec was removed */
};

/* For messages. */
static const char *
spec_name(const struct ws_source_spec *spec, struct ws_arena *a)
{
	switch (spec->kind) {
	case WS_SOURCE_SDIST:
		return spec->file;
	case WS_SOURCE_GIT:
		return ws_url_shown(spec->url, a);
	case WS_SOURCE_FOLDER:
		break;
	}
	return spec->path;
}

static const char *
tree_name(const struct ws_source_wish *wish, struct ws_arena *a)
{
	return ws_arena_printf(a, "src-%s-%s", wish->name, wish->version);
}

/* A digest over all inputs of the tree before patches. */
static struct ws_digest
define(const struct ws_source_wish *wish, const struct ws_source_spec *spec)
{
	if (spec->kind == WS_SOURCE_FOLDER) {
		return (struct ws_digest){""};
	}
	bool git = spec->kind == WS_SOURCE_GIT;
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.source/1");
	ws_hasher_add_field(h, wish->name);
	ws_hasher_add_field(h, wish->version);
	ws_hasher_add_field(h, ws_source_kind_words[spec->kind]);
	ws_hasher_add_field(h, git ? spec->url : spec->sha256);
	ws_hasher_add_field(h, git ? spec->commit : spec->strip ? spec->strip : "the single one");
	ws_hasher_add_field(h, git && spec->tree ? spec->tree : "");
	for (size_t i = 0; git && i < spec->submodule_count; i++) {
		ws_hasher_add_field(h, spec->submodules[i]);
	}
	return ws_hasher_finish(h);
}

/* Depends on the unpatched tree, not on its source. */
static struct ws_digest
patched_key(const struct ws_source_wish *wish, const struct ws_tree *plain)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.patched-source/1");
	ws_hasher_add_field(h, plain->name);
	ws_hasher_add_field(h, plain->digest.hex);
	for (size_t i = 0; i < wish->patch_count; i++) {
		ws_hasher_add_field(h, wish->patches[i]->sha256);
	}
	return ws_hasher_finish(h);
}

/* Finds the tree before patches by its definition in the store, else by the lock. */
static bool
recall_plain(const struct ws_store *store, const struct ws_source_wish *wish,
	const struct ws_digest *definition, struct ws_arena *a, struct ws_tree *tree)
{
	const struct ws_pin_source *pin = wish->pin;
	bool pinned = pin && definition->hex[0] && ws_same(pin->definition, definition->hex);
	return (definition->hex[0] && ws_tree_recall(store, definition->hex, a, tree))
		|| (pinned && ws_tree_find(store, tree_name(wish, a), pin->tree, a, tree));
}

static bool
fill_from_archive(struct attempt *t, struct ws_unpack_sink *into, struct ws_err *err)
{
	const char *name = spec_name(t->spec, t->a);
	const struct ws_store *store = t->fetch->store;
	const struct ws_source_spec *spec = t->spec;
	enum ws_unpack_format format;
	if (!ws_unpack_format_of(name, &format) || format == WS_UNPACK_DEB) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is not a source archive (.tar.gz, .tar.xz, .zip)", name);
	}
	if (!ws_cas_has(store, spec->sha256)) {
		struct ws_cas_incoming incoming;
		if (!ws_cas_begin(store, spec->sha256, t->a, &incoming, err)) {
			return false;
		}
		struct ws_index_list list = ws_index_config_list(t->fetch->indexes, NULL, t->a);
		const struct ws_index_file *file =
			ws_index_find(t->fetch->index, &list, spec->package, spec->file, spec->sha256, err);
		if (!file) {
			return false;
		}
		struct ws_download download = {
			.url = file->url,
			.size_bytes = file->size_bytes,
			.path = incoming.path,
			.partial = incoming.partial,
			.sha256 = spec->sha256,
		};
		if (!ws_download_all(t->fetch->http, &download, 1, err)
			|| !ws_cas_commit(store, &incoming, err)) {
			return false;
		}
	}
	const char *path = ws_cas_open(store, spec->sha256, t->a, err);
	return path && ws_unpack(path, name, format, NULL, into, err);
}

static bool
recall(struct attempt *t, const struct ws_digest *key)
{
	if (!recall_plain(t->fetch->store, t->wish, key, t->a, &t->found->tree)
		&& !(key->hex[0] && ws_shared_tree_get(t->fetch, key->hex, t->a, &t->found->tree))) {
		return false;
	}
	t->found->remembered = true;
	char tree[WS_GIT_ID];
	if (t->spec->kind == WS_SOURCE_GIT) {
		bool known = t->fetch->git
			&& ws_checkout_recall(
				t->fetch->git, t->fetch->store, t->spec->url, t->spec->commit, tree);
		const char *noted = t->found->tree.note ? t->found->tree.note : t->spec->tree;
		t->found->tree_id = known ? ws_arena_strdup(t->a, tree) : noted;
	}
	t->found->tree_id = t->found->tree_id ? t->found->tree_id : "";
	return true;
}

static bool
try_spec(struct attempt *t, struct ws_err *err)
{
	struct ws_digest key = define(t->wish, t->spec);
	*t->found = (struct ws_source_found){
		.spec = t->spec, .tree_id = "", .definition = ws_arena_strdup(t->a, key.hex)};
	if (recall(t, &key)) {
		return true;
	}
	struct ws_source_tree_plan plan = {
		.tree = tree_name(t->wish, t->a),
		.from = spec_name(t->spec, t->a),
		.strip = t->spec->kind == WS_SOURCE_SDIST ? t->spec->strip : "",
		.stop = t->fetch->stop,
	};
	struct ws_unpack_sink *into = ws_source_tree_begin(t->fetch->store, &plan, t->a, err);
	if (!into) {
		return false;
	}
	bool was_again = t->is_again;
	struct ws_checkout checkout = {.spec = *t->spec};
	bool is_git = t->spec->kind == WS_SOURCE_GIT;
	if (is_git && !t->fetch->git) {
		ws_source_tree_abandon(into);
		return ws_err_set(err, WS_ERR_FETCH, "git is not available");
	}
	bool filled = is_git ? ws_checkout(t->fetch->git, t->fetch->store, &checkout, into, err)
		: t->spec->kind == WS_SOURCE_FOLDER ? ws_folder_copy(t->spec->path, false, into, err)
											: fill_from_archive(t, into, err);
	if (!filled) {
		t->is_again = t->is_again || checkout.is_damaged;
		ws_source_tree_abandon(into);
		return t->is_again && !was_again && try_spec(t, err);
	}
	if (is_git) {
		t->found->tree_id = ws_arena_strdup(t->a, checkout.found_tree);
	}
	if (!ws_source_tree_commit(into, t->a, &t->found->tree, err)) {
		return false;
	}
	t->found->tree.note = t->found->tree_id[0] ? t->found->tree_id : NULL;
	return !key.hex[0] || ws_shared_tree_remember(t->fetch, key.hex, &t->found->tree, err);
}

/* ---- patches ---- */

static bool
read_patch(const struct ws_patch *patch, struct ws_buf *text, struct ws_err *err)
{
	if (patch->text) { /* a patch that makes the file, whose text ends with a line break */
		size_t lines = 0;
		for (const char *at = patch->text; *at; at++) {
			lines += *at == '\n' || !at[1];
		}
		ws_buf_printf(text, "--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%zu @@\n", patch->name, lines);
		for (const char *line = patch->text; *line;) {
			size_t len = strcspn(line, "\n");
			ws_buf_printf(text, "+%.*s\n", (int)len, line);
			line += len + (line[len] == '\n');
		}
		return true;
	}
	if (!ws_fs_read_at_most(patch->file, PATCH_MOST, text, err)) {
		return false;
	}
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(text), text->len);
	if (!ws_digest_is(&digest, patch->sha256)) {
		ws_err_set(
			err, WS_ERR_CONFIG, "the patch '%s' is not the one that the recipe names", patch->file);
		return ws_err_cure(
			err, "if it was changed on purpose, write its sha256 there: %s", digest.hex);
	}
	return true;
}

bool
ws_source_patch(const struct ws_fetch *fetch, const struct ws_source_wish *wish, struct ws_arena *a,
	struct ws_source_found *found, struct ws_err *err)
{
	struct ws_source_tree_plan plan = {
		.tree = found->tree.name,
		.from = spec_name(found->spec, a),
		.strip = "",
		.stop = fetch->stop,
	};
	struct ws_digest key = patched_key(wish, &found->tree);
	struct ws_tree patched;
	if (wish->patch_count == 0) {
		return true;
	}
	struct ws_patch_file *files = WS_NEW_N(a, struct ws_patch_file, wish->patch_count);
	bool read = true;
	plan.patches = files;
	plan.patch_count = wish->patch_count;
	for (size_t i = 0; i < wish->patch_count && read; i++) {
		const struct ws_patch *patch = wish->patches[i];
		WS_AUTO_BUF struct ws_buf text = {0};
		read = read_patch(patch, &text, err)
			&& ws_patch_parse(patch->file ? ws_path_base(patch->file) : patch->name,
				ws_buf_copy(&text, a), text.len, a, &files[i], err);
	}
	if (read && ws_tree_recall(fetch->store, key.hex, a, &patched)) {
		found->tree = patched;
		return true;
	}
	found->remembered = false;
	struct ws_unpack_sink *into = read ? ws_source_tree_begin(fetch->store, &plan, a, err) : NULL;
	if (!into || !ws_folder_copy(found->tree.path, true, into, err)) {
		ws_source_tree_abandon(into);
		return ws_err_wrap(err, "'%s' %s", wish->name, wish->version);
	}
	return (ws_source_tree_commit(into, a, &found->tree, err)
			   && ws_tree_remember(fetch->store, key.hex, &found->tree, err))
		|| ws_err_wrap(err, "'%s' %s", wish->name, wish->version);
}

/* ---- all of it ---- */

bool
ws_source_bring(const struct ws_fetch *fetch, const struct ws_source_wish *wish, struct ws_arena *a,
	struct ws_source_found *found, struct ws_err *err)
{
	struct attempt t = {.fetch = fetch, .wish = wish, .a = a, .found = found};
	struct ws_err all = {0};
	for (size_t i = 0; i < wish->spec_count; i++) {
		struct ws_err one = {0};
		const struct ws_source_spec *spec = t.spec = &wish->specs[i];
		struct ws_digest digest;
		t.is_again = false;
		/* Pins are checked once, here, so nothing below handles a source without one. */
		bool pinned = spec->kind != WS_SOURCE_SDIST
			|| (spec->sha256 && ws_digest_parse(spec->sha256, &digest)
				&& ws_digest_is(&digest, spec->sha256))
			|| ws_err_set(&one, WS_ERR_CONFIG,
				"a source archive needs its sha256: 64 hexadecimal digits in lower case");
		if (pinned && try_spec(&t, &one)) {
			return ws_source_patch(fetch, wish, a, found, err);
		}
		if (one.kind != WS_ERR_FETCH) {
			if (err) {
				*err = one;
			}
			return ws_err_wrap(err, "'%s' %s", wish->name, wish->version);
		}
		const char *name = spec_name(t.spec, a);
		if (i + 1 < wish->spec_count) {
			ws_events_warn(fetch->events, "'%s' %s: %s; trying the next source", wish->name,
				wish->version, one.text);
		}
		/* The first failure's words stay; those of the others are added below. */
		if (all.kind == WS_ERR_NONE) {
			all = one;
		} else {
			ws_err_cure(&all, "then '%s': %s", name, one.text);
		}
	}
	if (wish->spec_count == 0) {
		ws_err_set(&all, WS_ERR_CONFIG, "the recipe names none");
	}
	if (err) {
		*err = all;
	}
	return ws_err_wrap(err, "no source of '%s' %s", wish->name, wish->version);
}

bool
ws_source_recall(const struct ws_store *store, const struct ws_source_wish *wish,
	struct ws_arena *a, struct ws_tree *tree)
{
	for (size_t i = 0; i < wish->spec_count; i++) {
		struct ws_digest definition = define(wish, &wish->specs[i]);
		if (recall_plain(store, wish, &definition, a, tree)) {
			struct ws_digest key = patched_key(wish, tree);
			return wish->patch_count == 0 || ws_tree_recall(store, key.hex, a, tree);
		}
	}
	return false;
}
