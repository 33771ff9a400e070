/**
 * publish_world.h - wheels to publish, and an object store as the target
 *
 * Wheels are support/make_labelled.py's; the store is support/bucket_server.py, a real server on
 * loopback, one for each call. It ends with the test program.
 */
#ifndef WS_TESTS_UNIT_PUBLISH_WORLD_H
#define WS_TESTS_UNIT_PUBLISH_WORLD_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

/** Makes wheels in @a dir, a line each: "demo 1.0 py3-none-any"; NULL ends them. Returns @a dir. */
const char *ws_world_wheels(const char *dir, const char *const *lines);

/** An order to publish the folder @a wheels (NULL: nothing) to @a target at 2026-11-22, 8:00. */
struct ws_index_order ws_world_order(const char *target, const char *wheels, struct ws_arena *a);

/** A store whose objects are files in @a dir. @a fault is one of bucket_server.py's; NULL: none. */
struct ws_bucket ws_world_bucket(const char *dir, const char *fault, struct ws_arena *a);

static inline void
ws_auto_bucket(const struct ws_bucket *b)
{
	ws_http_close(b->http);
}

/** Ends the session of a store with its block. */
#define WS_AUTO_BUCKET __attribute__((cleanup(ws_auto_bucket)))

/** The object as the store has it; NULL: there is none. */
const char *ws_world_object(const char *dir, const char *key, struct ws_arena *a);

/** Puts an object behind the back of who publishes. */
void ws_world_put(const char *dir, const char *key, const char *text, struct ws_arena *a);

/** The file with this text, as an object to put. */
struct ws_object ws_world_file(const char *key, const char *text, struct ws_arena *a);

#endif
