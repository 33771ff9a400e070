#include "publish/folder/lists.h"

#include "base/fs.h"
#include "publish/catalog.h"

#include <errno.h>
#include <string.h>

bool
ws_index_lists_agree(
	const struct ws_index_target *t, const struct ws_index_manifest *manifest, struct ws_err *err)
{
	const char *path = ws_index_target_path(t, "index.json");
	struct ws_digest digest;
	if (!ws_digest_file(path, &digest, NULL, err)) {
		return false;
	}
	for (size_t i = 0; i < manifest->count; i++) {
		if (strcmp(manifest->files[i].path, "index.json") == 0
			&& ws_digest_is(&manifest->files[i].sha256, digest.hex)) {
			return true;
		}
	}
	return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not the one that the manifest lists", path);
}

static bool
is_sound(const struct ws_index_target *t, const char *snapshot)
{
	struct ws_index_target older = *t;
	struct ws_index_manifest manifest;
	struct ws_index_catalog catalog;
	bool is_signed;
	older.current = snapshot;
	return ws_index_manifest_read(&older, NULL, t->a, &manifest, &is_signed, NULL)
		&& ws_index_lists_agree(&older, &manifest, NULL)
		&& ws_index_catalog_read(ws_index_target_path(&older, "index.json"), t->a, &catalog, NULL);
}

bool
ws_index_lists_read(const struct ws_index_target *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, bool *is_signed, struct ws_err *err)
{
	if (ws_index_manifest_read(t, key, t->a, manifest, is_signed, err)) {
		return true;
	}
	/* A signature of another key is not damage. */
	bool whole = ws_index_manifest_read(t, NULL, t->a, manifest, is_signed, NULL);
	return whole ? false : ws_index_lists_cure(t, err);
}

bool
ws_index_lists_cure(const struct ws_index_target *t, struct ws_err *err)
{
	size_t count;
	bool advised =
		ws_err_has_cure(err) && !err->place[0];      /* one of a text's place is about the text */
	bool unread = err->os != 0 && err->os != ENOENT; /* nobody knows whether it is damaged */
	if (advised || unread || ws_err_is_stop(err)) {
		return false;
	}
	const char *const *all = ws_index_target_snapshots(t, t->a, &count);
	for (size_t i = count; i-- > 0;) {
		if (!ws_same(all[i], t->current) && is_sound(t, all[i])) {
			ws_err_cure(err, "roll back to '@%s', whose lists hold, and remove '%s'", all[i],
				ws_index_target_path(t, ""));
			return ws_err_cure(err, "then publish and yank again what came since");
		}
	}
	return ws_err_cure(err, "no other snapshot holds: publish the wheels of '%s' to a new folder",
		ws_path_join(t->a, t->path, "files", NULL));
}
