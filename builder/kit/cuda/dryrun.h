/**
 * dryrun.h - the commands that nvcc would run
 *
 * `nvcc --dryrun` prints lines "#$ NAME=value", then "#$ command" for /bin/sh (measured on 11.8 to
 * 13.5). They depend on the toolkit, the host compiler and the words, not on the source file, which
 * need not exist: so an answer is asked for once and remembered.
 */
#ifndef WS_KIT_CUDA_DRYRUN_H
#define WS_KIT_CUDA_DRYRUN_H

#include "base/arena.h"
#include "base/text.h"
#include "kit/cuda/cuda.h"

typedef WS_VEC(const char *) ws_dryrun_words;

/** Every command: its program first. */
typedef WS_VEC(ws_dryrun_words) ws_dryrun_commands;

/**
 * Appends the words of @a text as a shell parts them; the $CICC_PATH of nvcc's own variables stands
 * for itself. False where a shell would do more than that: a pattern, a redirection, a
 * substitution.
 */
bool ws_dryrun_split(struct ws_str text, struct ws_arena *a, ws_dryrun_words *words);

/**
 * Reads what was printed. Without a command is false: @a why names the line that a shell would do
 * more with, or says that there was none.
 */
bool ws_dryrun_read(
	const char *printed, struct ws_arena *a, ws_dryrun_commands *commands, const char **why);

/**
 * What nvcc of @a kit prints for @a words (NULL-terminated, without the program), which hold
 * "{cxx}" where the host compiler @a cxx stands; so does the answer, and "cuda" for the toolkit's
 * folder. Kept in @a store.
 */
bool ws_dryrun_ask(const struct ws_cuda_kit *kit, const struct ws_hostcc *cxx,
	const char *const *words, const struct ws_store *store, struct ws_buf *printed,
	struct ws_err *err);

#endif
