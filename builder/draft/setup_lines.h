/**
 * setup_lines.h - the logical lines of a setup.py, and under which conditions they stand
 *
 * By indentation and the words of `if`. For setup_py.c alone.
 */
#ifndef WS_DRAFT_SETUP_LINES_H
#define WS_DRAFT_SETUP_LINES_H

#include "draft/python_text.h"

struct ws_setup_line {
	size_t from, to; /**< its words; @a to is its END */
	bool elsewhere;  /**< in a branch for another platform */
	/** Blocks around it that may be left out: of if, for, while, except, and what follows an if.
	 * Those that the platform decides are not counted. */
	unsigned conditions;
};

struct ws_setup_lines {
	const struct ws_setup_line *at;
	size_t count;
};

struct ws_setup_lines ws_setup_lines_read(const struct ws_python_text *text, struct ws_arena *a);

/** What a condition says about the platform. */
enum ws_setup_platform {
	WS_SETUP_ANY,   /**< nothing that is sure */
	WS_SETUP_OTHER, /**< true only on another one than Linux with CUDA */
	WS_SETUP_OURS,  /**< false only on another one */
};

/** Of the words from @a from to before @a to. */
enum ws_setup_platform ws_setup_condition(
	const struct ws_python_text *text, size_t from, size_t to);

#endif
