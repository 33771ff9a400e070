/**
 * header_reads.h - what a compilation depended on
 *
 * The reads of compile actions: the dependency file says what was read; the texts of what was read
 * say which names, on earlier search folders, must not appear, and what __has_include asked.
 */
#ifndef WS_COMPILE_HEADER_READS_H
#define WS_COMPILE_HEADER_READS_H

#include "base/arena.h"
#include "engine/action.h"

/** Name of the dependency file that every compile command must write. */
#define WS_COMPILE_DEPFILE "unit.d"

/** Name of the one that the assembler writes; commands of clang, which has none, do without. */
#define WS_COMPILE_ASSEMBLED "unit.s.d"

/** For struct ws_action.find_reads. The commands must be given -Wdate-time. */
bool ws_headers_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

/* ---- where a compiler looks for headers, by its words ----
 * gcc's rules: -iquote for "x" alone, then -I, -isystem, the compiler's own folders, -idirafter; a
 * folder of -I that comes again as one of the system's counts there. nvcc's -I comes before its
 * own. */

struct ws_search {
	ws_name_list folders; /**< in order, as written */
	size_t quote_count;   /**< the first of them are for "x" alone */
	ws_name_list forced;  /**< of -include and -imacros */
	ws_name_list defines; /**< of -D: "NAME=BODY" */
};

/** Reads @a action's words; its own `search` are the compiler's folders. @a work tells what is the
 * same. */
struct ws_search ws_search_read(
	const struct ws_action *action, const char *work, struct ws_arena *a);

/* ---- the dependency files of compilers and linkers ----
 * A make rule: "unit.o: src/a.cu /usr/include/stdio.h \", as gcc -MD, nvcc -MD and
 * ld --dependency-file write it (GNU make's quoting: "\ ", "\#", "$$", backslash newline). */

/**
 * Appends the prerequisites of the first rule, in order, as written. Later rules (ld's phony ones)
 * are skipped. A text that is not a rule is WS_ERR_BUILD.
 */
bool ws_depfile_parse(
	const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err);

/** True for a file that @a action was given, which its key holds already; false for one that it
 * found. */
bool ws_depfile_is_input(const struct ws_action *action, const char *name);

#endif
