/**
 * json_lines.h - events for machines, one JSON object a line
 *
 * A sink: {"schema": "wheelsmith.event/1", "event": "action-done", "at_ms": ..., ...}. Members that
 * an event does not have are left out; samples and progress are not written.
 */
#ifndef WS_REPORT_JSON_LINES_H
#define WS_REPORT_JSON_LINES_H

#include "base/event.h"
#include "base/table.h"

/** The table of a line (schemas/event-1.json). */
extern const struct ws_table ws_event_table;

/** Makes the sink; it lives in @a a and writes to @a file. */
struct ws_sink *ws_json_lines_sink(FILE *file, struct ws_arena *a);

#endif
