/**
 * lean.h - the words that keep a wheel small
 *
 * A recipe's own words about compression go, in every mode: which way a toolkit has and which drivers
 * read it is known here (model/lean.h), and upstream's flag breaks nvcc before 12.8. Its words about
 * debug info go unless the matrix asks for that.
 */
#ifndef WS_COMPILE_LEAN_H
#define WS_COMPILE_LEAN_H

#include "engine/action.h"
#include "model/lean.h"

/** Takes the words that do not hold out of @a words, which may be of nvcc or of a host compiler. */
void ws_lean_drop(ws_name_list *words, const struct ws_lean *lean);

/** Adds nvcc's words: compression, and the seed for names that would be random: @a seed is one word. */
void ws_lean_add_nvcc(
	ws_name_list *words, const struct ws_lean *lean, const char *seed, struct ws_arena *a);

#endif
