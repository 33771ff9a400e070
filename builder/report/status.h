/**
 * status.h - progress for people: one redrawn line on a terminal, plain lines elsewhere
 *
 * A sink of events. On a terminal the line shows done and total, what is left, memory, and the
 * longest running actions; in a log there is one line for each action that ended, and what goes on
 * every 30 s without one. Warnings, notes and what failed are whole lines in both.
 */
#ifndef WS_REPORT_STATUS_H
#define WS_REPORT_STATUS_H

#include "base/arena.h"
#include "base/event.h"
#include "base/out.h"

/** Makes the sink; it lives in @a a and writes to @a out. */
struct ws_sink *ws_status_sink(const struct ws_out *out, uint64_t memory_bytes, struct ws_arena *a);

/** Ends the redrawn line, so that other text can follow. */
void ws_status_clear(struct ws_sink *sink);

#endif
