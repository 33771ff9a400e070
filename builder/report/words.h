/**
 * words.h - sizes and times as people read them
 *
 * Everything a person reads about bytes and durations comes from here, so that plans, the status
 * line and summaries speak alike. Texts go to a caller's buffer of WS_WORDS bytes.
 */
#ifndef WS_REPORT_WORDS_H
#define WS_REPORT_WORDS_H

#include <stdint.h>

#define WS_WORDS 32

/** "0:24", "11:05", "1:02:03". Rounds up to whole seconds. Returns @a text. */
const char *ws_words_clock(uint64_t ms, char text[WS_WORDS]);

/** "0.3 s", "24 s", "1 m 12 s", "2 h 5 m". Returns @a text. */
const char *ws_words_duration(uint64_t ms, char text[WS_WORDS]);

/** Memory, binary: "512 MiB", "2.3 GiB". Returns @a text. */
const char *ws_words_memory(uint64_t bytes, char text[WS_WORDS]);

/** Transfers and files, decimal: "812 B", "16 kB", "16.3 MB", "1.24 GB". Returns @a text. */
const char *ws_words_size(uint64_t bytes, char text[WS_WORDS]);

#endif
