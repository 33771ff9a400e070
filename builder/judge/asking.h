/**
 * asking.h - who asks for the names that a check misses
 *
 * A verdict names what nobody has; not the unit that wants it, nor where that unit read the name.
 * The objects' symbol tables and the units' reads (engine/reads_manifest.h) tell. For people, when
 * a check has failed: nothing of it is kept, and no verdict depends on it.
 */
#ifndef WS_JUDGE_ASKING_H
#define WS_JUDGE_ASKING_H

#include "engine/graph.h"

/** One missing name and who asks for it. */
struct ws_asking {
	const char *text;         /**< the name as the verdict's lines have it */
	const char *const *units; /**< whose objects want it: "kernel.cpp" */
	size_t unit_count;        /**< at least 1 */
	/** of what the first of them read, where the name stands: the package's own files, then those
	 * of kits, then the system's */
	const char *const *files;
	size_t file_count; /**< 0: in none, as with names that the compiler itself makes */
};

/** The name that a line of a check's log tells, behind its indent; empty: it tells none. */
struct ws_str ws_asking_name(struct ws_str line);

/**
 * The names in @a log, which is that of the failed @a check, that objects of its modules want.
 * Objects that cannot be read tell nothing. In @a a.
 */
const struct ws_asking *ws_asking_find(const struct ws_node *check, struct ws_str log,
	const struct ws_store *store, struct ws_arena *a, size_t *count);

#endif
