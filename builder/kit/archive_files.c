/* archive_files.c - which files are not there yet, where they are, and one batch of downloads. */
#include "kit/archive_kit.h"
#include "kit/cuda/redist.h"
#include "net/download.h"
#include "net/index.h"
#include "net/index_config.h"
#include "store/cas.h"

#include <string.h>

const struct ws_index_file *
ws_archive_find_wheel(const struct ws_fetch *fetch, const struct ws_kit_archive *archive,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_index_list list = ws_index_config_list(fetch->indexes, NULL, a);
	return ws_index_find(
		fetch->index, &list, archive->package, archive->file, archive->sha256, err);
}

/* A batch being gathered. */
struct batch {
	const struct ws_fetch *fetch;
	struct ws_download *files;
	struct ws_cas_incoming *incoming;       /* of each file */
	const struct ws_kit_archive **archives; /* likewise */
	size_t count;
	struct ws_arena *a;
};

static bool
fail_no_mirror(const struct ws_kit_archive *archive, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_FETCH,
		"'%s' is a Debian package, and this host has no Debian mirror configured", archive->file);
	return ws_err_cure_code(err, WS_CURE_DEBIAN_MIRROR, NULL);
}

/* NULL on failure. */
static const char *
url_of(const struct batch *b, const struct ws_kit_archive *archive, struct ws_err *err)
{
	const struct ws_index_file *file;
	const char *mirror = b->fetch->debian_mirror;
	size_t len = mirror ? strlen(mirror) : 0;
	switch (archive->origin) {
	case WS_ORIGIN_INDEX:
		file = ws_archive_find_wheel(b->fetch, archive, b->a, err);
		return file ? file->url : NULL;
	case WS_ORIGIN_DEBIAN:
		if (!mirror) {
			fail_no_mirror(archive, err);
			return NULL;
		}
		len -= len > 0 && mirror[len - 1] == '/';
		return ws_arena_printf(b->a, "%.*s/%s", (int)len, mirror, archive->pool);
	case WS_ORIGIN_URL:
		break;
	}
	return ws_redist_mirrored(b->fetch, archive->pool, b->a);
}

static bool
add(struct batch *b, const struct ws_kit_archive *archive, struct ws_err *err)
{
	const struct ws_store *store = b->fetch->store;
	struct ws_digest digest;
	if (!archive->sha256 || !ws_digest_parse(archive->sha256, &digest)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' of a kit has no sha256", archive->file);
	}
	if (ws_cas_has(store, digest.hex)) {
		return true;
	}
	const char *url = url_of(b, archive, err);
	struct ws_cas_incoming *incoming = &b->incoming[b->count];
	if (!url || !ws_cas_begin(store, digest.hex, b->a, incoming, err)) {
		return false;
	}
	b->archives[b->count] = archive;
	b->files[b->count++] = (struct ws_download){
		.url = url,
		.path = incoming->path,
		.partial = incoming->partial,
		.sha256 = incoming->digest,
		.size_bytes = archive->size,
	};
	return true;
}

/* Whether a Debian package is what a mirror does not have: old ones leave it. */
static bool
lacks_debian(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		unsigned status = b->files[i].status;
		if (b->archives[i]->origin == WS_ORIGIN_DEBIAN && (status == 404 || status == 410)) {
			return true;
		}
	}
	return false;
}

/* Debian's packages first, so that none is fetched in vain when there is no mirror. */
static bool
gather(struct batch *b, const struct ws_kit_def *def, struct ws_err *err)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < def->archive_count; i++) {
			const struct ws_kit_archive *archive = &def->archives[i];
			bool now = (archive->origin == WS_ORIGIN_DEBIAN) == (round == 0);
			if (now && !archive->by_range && !add(b, archive, err)) {
				return false;
			}
		}
	}
	return true;
}

static bool
wants_debian(const struct ws_fetch *fetch, const struct ws_kit_def *def)
{
	for (size_t i = 0; i < def->archive_count; i++) {
		const struct ws_kit_archive *archive = &def->archives[i];
		if (archive->origin == WS_ORIGIN_DEBIAN && !ws_cas_has(fetch->store, archive->sha256)) {
			return true;
		}
	}
	return false;
}

enum ws_archive_files_result
ws_archive_files_get(const struct ws_fetch *fetch, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_err *err)
{
	struct batch b = {.fetch = fetch, .a = a};
	b.files = WS_NEW_N(a, struct ws_download, def->archive_count);
	b.incoming = WS_NEW_N(a, struct ws_cas_incoming, def->archive_count);
	b.archives = WS_NEW_N(a, const struct ws_kit_archive *, def->archive_count);
	if (!gather(&b, def, err)) {
		return !fetch->debian_mirror && wants_debian(fetch, def) ? WS_ARCHIVE_FILES_NO_DEBIAN
																 : WS_ARCHIVE_FILES_FAILED;
	}
	if (b.count > 0 && !ws_download_all(fetch->http, b.files, b.count, err)) {
		return lacks_debian(&b) ? WS_ARCHIVE_FILES_NO_DEBIAN : WS_ARCHIVE_FILES_FAILED;
	}
	for (size_t i = 0; i < b.count; i++) {
		if (!ws_cas_commit(fetch->store, &b.incoming[i], err)) {
			return WS_ARCHIVE_FILES_FAILED;
		}
	}
	return WS_ARCHIVE_FILES_THERE;
}
