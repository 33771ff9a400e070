/**
 * internal_action.h - an action that our own program runs: `wheelsmith internal NAME`
 *
 * Such a child finds its order in "order.json". What all of them share is filled here; what it is
 * about, its mounts, inputs and outputs are the caller's.
 */
#ifndef WS_JUDGE_INTERNAL_ACTION_H
#define WS_JUDGE_INTERNAL_ACTION_H

#include "base/text.h"
#include "engine/action.h"
#include "store/store.h"

/**
 * One of stage @a name, with tool, words, environment and the need of one processor. @a version
 * counts among what its key is made of; @a program is our own executable.
 */
struct ws_action *ws_internal_action(
	const char *name, const char *version, const char *program, struct ws_arena *a);

/** Puts @a text into the store as the input @a name; @a store NULL: the input is for a key only. */
bool ws_internal_input(const struct ws_store *store, const struct ws_buf *text, const char *name,
	struct ws_input *input, struct ws_arena *a, struct ws_err *err);

#endif
