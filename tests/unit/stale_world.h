/**
 * stale_world.h - layouts of sources that are built, edited and built again
 *
 * The real engine, the real words of compile/ and a real g++ compile "src/a.cpp", once with what
 * the store has and once as if it had nothing. Files whose path begins with '/' lie outside of
 * every tree.
 */
#ifndef WS_TESTS_UNIT_STALE_WORLD_H
#define WS_TESTS_UNIT_STALE_WORLD_H

#include "test.h"

/** One file or link of a layout. */
struct stale_file {
	const char *path;   /**< in the source tree, or "/x.h": in the folder outside */
	const char *text;   /**< NULL: a link */
	const char *target; /**< of a link */
};

struct stale_layout {
	struct stale_file files[64];
	size_t count;
	const char *flags[24]; /**< "{out}" stands for the folder outside */
	size_t flag_count;
};

/** The result of a build. */
struct stale_build {
	const char *how;    /**< "ran", "hit", "failed" */
	const char *why;    /**< the engine's reason to run; the failure's first line; else NULL */
	const char *warned; /**< why the result is not kept; else NULL */
	char digest[65];    /**< of the output; "" when it failed */
};

struct stale_world;

struct stale_world *stale_world_open(struct ws_arena *a);
void stale_world_close(struct stale_world *w);

/** The folder outside. */
const char *stale_outside(const struct stale_world *w);

/** Replaces the file of that path, or adds it. */
void stale_put(struct stale_layout *layout, struct stale_file file);
void stale_remove(struct stale_layout *layout, const char *path);

/** Builds @a layout; with @a fresh nothing that was built before counts. */
struct stale_build stale_build(
	struct stale_world *w, const struct stale_layout *layout, bool fresh, struct ws_arena *a);

#endif
