/**
 * format.h - sizes and times as people read them
 *
 * Everything a person reads about bytes and durations comes from here, so that plans, the status
 * line and summaries speak alike. Texts go to a caller's buffer of WS_FORMAT_BYTES bytes.
 */
#ifndef WS_REPORT_FORMAT_H
#define WS_REPORT_FORMAT_H

#include <stdint.h>

#define WS_FORMAT_BYTES 32

/** "0:24", "11:05", "1:02:03". Rounds up to whole seconds. Returns @a text. */
const char *ws_format_clock(uint64_t ms, char text[WS_FORMAT_BYTES]);

/** "0.3 s", "24 s", "1 m 12 s", "2 h 5 m". Returns @a text. */
const char *ws_format_duration(uint64_t ms, char text[WS_FORMAT_BYTES]);

/** Memory, binary: "512 MiB", "2.3 GiB". Returns @a text. */
const char *ws_format_memory(uint64_t bytes, char text[WS_FORMAT_BYTES]);

/** Transfers and files, decimal: "812 B", "16 kB", "16.3 MB", "1.24 GB". Returns @a text. */
const char *ws_format_size(uint64_t bytes, char text[WS_FORMAT_BYTES]);

#endif
