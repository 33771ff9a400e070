#include "base/fs.h"
#include "publish/catalog.h"
#include "publish/folder/index_folder.h"

#include <errno.h>
#include <time.h>

/* ---- manifest.json ---- */

const char *
ws_index_time_text(int64_t us, struct ws_arena *a)
{
	time_t time = (time_t)(us / 1000000);
	struct tm at;
	char text[40];
	gmtime_r(&time, &at);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &at);
	return ws_arena_printf(a, "%s.%06dZ", text, (int)(us % 1000000));
}

static const struct ws_type type_key = {.name = "a sha256",
	.size = sizeof(const char *),
	.kind = WS_KIND_TEXT,
	.schema = "{\"type\": [\"string\", \"null\"], \"pattern\": \"^[0-9a-f]{64}$\"}"};

static const struct ws_field file_fields[] = {
	WS_VALUE("path", struct ws_index_page_file, path, WS_ALWAYS, NULL),
	WS_VALUE("sha256", struct ws_index_page_file, sha256, WS_ALWAYS, NULL),
	WS_VALUE("size", struct ws_index_page_file, size_bytes, WS_ALWAYS, NULL),
};
static const struct ws_table file_table = {NULL, file_fields, WS_LEN(file_fields)};

#define MANIFEST struct ws_index_manifest
static const struct ws_field manifest_fields[] = {
	WS_FIXED("schema", "wheelsmith.manifest/1"),
	WS_VALUE_AS("snapshot", MANIFEST, snapshot, ws_index_snapshot_type, WS_ALWAYS, NULL),
	WS_VALUE("created", MANIFEST, created, WS_ALWAYS, NULL),
	WS_VALUE("expires", MANIFEST, expires, WS_OR_NULL, "end of the signature; null: not signed"),
	WS_VALUE_AS("key", MANIFEST, key, type_key, WS_OR_NULL,
		"SHA-256 of the 32 bytes of the signer's public key; null: not signed"),
	WS_LIST_OF("files", MANIFEST, files, count, file_table, WS_ALWAYS,
		"every page, sorted by path; index.json is one and has the digests of the wheels"),
};
const struct ws_table ws_index_manifest_table = {NULL, manifest_fields, WS_LEN(manifest_fields)};

/* ---- reading ---- */

bool
ws_index_manifest_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf signature = {0};
	const char *path = ws_index_folder_path(t, WS_INDEX_MANIFEST);
	const char *beside = ws_index_folder_path(t, WS_INDEX_SIGNATURE);
	*manifest = (struct ws_index_manifest){.is_signed = ws_fs_exists(beside)};
	if (!ws_fs_read(path, &text, err)
		|| (manifest->is_signed && !ws_fs_read_at_most(beside, WS_SIGNATURE_BYTES, &signature, err))
		|| !ws_table_parse(
			path, ws_buf_str(&text), &ws_index_manifest_table, t->a, manifest, err)) {
		return ws_index_err(err);
	}
	for (size_t i = 0; i < manifest->count; i++) {
		const char *page = manifest->files[i].path;
		if (!ws_path_is_inside(page)) {
			return ws_err_set(
				err, WS_ERR_PUBLISH, "'%s' is damaged: '%s' is not in the snapshot", path, page);
		}
	}
	if (!manifest->is_signed || !key
		|| ws_sign_holds(
			key, ws_buf_text(&text), text.len, ws_buf_text(&signature), signature.len)) {
		return true;
	}
	struct ws_digest id = ws_sign_key_id(key);
	return manifest->key && !ws_digest_is(&id, manifest->key)
		? ws_err_set(err, WS_ERR_PUBLISH, "'%s' is signed by another key: %.16s, not %.16s",
			t->path, manifest->key, id.hex)
		: ws_err_set(err, WS_ERR_PUBLISH,
			"the signature of '%s' does not hold: its manifest was changed", t->path);
}

/* ---- agreement and damage ---- */

bool
ws_index_lists_agree(
	const struct ws_index_folder *t, const struct ws_index_manifest *manifest, struct ws_err *err)
{
	const char *path = ws_index_folder_path(t, "index.json");
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

bool
ws_index_lists_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, struct ws_err *err)
{
	/* Another key's signature is an error, but the index is whole. */
	return ws_index_manifest_read(t, key, manifest, err)
		|| (!ws_index_manifest_read(t, NULL, manifest, NULL) && ws_index_lists_cure(t, err));
}

bool
ws_index_lists_cure(const struct ws_index_folder *t, struct ws_err *err)
{
	size_t count;
	bool advised = ws_err_has_cure(err) && !err->place[0]; /* the place is that of a syntax error */
	bool unread = err->os != 0 && err->os != ENOENT;       /* unknown whether it is damaged */
	if (advised || unread || ws_err_is_stop(err)) {
		return false;
	}
	const char *const *all = ws_index_folder_snapshots(t, &count);
	for (size_t i = count; i-- > 0;) {
		struct ws_index_folder older = *t;
		struct ws_index_manifest manifest;
		struct ws_index_catalog catalog;
		older.current = all[i];
		if (!ws_same(all[i], t->current) && ws_index_manifest_read(&older, NULL, &manifest, NULL)
			&& ws_index_lists_agree(&older, &manifest, NULL)
			&& ws_index_catalog_read(
				ws_index_folder_path(&older, "index.json"), t->a, &catalog, NULL)) {
			ws_err_cure(err, "roll back to '@%s', whose lists hold, and remove '%s'", all[i],
				ws_index_folder_path(t, ""));
			return ws_err_cure(err, "then publish and yank again what came since");
		}
	}
	return ws_err_cure(err, "no other snapshot holds: publish the wheels of '%s' to a new folder",
		ws_path_join(t->a, t->path, "files", NULL));
}
