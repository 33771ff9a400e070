/**
 * group.h - cells that belong together, for dealing work out to machines
 *
 * Products that share kernels (everything equal but the Python) are one group, so that no kernel is
 * compiled on two machines. Groups follow from what is written in the matrix, from recipes, facts and
 * the lock: machines with other GPUs, Pythons and toolkits number and deal them alike. What a host
 * decides ("host", "installed", the toolkit that "auto" falls back to) is a word in a group's name.
 */
#ifndef WS_PLAN_GROUP_H
#define WS_PLAN_GROUP_H

#include "base/map.h"
#include "base/vec.h"
#include "plan/plan.h"

struct ws_group {
	bool alive; /**< some host may have something to do for it */
};

struct ws_groups {
	struct ws_map numbers; /**< name to index + 1 */
	WS_VEC(struct ws_group) at;
};

/**
 * Takes note of @a point of the matrix, which led to @a cell, and gives the cell its group. Points that
 * come to one cell (by number, and by "auto") are all noted; the one that leaves a host least to decide
 * gives the group. @a alive: not every host excludes it.
 */
void ws_groups_note(struct ws_groups *groups, struct ws_cell *cell, const struct ws_point *point,
	bool alive, struct ws_arena *a);

/**
 * The shard of each group, from 1. They go round; a group that every host excludes goes where the next
 * one goes, so that work is dealt out evenly.
 */
const unsigned *ws_groups_deal(const struct ws_groups *groups, unsigned shards, struct ws_arena *a);

#endif
