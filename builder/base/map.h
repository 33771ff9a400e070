/**
 * map.h - strings to pointers
 *
 * Open addressing in an arena; keys are borrowed, not copied, and must outlive the map. Nothing
 * is ever removed. Iteration order is the order of insertion, so output made from it is stable.
 */
#ifndef WS_BASE_MAP_H
#define WS_BASE_MAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct ws_map_slot {
	const char *key;
	const void *value;
};

/** Zeroed, it is an empty map. */
struct ws_map {
	struct ws_map_slot *slots; /**< in order of insertion */
	size_t count, cap;
	uint32_t *table; /**< index + 1 into slots, or 0 */
	size_t table_size;
};

/** The value of @a key, or NULL; whether it may be changed is known to who put it there. */
void *ws_map_get(const struct ws_map *map, const char *key);

/** Sets the value; replaces an earlier one. */
void ws_map_put(struct ws_map *map, const char *key, const void *value, struct ws_arena *a);

/** True, and @a key is in the map afterwards, when it was not there: a set of strings. */
bool ws_map_add(struct ws_map *map, const char *key, struct ws_arena *a);

#endif
