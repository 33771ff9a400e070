/**
 * arena.h - memory by lifetime: a bump allocator, arrays and maps that grow in it
 *
 * There are three lifetimes: session, plan and job. The caller that passes the arena owns the
 * result. Single results are not freed. Memory is zeroed. A process that gets no memory exits, so
 * callers never check for NULL.
 */
#ifndef WS_BASE_ARENA_H
#define WS_BASE_ARENA_H

#include "base/attr.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Exit status of a process that got no memory. sys/child.c knows a child at its limit by it. */
#define WS_EXIT_NO_MEMORY 71

/** Prints one line and exits with WS_EXIT_NO_MEMORY. */
_Noreturn void ws_out_of_memory(void);

struct ws_arena;

/** A point to rewind to; used on the same arena, innermost first. */
struct ws_arena_mark {
	void *block;
	size_t used;
};

struct ws_arena *ws_arena_make(void);

/** Releases the whole arena. NULL is allowed. */
void ws_arena_drop(struct ws_arena *a);

/** @a size bytes, zeroed, aligned for any type. Never NULL; a size of 0 gives a unique pointer. */
void *ws_arena_alloc(struct ws_arena *a, size_t size);

/** A NUL-terminated copy of @a len bytes. */
char *ws_arena_copy(struct ws_arena *a, const char *text, size_t len);

/** A copy of a C string; NULL stays NULL. */
char *ws_arena_strdup(struct ws_arena *a, const char *text);

char *ws_arena_printf(struct ws_arena *a, const char *format, ...) WS_PRINTF(2, 3);
char *ws_arena_vprintf(struct ws_arena *a, const char *format, va_list values) WS_PRINTF(2, 0);

struct ws_arena_mark ws_arena_mark(const struct ws_arena *a);

/** Frees all allocations since @a mark for reuse. */
void ws_arena_rewind(struct ws_arena *a, struct ws_arena_mark mark);

#define WS_NEW(a, type) ((type *)ws_arena_alloc((a), sizeof(type)))
#define WS_NEW_N(a, type, n) ((type *)ws_arena_alloc((a), sizeof(type) * (n)))

WS_RELEASED_BY(ws_auto_arena, struct ws_arena, ws_arena_drop)

/** `WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();`: a job's or a test's arena. */
#define WS_AUTO_ARENA __attribute__((cleanup(ws_auto_arena)))

/* ---- arrays ---- */

#define WS_VEC(type) \
	struct { \
		type *at; \
		size_t len, cap; \
	}

static inline void
ws_vec_grow(void *at, size_t len, size_t *cap, size_t size, struct ws_arena *a)
{
	if (len < *cap) {
		return;
	}
	size_t wider = *cap ? *cap * 2 : 8;
	void *moved = ws_arena_alloc(a, wider * size);
	if (len > 0) {
		memcpy(moved, *(void **)at, len * size);
	}
	*(void **)at = moved;
	*cap = wider;
}

/** Room for @a count elements in an empty one, so that it does not grow until then. */
#define ws_vec_reserve(v, count, a) \
	((v)->cap = (count), (v)->at = ws_arena_alloc((a), (count) * sizeof(*(v)->at)))

/** The address of one more, zeroed element. */
#define ws_vec_push(v, a) \
	(ws_vec_grow(&(v)->at, (v)->len, &(v)->cap, sizeof(*(v)->at), (a)), &(v)->at[(v)->len++])

/* ---- maps from strings to pointers ---- */

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

/** The value of @a key, or NULL. The code that put it there knows whether it may be changed. */
void *ws_map_get(const struct ws_map *map, const char *key);

/** Sets the value; replaces an earlier one. */
void ws_map_put(struct ws_map *map, const char *key, const void *value, struct ws_arena *a);

/** Adds @a key to a set of strings; true when it was new. */
bool ws_map_add(struct ws_map *map, const char *key, struct ws_arena *a);

#endif
