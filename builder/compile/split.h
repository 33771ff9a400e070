/**
 * split.h - a .cu unit as nvcc's own commands
 *
 * What nvcc would run for the unit becomes parts of its action, so that an arch that is added costs its
 * own cicc and ptxas, and a torch with other headers no ptxas where the PTX is equal. Each has a key by
 * its own tool. Whoever asks for the unit sees one action, with its own key, whose result the parts make.
 *
 * One nvcc does it all where its commands are not understood, the host compiler is clang, or the words
 * ask for device debug info or link-time optimization.
 */
#ifndef WS_COMPILE_SPLIT_H
#define WS_COMPILE_SPLIT_H

#include "compile/target.h"

/** The path, in place of the unit's, that words for ws_split_make hold: with the same ending. */
const char *ws_split_stand_in(const char *path, struct ws_arena *a);

/**
 * For struct ws_action.split of @a whole, which compiles @a unit. @a words are nvcc's for the stand-in,
 * NULL-terminated, without the program and the dependency file. All are borrowed.
 */
const struct ws_split *ws_split_make(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_action *whole, const char *const *words, const struct ws_store *store,
	struct ws_arena *a);

#endif
