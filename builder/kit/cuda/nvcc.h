/**
 * nvcc.h - what nvcc says about itself
 *
 * Its release, and the folders it searches for headers, which its profile decides and no two
 * layouts have alike. Asked in an environment of ours: NVCC_PREPEND_FLAGS and its like do not reach
 * it.
 */
#ifndef WS_KIT_CUDA_NVCC_H
#define WS_KIT_CUDA_NVCC_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct ws_ledger;

/** Of the nvcc of the toolkit at @a root: "12.4" and "12.4.131". */
bool ws_nvcc_ask_release(const char *root, struct ws_arena *a, const char **version,
	const char **release, struct ws_err *err);

/**
 * The folders it gives to the host compiler, in the order in which that searches them: what lies in
 * @a root (absolute, without links) by canonical names, "cuda/include", others absolute. nvcc asks
 * a host compiler even for that: @a cxx, as -ccbin takes it.
 */
bool ws_nvcc_ask_include(const char *root, const char *cxx, struct ws_ledger *ledger,
	struct ws_arena *a, const char *const **folders, size_t *count, struct ws_err *err);

/** The same out of what `nvcc --dryrun` printed. */
const char *const *ws_nvcc_read_include(
	const char *printed, const char *root, struct ws_arena *a, size_t *count);

#endif
