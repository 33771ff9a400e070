/**
 * asking.h - the units and files that need the missing names of a failed check
 *
 * A verdict has the missing name, but not the unit that needs it, nor the file where that unit read
 * the name. Both come from the symbol tables of objects and the reads of units
 * (engine/reads_manifest.h). For messages only: no verdict depends on it.
 */
#ifndef WS_JUDGE_ASKING_H
#define WS_JUDGE_ASKING_H

#include "engine/graph.h"

/** One missing name and its units. */
struct ws_asking {
	const char *text;           /**< the name as the verdict's lines have it */
	const struct ws_node *unit; /**< the first one */
	WS_VEC(const char *) units; /**< units whose objects need it, at least one: "kernel.cpp" */
	/** Files with the name that the first unit read: the package's own, then of kits, then the
	 * system's. Names that the compiler itself makes are in no file. */
	WS_VEC(const char *) files;
};

/** The name in a line of a check's log, after the indent; empty: the line has none. */
struct ws_str ws_asking_name(struct ws_str line);

/**
 * The names in @a log, the log of the failed @a check, that objects of its modules need. Objects
 * that cannot be read are skipped. In @a a.
 */
const struct ws_asking *ws_asking_find(const struct ws_node *check, struct ws_str log,
	const struct ws_store *store, struct ws_arena *a, size_t *count);

#endif
