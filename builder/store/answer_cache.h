/**
 * answer_cache.h - cached answers of compilers and interpreters
 *
 * Asking a compiler for its parts, or an interpreter for its headers, costs a process each. A
 * cached answer is valid while all of these are unchanged (size, times, inode, or absence): the
 * program, the folders where a system installs programs and libraries, and each path in the
 * answer with its folder. Scripts are always run, since anything may be behind them.
 */
#ifndef WS_STORE_ANSWER_CACHE_H
#define WS_STORE_ANSWER_CACHE_H

#include "store/ledger.h"
#include "sys/child.h"

/**
 * As ws_child_ask, for a question whose answer depends only on the program, its arguments and
 * environment, and the files that the answer names. @a ledger NULL: no cache.
 */
bool ws_answer_cache_ask(struct ws_ledger *ledger, const struct ws_child_order *order,
	struct ws_buf *answer, struct ws_err *err);

#endif
