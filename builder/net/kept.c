/* kept.c - a partial file for each span, told apart by URL and offset; its note is the version. */
#include "net/kept.h"

#include "base/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void
ws_kept_open(struct ws_kept *k, const char *folder, const char *url, const char *version,
	uint64_t offset, uint64_t len, struct ws_arena *a)
{
	*k = WS_KEPT_NOTHING;
	struct ws_digest digest = ws_digest_bytes(url, strlen(url));
	const char *path = ws_arena_printf(a, "%s/%.16s-%" PRIu64 ".part", folder, digest.hex, offset);
	if (!ws_fs_mkdirs(folder, NULL)
		|| ws_partial_open(&k->partial, path, a, NULL) != WS_PARTIAL_OPEN) {
		return;
	}
	bool same = k->partial.len > 0 && strcmp(k->partial.validator, version) == 0;
	if (!same && !ws_partial_restart(&k->partial, version, NULL)) {
		ws_partial_drop(&k->partial);
		return;
	}
	k->left = k->partial.len < len ? k->partial.len : len;
}

bool
ws_kept_give(struct ws_kept *k, const struct ws_span *span, struct ws_err *err)
{
	char chunk[65536];
	uint64_t at = 0;
	while (k->left > 0) {
		size_t step = k->left < sizeof(chunk) ? (size_t)k->left : sizeof(chunk);
		ssize_t got = pread(k->partial.fd, chunk, step, (off_t)at);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", k->partial.path);
		}
		at += (uint64_t)got;
		k->left -= (uint64_t)got;
		if (!span->take(span->self, chunk, (size_t)got, err)) {
			return false;
		}
	}
	return true;
}

void
ws_kept_add(struct ws_kept *k, const void *bytes, size_t len)
{
	if (k->partial.fd >= 0 && !ws_partial_add(&k->partial, bytes, len, NULL)) {
		ws_partial_drop(&k->partial); /* the disk is full: what is made needs the room */
	}
}

void
ws_kept_close(struct ws_kept *k, bool useful)
{
	if (useful) {
		ws_partial_close(&k->partial);
	} else {
		ws_partial_drop(&k->partial);
	}
}
