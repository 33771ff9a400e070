/**
 * gpu_check.h - did what a wheel computes on a GPU agree with a reference?
 *
 * Reads what `python -m wheelsmith_kernels check PACKAGE --json FILE` wrote on a host with a GPU
 * (schemas/kernels-check-1.json). Runs nothing. A result belongs to the wheel whose SHA-256 it
 * names.
 */
#ifndef WS_PUBLISH_GPU_CHECK_H
#define WS_PUBLISH_GPU_CHECK_H

#include "base/arena.h"
#include "base/err.h"

/**
 * Adds the result in the file @a path to @a checks: the sha256 of its wheel to why it failed (one
 * line; "" when it passed). Of several for one wheel, one that failed decides. A file that is not
 * such a result is an error.
 */
bool ws_gpu_check_read(
	const char *path, struct ws_arena *a, struct ws_map *checks, struct ws_err *err);

/** Why the wheel is not to be published: no result, or a failed one. NULL: it passed. */
const char *ws_gpu_check_refusal(const struct ws_map *checks, const char *sha256);

#endif
