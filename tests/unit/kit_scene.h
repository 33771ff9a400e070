/**
 * kit_scene.h - a store, an index on loopback and what a command lends, for tests of kit/
 */
#ifndef WS_TESTS_UNIT_KIT_SCENE_H
#define WS_TESTS_UNIT_KIT_SCENE_H

#include "fetch/fetch.h"
#include "net/index_config.h"
#include "served.h"

struct ws_scene {
	struct ws_served served;
	struct ws_store store;
	struct ws_fetch fetch;
	struct ws_index_config indexes;
	struct ws_index_choice choices[2];
	struct ws_events events;
	struct ws_sink sink;  /* counts what is reported */
	const char *warnings; /* one a line */
	const char *ready;    /* details of kits, one a line */
	struct ws_arena *a;
	struct ws_err err;
};

/** @a s stays where it is. Its index is "/simple" of the server. */
void ws_scene_begin(struct ws_scene *s, struct ws_arena *a);
void ws_scene_end(struct ws_scene *s);

/** Declares @a s and begins it, until the end of the block. */
#define WS_SCENE(s, a) \
	__attribute__((cleanup(ws_scene_end))) struct ws_scene s; \
	ws_scene_begin(&s, a)

/** Another index for this role ("default", "torch"); "/~norange/simple" is one of the server's. */
void ws_scene_set_index(struct ws_scene *s, const char *role, const char *url);

/** Runs a script of tests/support with these arguments, NULL-terminated; returns what it
 * printed. */
const char *ws_scene_run(struct ws_scene *s, const char *script, ...) __attribute__((sentinel));

/** How many files and folders lie in the store's partial/. */
unsigned ws_scene_partials(const struct ws_scene *s);

#endif
