/* map.c - FNV-1a and linear probing at a load of at most one half. Keys come from files we or
 * compilers wrote; where a stranger chooses them, sort instead. */
#include "base/map.h"

#include <string.h>

static uint64_t
hash_of(const char *key)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a, 64 bit */
	for (const unsigned char *c = (const unsigned char *)key; *c; c++) {
		hash = (hash ^ *c) * 1099511628211u;
	}
	return hash;
}

/* The place of @a key in the table: holding it, or empty. */
static uint32_t *
find_place(const struct ws_map *map, const char *key)
{
	size_t mask = map->table_size - 1;
	for (size_t i = hash_of(key) & mask;; i = (i + 1) & mask) {
		uint32_t *place = &map->table[i];
		if (*place == 0 || strcmp(map->slots[*place - 1].key, key) == 0) {
			return place;
		}
	}
}

void *
ws_map_get(const struct ws_map *map, const char *key)
{
	if (map->count == 0) {
		return NULL;
	}
	uint32_t place = *find_place(map, key);
	return place ? (void *)(uintptr_t)map->slots[place - 1].value : NULL;
}

static void
grow(struct ws_map *map, struct ws_arena *a)
{
	if (map->count < map->cap) {
		return;
	}
	size_t cap = map->cap ? map->cap * 2 : 16;
	struct ws_map_slot *slots = WS_NEW_N(a, struct ws_map_slot, cap);
	if (map->count > 0) {
		memcpy(slots, map->slots, map->count * sizeof(*slots));
	}
	map->slots = slots;
	map->cap = cap;
	map->table_size = cap * 2;
	map->table = WS_NEW_N(a, uint32_t, map->table_size);
	for (size_t i = 0; i < map->count; i++) {
		*find_place(map, slots[i].key) = (uint32_t)i + 1;
	}
}

void
ws_map_put(struct ws_map *map, const char *key, const void *value, struct ws_arena *a)
{
	grow(map, a);
	uint32_t *place = find_place(map, key);
	if (*place == 0) {
		map->slots[map->count].key = key;
		*place = (uint32_t)++map->count;
	}
	map->slots[*place - 1].value = value;
}

bool
ws_map_add(struct ws_map *map, const char *key, struct ws_arena *a)
{
	size_t before = map->count;
	ws_map_put(map, key, map, a);
	return map->count > before;
}
