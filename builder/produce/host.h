/**
 * host.h - what planning must be told of this host: what `--here` and the default axes mean
 *
 * Asks only what the matrix mentions: a plan for named versions starts no process, but for an nvcc
 * of this host that was never asked before.
 */
#ifndef WS_PRODUCE_HOST_H
#define WS_PRODUCE_HOST_H

#include "make/context.h"
#include "plan/input.h"

struct ws_candidate_memory;

/** Fills input->host and input->lookups; @a memory NULL: prebuilt wheels do not count. */
bool ws_probe_host(const struct ws_context *ctx, struct ws_candidate_memory *memory,
	struct ws_plan_input *input, struct ws_err *err);

#endif
