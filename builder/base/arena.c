/* arena.c - a chain of blocks, each twice the size of the block before it, up to 1 MiB. A request
 * that is larger than a block gets a block of its own. */
#include "base/arena.h"

#define FIRST_BLOCK ((size_t)4096)
#define LARGEST_BLOCK ((size_t)1 << 20)
#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *before;
	size_t size;
	size_t used;
	_Alignas(max_align_t) char bytes[];
};

struct ws_arena {
	struct block *last;
};

void
ws_out_of_memory(void)
{
	fputs("wheelsmith: out of memory\n", stderr);
	_exit(WS_EXIT_NO_MEMORY);
}

struct ws_arena *
ws_arena_make(void)
{
	struct ws_arena *a = calloc(1, sizeof(*a));
	if (!a) {
		ws_out_of_memory();
	}
	return a;
}

void
ws_arena_drop(struct ws_arena *a)
{
	if (!a) {
		return;
	}
	ws_arena_rewind(a, (struct ws_arena_mark){NULL, 0});
	free(a);
}

void *
ws_arena_alloc(struct ws_arena *a, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT - sizeof(struct block)) {
		ws_out_of_memory();
	}
	size_t rounded = (size + ALIGNMENT) & ~(ALIGNMENT - 1);
	struct block *b = a->last;
	if (!b || b->size - b->used < rounded) {
		size_t next = b ? b->size * 2 : FIRST_BLOCK;
		next = next > LARGEST_BLOCK ? LARGEST_BLOCK : next;
		next = next < rounded ? rounded : next;
		b = malloc(sizeof(*b) + next);
		if (!b) {
			ws_out_of_memory();
		}
		*b = (struct block){.before = a->last, .size = next};
		a->last = b;
	}
	void *memory = b->bytes + b->used;
	b->used += rounded;
	return memset(memory, 0, rounded);
}

char *
ws_arena_copy(struct ws_arena *a, const char *text, size_t len)
{
	char *copy = ws_arena_alloc(a, len + 1);
	if (len > 0) {
		memcpy(copy, text, len);
	}
	return copy;
}

char *
ws_arena_strdup(struct ws_arena *a, const char *text)
{
	return text ? ws_arena_copy(a, text, strlen(text)) : NULL;
}

char *
ws_arena_vprintf(struct ws_arena *a, const char *format, va_list values)
{
	va_list again;
	va_copy(again, values);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0) {
		abort();
	}
	char *text = ws_arena_alloc(a, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, values);
	return text;
}

char *
ws_arena_printf(struct ws_arena *a, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	char *text = ws_arena_vprintf(a, format, values);
	va_end(values);
	return text;
}

struct ws_arena_mark
ws_arena_mark(const struct ws_arena *a)
{
	return (struct ws_arena_mark){a->last, a->last ? a->last->used : 0};
}

void
ws_arena_rewind(struct ws_arena *a, struct ws_arena_mark mark)
{
	while (a->last && a->last != mark.block) {
		struct block *before = a->last->before;
		free(a->last);
		a->last = before;
	}
	if (a->last) {
		a->last->used = mark.used;
	}
}

/* ---- maps: FNV-1a and linear probing, at most half full ---- */

/* The place of @a key in the table: holding it, or empty. */
static uint32_t *
find_place(const struct ws_map *map, const char *key)
{
	size_t mask = map->table_size - 1;
	uint64_t hash = 14695981039346656037u; /* FNV-1a, 64 bit */
	for (const unsigned char *c = (const unsigned char *)key; *c; c++) {
		hash = (hash ^ *c) * 1099511628211u;
	}
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
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

void
ws_map_put(struct ws_map *map, const char *key, const void *value, struct ws_arena *a)
{
	if (map->count == map->cap) {
		size_t cap = map->cap ? map->cap * 2 : 16;
		struct ws_map_slot *slots = WS_NEW_N(a, struct ws_map_slot, cap);
		if (map->count > 0) {
			memcpy(slots, map->slots, map->count * sizeof(*slots));
		}
		*map = (struct ws_map){.slots = slots, .count = map->count, .cap = cap};
		map->table_size = cap * 2;
		map->table = WS_NEW_N(a, uint32_t, map->table_size);
		for (size_t i = 0; i < map->count; i++) {
			*find_place(map, slots[i].key) = (uint32_t)i + 1;
		}
	}
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
