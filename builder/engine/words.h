/**
 * words.h - the command of an action as it is run in a folder
 *
 * Tokens get their values: those of the action, and "{work}", which is the folder. Pure.
 */
#ifndef WS_ENGINE_WORDS_H
#define WS_ENGINE_WORDS_H

#include "engine/action.h"

/** Words of argv or env with tokens replaced, "{work}" by @a dir. NULL-terminated. */
const char *const *ws_action_words(
	const struct ws_action *action, const char *const *words, const char *dir, struct ws_arena *a);

/** The program to start, tokens replaced. */
const char *ws_action_program(const struct ws_action *action, const char *dir, struct ws_arena *a);

#endif
