/* tree.c - finding trees again and looking into them. A tree whose listing does not have the digest
 * it is asked for by is not there; its files are not hashed again. Making one is tree_build.c's. */
#include "store/tree.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "store/results.h"

#include <string.h>

/* One line of a listing; false when it is none. Cuts @a line apart in place. */
static bool
parse_line(char *line, struct ws_tree_entry *entry)
{
	const char *kinds = "fxl";
	const char *kind = line[0] ? strchr(kinds, line[0]) : NULL;
	char *value = line + 2;
	char *end = kind && line[1] == ' ' ? strchr(value, *kind == 'l' ? '\t' : ' ') : NULL;
	if (!end) {
		return false;
	}
	*end = '\0';
	*entry = (struct ws_tree_entry){end + 1, (enum ws_tree_kind)(kind - kinds), value};
	return true;
}

bool
ws_tree_find(const struct ws_store *store, const char *name, const char *digest, struct ws_arena *a,
	struct ws_tree *tree)
{
	const char *path = ws_arena_printf(a, "%s/trees/%s-%.16s", store->path, name, digest);
	WS_AUTO_BUF struct ws_buf listing = {0};
	if (!ws_fs_is_dir(path) || !ws_fs_read(ws_arena_printf(a, "%s.list", path), &listing, NULL)) {
		return false;
	}
	struct ws_digest sum = ws_digest_bytes(ws_buf_text(&listing), listing.len);
	if (!ws_digest_is(&sum, digest)) {
		return false;
	}
	WS_VEC(struct ws_tree_entry) entries = {0};
	for (char *line = ws_buf_copy(&listing, a); *line;) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		*end = '\0';
		if (!parse_line(line, ws_vec_push(&entries, a))) {
			return false;
		}
		line = next;
	}
	*tree = (struct ws_tree){ws_arena_strdup(a, name), path, sum, entries.at, entries.len};
	return true;
}

const struct ws_tree_entry *
ws_tree_lookup(const struct ws_tree *tree, const char *path)
{
	struct ws_listing listing = ws_tree_listing(tree);
	return ws_listing_find(&listing, path);
}

bool
ws_tree_remember(
	const struct ws_store *store, const char *key, const struct ws_tree *tree, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_printf(&b, "wheelsmith.tree/1\n%s %s\n", tree->digest.hex, tree->name);
	return ws_results_put(store, key, &b, err);
}

bool
ws_tree_recall(
	const struct ws_store *store, const char *key, struct ws_arena *a, struct ws_tree *tree)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	if (!ws_results_get(store, key, &b)) {
		return false;
	}
	struct ws_str rest = ws_buf_str(&b);
	if (!ws_str_is(ws_str_cut(&rest, '\n'), "wheelsmith.tree/1")) {
		return false;
	}
	struct ws_str digest = ws_str_cut(&rest, ' ');
	struct ws_str name = ws_str_cut(&rest, '\n');
	return digest.n == 64 && name.n > 0
		&& ws_tree_find(store, ws_str_copy(name, a), ws_str_copy(digest, a), a, tree);
}
