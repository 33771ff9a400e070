/**
 * vec.h - growable arrays in an arena
 *
 * `WS_VEC(struct ws_cell) cells = {0};` then `*ws_vec_push(&cells, a) = cell;`. The array moves
 * when it grows, so pointers into it do not outlive a push; what it grew out of stays in the
 * arena until the arena goes.
 */
#ifndef WS_BASE_VEC_H
#define WS_BASE_VEC_H

#include "base/arena.h"

#include <string.h>

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

#endif
