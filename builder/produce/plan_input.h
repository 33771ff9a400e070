/**
 * plan_input.h - collects the input of a plan: pins, sources, interpreters, toolkits, GPUs
 *
 * Reads the store and this host, and asks an index only for a torch release that neither facts nor
 * lock have. Interpreters and toolkits are found here once; the points of the plan carry them to
 * the build. Their answers are cached, so a second run starts no process.
 */
#ifndef WS_PRODUCE_PLAN_INPUT_H
#define WS_PRODUCE_PLAN_INPUT_H

#include "make/context.h"
#include "make/pins.h"

struct ws_candidate_memory;

/**
 * Fills lock, known, listings, host and lookups of @a input, whose matrix and recipes are set. @a
 * memory NULL: prebuilt wheels do not count.
 *
 * A Python of the matrix that this host cannot build for is `missing`. Where planning needs its tag
 * or its torch ("host", a path, torch "installed"), a missing one is an error at its place in the
 * matrix. An unknown torch release is WS_ERR_CONFIG with near releases; an index that does not
 * answer is WS_ERR_FETCH.
 */
bool ws_plan_input_fill(const struct ws_context *ctx, const struct ws_pins *pins,
	struct ws_candidate_memory *memory, struct ws_plan_input *input, struct ws_err *err);

#endif
