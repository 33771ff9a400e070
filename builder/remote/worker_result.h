/**
 * worker_result.h - what a worker made, brought home
 *
 * Which files of an ActionResult are fetched, and what they say: the report (engine/remote_order.h)
 * becomes a struct ws_done, outputs and log enter the store. Nothing a worker says is believed that
 * can be looked at: blobs have the bytes of their digests, and files outside of trees must be what
 * they are on this host, or, for an action with a platform, on all of its hosts.
 */
#ifndef WS_REMOTE_WORKER_RESULT_H
#define WS_REMOTE_WORKER_RESULT_H

#include "engine/names.h"
#include "engine/runner.h"
#include "remote/reapi.pb-c.h"
#include "remote/server.h"

typedef WS_VEC(struct ws_item) ws_item_list;

/** Files of one result in a list of items; places in it, 0: there is none (place 0 is nobody's). */
struct ws_worker_result {
	const char *order; /**< digest of the action's order: the report is about it */
	size_t report, log, stderr_text;
	size_t *outputs;                  /**< one for each of the action */
	const Reapi__Digest **kept_there; /**< instead, of a transient action; NULL: not made */
	const char *too_large;            /**< an output that is not fetched for its size; NULL: none */
	bool kept; /**< the farm answered from what it keeps; its caller's, like order */
};

#define WS_LONGEST_REPORT ((size_t)16 << 20) /* a worker may name any size */

/** Adds the output @a path of @a result, a text no longer than that, to below @a dir; its place, 0:
 * there is none. */
size_t ws_worker_result_add_file(const Reapi__ActionResult *result, const char *path,
	const char *dir, struct ws_arena *a, ws_item_list *items);

/** The same of stderr. */
size_t ws_worker_result_add_stderr(
	const Reapi__ActionResult *result, const char *dir, struct ws_arena *a, ws_item_list *items);

/** Adds what is to be fetched, to below @a dir. @a files has what is its caller's. */
void ws_worker_result_list_files(const Reapi__ActionResult *result, const struct ws_job *job,
	const char *dir, struct ws_arena *a, ws_item_list *items, struct ws_worker_result *files);

enum ws_worker_result_state {
	WS_WORKER_RESULT_WHOLE, /**< @a done has all, a failure of the command included */
	WS_WORKER_RESULT_LOST,  /**< a file is not there any more, or not what it should be: again */
	WS_WORKER_RESULT_OTHER_HOST, /**< the worker is another kind of host; @a err says in what */
	WS_WORKER_RESULT_NOT_RUN,    /**< it could not run it; @a err has the worker's words */
	WS_WORKER_RESULT_WRONG,      /**< it ran it and left something else; @a err says what */
};

/** The first line of what the program there said, @a item being its stderr, in @a a. */
const char *ws_worker_first_error(const struct ws_item *item, struct ws_arena *a);

/** The files came, as far as they did. @a names tells what is here. */
enum ws_worker_result_state ws_worker_result_accept(const struct ws_worker_result *files,
	const ws_item_list *items, const struct ws_job *job, const struct ws_store *store,
	struct ws_names *names, struct ws_done *done, struct ws_err *err);

#endif
