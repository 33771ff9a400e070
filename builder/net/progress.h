/**
 * progress.h - one transfer as events: started, so far, done
 *
 * Says "so far" at most ten times a second. Knows nothing of what is transferred.
 */
#ifndef WS_NET_PROGRESS_H
#define WS_NET_PROGRESS_H

#include "base/event.h"

struct ws_progress {
	const struct ws_events *events; /**< NULL: none are sent */
	const char *subject;            /**< the file */
	const char *from;               /**< the host; NULL: not known */
	uint64_t total_bytes;           /**< 0: not known */
	int64_t began_ms, reported_ms;
	bool is_begun;
};

/** Tells the start, the first time it is called. */
void ws_progress_begin(struct ws_progress *p, uint64_t total_bytes);

/** @a done_bytes of the file are there. */
void ws_progress_move(struct ws_progress *p, uint64_t done_bytes);

/** All is there; @a wire_bytes came over the network for it. Nothing if it never began. */
void ws_progress_end(struct ws_progress *p, uint64_t wire_bytes);

#endif
