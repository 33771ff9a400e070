/**
 * headers.h - what a compilation depended on
 *
 * The reads of compile actions: the dependency file says what was read; the texts of what was read
 * say which names, on earlier search folders, must not appear, and what __has_include asked.
 */
#ifndef WS_COMPILE_HEADERS_H
#define WS_COMPILE_HEADERS_H

#include "engine/action.h"

/** Name of the dependency file that every compile command must write. */
#define WS_COMPILE_DEPFILE "unit.d"

/** Name of the one that the assembler writes; commands of clang, which has none, do without. */
#define WS_COMPILE_ASSEMBLED "unit.s.d"

/** For struct ws_action.find_reads. The commands must be given -Wdate-time. */
bool ws_headers_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

#endif
