/**
 * answer_cache.h - what a program said of itself, remembered
 *
 * A compiler that is asked for its parts, an interpreter for its headers: a process each, and the
 * same answer as yesterday. The answer counts again while all looks as it did then: the program,
 * the places where a system keeps programs and libraries, and each path that the answer names with
 * the folder that it lies in (size, times, inode, or that there is none). What is a script is asked
 * each time: anything may be behind it.
 */
#ifndef WS_STORE_ANSWER_CACHE_H
#define WS_STORE_ANSWER_CACHE_H

#include "store/ledger.h"
#include "sys/child.h"

/**
 * As ws_child_ask, for a question whose answer follows from the program, its words and its
 * environment, with what lies where the answer says. @a ledger NULL: it is asked.
 */
bool ws_answer_cache_ask(struct ws_ledger *ledger, const struct ws_child_order *order,
	struct ws_buf *answer, struct ws_err *err);

#endif
