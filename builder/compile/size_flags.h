/**
 * size_flags.h - the words that keep a wheel small
 *
 * A recipe's own words about compression go, in every mode: which way a toolkit has and which
 * drivers read it is known here (model/matrix.h), and upstream's flag breaks nvcc before
 * 12.8. Its words about debug info go unless the matrix asks for that.
 */
#ifndef WS_COMPILE_SIZE_FLAGS_H
#define WS_COMPILE_SIZE_FLAGS_H

#include "engine/action.h"
#include "model/matrix.h"

/** Takes the words that do not hold out of @a words, which may be of nvcc or of a host compiler. */
void ws_size_flags_drop(ws_name_list *words, const struct ws_size_options *size);

/** Adds nvcc's words for compression. */
void ws_size_flags_add_nvcc(
	ws_name_list *words, const struct ws_size_options *size, struct ws_arena *a);

#endif
