/**
 * kept.h - the bytes of a span that came so far, kept for a run that was broken off
 *
 * A file for each span of a remote file, in a folder of its reader's, who removes the folder when
 * what is made of the spans is made. Keeping is no duty: where it fails, nothing is kept, and nobody
 * is told. Decides nothing; which bytes are asked for is remote.c's.
 */
#ifndef WS_NET_KEPT_H
#define WS_NET_KEPT_H

#include "base/source.h"
#include "net/partial.h"

struct ws_kept {
	struct ws_partial partial; /**< not open: nothing is kept */
	uint64_t left;             /**< bytes of before that were not given yet */
};

/** What is not open; needs no close. */
#define WS_KEPT_NOTHING ((struct ws_kept){.partial = {.fd = -1}})

/**
 * Opens what is kept of the span at @a offset of @a url; bytes of another @a version (an ETag or a
 * date) are thrown away, and of more than @a len bytes the rest is not looked at. Another process
 * may have the span: then nothing is kept here.
 */
void ws_kept_open(struct ws_kept *k, const char *folder, const char *url, const char *version,
	uint64_t offset, uint64_t len, struct ws_arena *a);

/** Gives the bytes of before, once. */
bool ws_kept_give(struct ws_kept *k, const struct ws_span *span, struct ws_err *err);

/** The next bytes came. */
void ws_kept_add(struct ws_kept *k, const void *bytes, size_t len);

/** Closed; what is there stays when @a useful. */
void ws_kept_close(struct ws_kept *k, bool useful);

#endif
