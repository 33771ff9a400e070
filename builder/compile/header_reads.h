/**
 * header_reads.h - the dependencies of a compilation
 *
 * The dependency file lists what was read. The texts of these files give the names that must not
 * appear on earlier search folders, and the names of __has_include.
 */
#ifndef WS_COMPILE_HEADER_READS_H
#define WS_COMPILE_HEADER_READS_H

#include "engine/action.h"

/** Name of the dependency file that every compile command writes. */
#define WS_COMPILE_DEPFILE "unit.d"

/** Name of the dependency file of the assembler; clang, which has an internal assembler, writes
 * none. */
#define WS_COMPILE_ASSEMBLED "unit.s.d"

/** For struct ws_action.find_reads. The commands need -Wdate-time. */
bool ws_headers_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

/* ---- search folders of a command ----
 * gcc's rules: -iquote for "x" only, then -I, -isystem, the compiler's own folders, -idirafter.
 * A folder of -I that is also a system folder counts as a system folder. nvcc's -I comes before
 * its own folders. */

struct ws_search {
	ws_name_list folders; /**< in order, as written */
	size_t quote_count;   /**< the first ones are for "x" only */
	ws_name_list forced;  /**< of -include and -imacros */
	ws_name_list defines; /**< of -D: "NAME=BODY" */
};

/** Reads the arguments of @a action, whose `search` has the compiler's own folders. @a work is
 * used to compare folders. */
struct ws_search ws_search_read(
	const struct ws_action *action, const char *work, struct ws_arena *a);

/** True if two names are one file. */
bool ws_search_is_same(const char *work, const char *x, const char *y, struct ws_arena *a);

/* ---- dependency files ----
 * A make rule: "unit.o: src/a.cu /usr/include/stdio.h \", as gcc -MD, nvcc -MD and ld
 * --dependency-file write it (GNU make's quoting: "\ ", "\#", "$$", backslash newline). */

/**
 * Appends the prerequisites of the first rule, in order, as written. Skips later rules (ld's
 * phony ones). A text without a rule is WS_ERR_BUILD.
 */
bool ws_depfile_parse(
	const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err);

/** True if @a action has the file as an input, so that its key contains it. */
bool ws_depfile_is_input(const struct ws_action *action, const char *name);

#endif
