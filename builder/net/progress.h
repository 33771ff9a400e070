/**
 * progress.h - one transfer as events: started, progress, done
 *
 * At most ten progress events a second. Independent of the protocol.
 */
#ifndef WS_NET_PROGRESS_H
#define WS_NET_PROGRESS_H

#include "base/event.h"

struct ws_progress {
	const struct ws_events *events; /**< NULL: no events */
	const char *subject;            /**< the file */
	const char *from;               /**< the host; NULL: not known */
	uint64_t total_bytes;           /**< 0: not known */
	int64_t began_ms, reported_ms;
	bool is_begun;
};

/** Emits the start event on the first call. */
void ws_progress_begin(struct ws_progress *p, uint64_t total_bytes);

/** Reports that @a done_bytes of the file are there. */
void ws_progress_move(struct ws_progress *p, uint64_t done_bytes);

/**
 * Emits the end event; @a wire_bytes were received for the file. Does nothing before the start
 * event.
 */
void ws_progress_end(struct ws_progress *p, uint64_t wire_bytes);

#endif
