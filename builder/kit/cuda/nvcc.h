/**
 * nvcc.h - answers of nvcc: its release, its header folders, and the commands that it would run
 *
 * nvcc runs in an environment of ours, without the user's NVCC_PREPEND_FLAGS.
 *
 * `nvcc --dryrun` prints lines "#$ NAME=value", then "#$ command" for /bin/sh (measured on 11.8 to
 * 13.5). They depend on the toolkit, the host compiler and the words, not on the source file, which
 * need not exist: the answer is cached in the store.
 */
#ifndef WS_KIT_CUDA_NVCC_H
#define WS_KIT_CUDA_NVCC_H

#include "kit/cuda/cuda.h"

/** "12.4" and "12.4.131": the release of the nvcc of the toolkit at @a root. */
bool ws_nvcc_ask_release(const char *root, struct ws_arena *a, const char **version,
	const char **release, struct ws_err *err);

/**
 * The folders that it passes to the host compiler, in the order of the search, from the output of
 * `nvcc --dryrun`: those in @a root (absolute, without links) by canonical names, "cuda/include",
 * others absolute.
 */
const char *const *ws_nvcc_read_include(
	const char *printed, const char *root, struct ws_arena *a, size_t *count);

typedef WS_VEC(const char *) ws_dryrun_words;

/** Every command: its program first. */
typedef WS_VEC(ws_dryrun_words) ws_dryrun_commands;

/**
 * Reads the output, with words as a shell splits them; nvcc's own variable $CICC_PATH stays as
 * written. False when it has no command, or a line where a shell would do more (a pattern, a
 * redirection, a substitution): @a why.
 */
bool ws_dryrun_read(
	const char *printed, struct ws_arena *a, ws_dryrun_commands *commands, const char **why);

/**
 * The output of the nvcc of @a kit for @a words (NULL-terminated, without the program), which hold
 * "{cxx}" for the host compiler @a cxx. The output has it as well, and "cuda" for the folder of
 * the toolkit.
 */
bool ws_dryrun_ask(const struct ws_cuda_kit *kit, const struct ws_hostcc *cxx,
	const char *const *words, const struct ws_store *store, struct ws_buf *printed,
	struct ws_err *err);

#endif
