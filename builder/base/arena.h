/**
 * arena.h - memory by lifetime
 *
 * A bump allocator. There are three lifetimes: the session's, the plan's and the job's;
 * whoever passes the arena owns the result. Nothing is freed one by one. Memory is zeroed.
 * When the host has no memory left the process aborts: callers never check for NULL.
 */
#ifndef WS_BASE_ARENA_H
#define WS_BASE_ARENA_H

#include "base/attr.h"

#include <stdarg.h>
#include <stddef.h>

struct ws_arena;

/** A point to rewind to; taken and given back on the same arena, innermost first. */
struct ws_arena_mark {
	void *block;
	size_t used;
};

struct ws_arena *ws_arena_make(void);

/** Releases everything that came from @a a. NULL is fine. */
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

/** Forgets everything allocated since @a mark; the memory is reused. */
void ws_arena_rewind(struct ws_arena *a, struct ws_arena_mark mark);

#define WS_NEW(a, type) ((type *)ws_arena_alloc((a), sizeof(type)))
#define WS_NEW_N(a, type, n) ((type *)ws_arena_alloc((a), sizeof(type) * (n)))

static inline void
ws_auto_arena(struct ws_arena *const *a)
{
	ws_arena_drop(*a);
}

/** `WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();`: a job's or a test's arena. */
#define WS_AUTO_ARENA __attribute__((cleanup(ws_auto_arena)))

#endif
