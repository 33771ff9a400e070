#include "publish/folder/audit.h"

#include "archive/zip.h"
#include "base/fs.h"
#include "base/source.h"
#include "publish/folder/lists.h"
#include "publish/folder/strays.h"
#include "publish/manifest.h"
#include "publish/variant_wheel.h"
#include "wheelfile/dist_info.h"

#include <string.h>

#define LARGEST_METADATA ((size_t)16 << 20)

struct auditing {
	struct ws_index_target target;
	struct ws_stop *stop;
	struct ws_arena *a;
};

static bool
check_file(struct auditing *au, const char *path, const char *sha256, uint64_t size_bytes,
	struct ws_err *err)
{
	struct ws_digest digest;
	uint64_t size;
	if (ws_stop_asked(au->stop)) {
		return ws_stop_err(au->stop, err);
	}
	if (!ws_digest_file(path, &digest, &size, err)) {
		return false;
	}
	return (ws_digest_is(&digest, sha256) && size == size_bytes)
		|| ws_err_set(err, WS_ERR_PUBLISH,
			"'%s' is not what was published: sha256 %.16s, not %.16s", path, digest.hex, sha256);
}

static bool
cure(struct ws_err *err, const char *text)
{
	return ws_err_is_stop(err) ? false : ws_err_cure(err, "%s", text);
}

static bool
check_pages(struct auditing *au, const struct ws_index_manifest *manifest, struct ws_err *err)
{
	bool has_catalog = false;
	for (size_t i = 0; i < manifest->count; i++) {
		const struct ws_index_page_file *file = &manifest->files[i];
		const char *path = ws_index_target_path(&au->target, file->path);
		bool is_catalog = strcmp(file->path, "index.json") == 0;
		has_catalog = has_catalog || is_catalog;
		if (!check_file(au, path, file->sha256.hex, file->size_bytes, err)) {
			return is_catalog ? ws_index_lists_cure(&au->target, err)
							  : cure(err, "remove it and publish again: it is made anew");
		}
	}
	return has_catalog
		|| ws_err_set(
			err, WS_ERR_PUBLISH, "the manifest of '%s' does not list index.json", au->target.path);
}

/* What installers read in place of the wheel is what the wheel has. */
static bool
check_metadata(
	const char *wheel, const char *beside, const struct ws_index_entry *entry, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	WS_AUTO_BUF struct ws_buf inside = {0};
	WS_AUTO_BUF struct ws_buf outside = {0};
	struct ws_zip zip;
	if (!ws_fs_read_at_most(beside, LARGEST_METADATA, &outside, err)
		|| !ws_file_source_open(wheel, &file, err)
		|| !ws_zip_open(&file.source, NULL, a, &zip, err)) {
		return false;
	}
	const char *folder = ws_dist_info_folder(&zip, a, err);
	const struct ws_zip_entry *member =
		folder ? ws_zip_find(&zip, ws_path_join(a, folder, "METADATA", NULL)) : NULL;
	if (!member || !ws_zip_load(&zip, member, LARGEST_METADATA, &inside, err)) {
		return folder ? ws_err_set(err, WS_ERR_PUBLISH, "'%s' has no METADATA", entry->file)
					  : false;
	}
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&outside), outside.len);
	bool same = ws_str_eq(ws_buf_str(&inside), ws_buf_str(&outside));
	return (same && ws_digest_is(&digest, entry->metadata_sha256))
		|| ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not METADATA of '%s'", beside, entry->file);
}

static bool
check_wheel(struct auditing *au, const struct ws_index_entry *entry, struct ws_err *err)
{
	const char *path = ws_path_join(au->a, au->target.path, "files", entry->file, NULL);
	const char *beside = ws_arena_printf(au->a, "%s.metadata", path);
	return check_file(au, path, entry->sha256, entry->size_bytes, err)
		&& check_metadata(path, beside, entry, err);
}

static bool
check_wheels(struct auditing *au, const struct ws_index_catalog *catalog, struct ws_err *err)
{
	for (size_t i = 0; i < catalog->entries.len; i++) {
		const struct ws_index_entry *entry = &catalog->entries.at[i];
		if (!check_wheel(au, entry, err)) {
			return cure(err, "remove it and publish its wheel again");
		}
		if (entry->variant) {
			const struct ws_index_entry variant = ws_variant_entry(entry, au->a);
			if (!check_wheel(au, &variant, err)) {
				return false;
			}
		}
	}
	return true;
}

static bool
check_signed(const struct auditing *au, const struct ws_index_manifest *manifest, bool is_signed,
	const struct ws_sign_key *key, int64_t now_us, struct ws_err *err)
{
	const char *now = ws_index_time_text(now_us, au->a);
	if (key && !is_signed) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not signed", au->target.path);
	}
	if (manifest->expires && strcmp(manifest->expires, now) < 0) {
		ws_err_set(err, WS_ERR_PUBLISH, "the signature of '%s' expired at %s", au->target.path,
			manifest->expires);
		return ws_err_cure(err, "publish again to renew the signature");
	}
	return ws_same(manifest->snapshot, au->target.current)
		|| ws_err_set(err, WS_ERR_PUBLISH, "the manifest of '@%s' is of '@%s'", au->target.current,
			manifest->snapshot);
}

static bool
refuse_stray(void *self, const char *path, struct ws_err *err)
{
	const struct auditing *au = self;
	ws_err_set(err, WS_ERR_PUBLISH,
		"'%s' was not put there by publishing, and may be installed from",
		ws_path_join(au->a, au->target.path, path, NULL));
	return ws_err_cure(err, "publish again: it is moved to '%s/.stray'", au->target.path);
}

static bool
audit_all(struct auditing *au, const struct ws_sign_key *key, int64_t now_us,
	struct ws_index_audit *audit, struct ws_err *err)
{
	struct ws_index_manifest manifest;
	struct ws_index_catalog catalog;
	if (!ws_index_lists_read(&au->target, key, &manifest, &audit->is_signed, err)
		|| !check_signed(au, &manifest, audit->is_signed, key, now_us, err)
		|| !check_pages(au, &manifest, err)
		|| !ws_index_catalog_read(
			ws_index_target_path(&au->target, "index.json"), au->a, &catalog, err)
		|| !ws_index_strays(&au->target, &catalog, refuse_stray, au, err)
		|| !check_wheels(au, &catalog, err)) {
		return false;
	}
	audit->snapshot = au->target.current;
	audit->pages = manifest.count;
	audit->wheels = catalog.entries.len;
	audit->expires = manifest.expires;
	return true;
}

bool
ws_index_audit(const char *target, const struct ws_sign_key *key, int64_t now_us,
	struct ws_stop *stop, struct ws_arena *a, struct ws_index_audit *audit, struct ws_err *err)
{
	struct auditing au = {.stop = stop, .a = a};
	*audit = (struct ws_index_audit){0};
	if (!ws_index_target_look(target, a, &au.target, err)) {
		return false;
	}
	bool fine = audit_all(&au, key, now_us, audit, err);
	if (!fine && err && !ws_err_is_stop(err)) {
		err->kind = WS_ERR_PUBLISH;
	}
	return fine;
}
