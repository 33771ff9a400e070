/**
 * select.h - parts of a plan: --only and --shard
 *
 * Globs over cell names; `*` and `?` match '/' too. Shards are dealt over the whole matrix
 * (steps.h), whatever --only leaves, so that every machine deals alike.
 */
#ifndef WS_PLAN_SELECT_H
#define WS_PLAN_SELECT_H

#include "plan/steps.h"

#define WS_MOST_SHARDS 10000

/** From "2/8". False for anything else, or when the first is not from 1 to the second. */
bool ws_shard_parse(const char *text, unsigned *shard, unsigned *shards);

/** True when one of the globs of @a only ("a*,b*") matches. NULL matches everything. */
bool ws_only_matches(const char *only, const char *name);

/** Takes out of @a cells what the input's `only` and `shard` leave out. */
bool ws_select(const struct ws_plan_input *in, const struct ws_groups *groups, ws_cell_list *cells,
	struct ws_arena *a, struct ws_err *err);

#endif
