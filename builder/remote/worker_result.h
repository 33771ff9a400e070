/**
 * worker_result.h - fetches and checks the result of an action from a worker
 *
 * Lists the files of an ActionResult to fetch. Then the report (engine/remote_order.h) becomes a
 * struct ws_done, and outputs and log enter the store. Everything is verified where possible:
 * files by their digests, and files outside of trees by those of this host or, for an action of
 * workers, by the reports of all workers.
 */
#ifndef WS_REMOTE_WORKER_RESULT_H
#define WS_REMOTE_WORKER_RESULT_H

#include "engine/names.h"
#include "engine/runner.h"
#include "remote/reapi.pb-c.h"
#include "remote/server.h"

typedef WS_VEC(struct ws_item) ws_item_list;

/** The files of one result, as indexes in a list of items; index 0 means "none". */
struct ws_worker_result {
	const char *order; /**< digest of the action's order, which its report must name */
	size_t report, log, stderr_text;
	size_t *outputs; /**< one for each output of the action */
	const Reapi__Digest **
		kept_there; /**< for a transient action, instead: outputs that stay on the farm; NULL: missing */
	const char *too_large; /**< an output above the size limit; NULL: none */
	/* Set by the caller, like order: */
	bool kept;          /**< the farm returned a cached result */
	bool may_run_again; /**< it is cached, and the action can run again instead */
};

#define WS_LONGEST_REPORT ((size_t)16 << 20) /* a worker may report any size */

/** Adds the output @a path (NULL: stderr) of @a result to the list, to be fetched below @a dir; its
 * index, 0: missing or too large for a text. */
size_t ws_worker_result_add_file(const Reapi__ActionResult *result, const char *path,
	const char *dir, struct ws_arena *a, ws_item_list *items);

/** Adds all files to fetch, below @a dir. The caller has set its members of @a files. */
void ws_worker_result_list_files(const Reapi__ActionResult *result, const struct ws_job *job,
	const char *dir, struct ws_arena *a, ws_item_list *items, struct ws_worker_result *files);

enum ws_worker_result_state {
	WS_WORKER_RESULT_WHOLE,      /**< @a done is complete, also after a failure of the command */
	WS_WORKER_RESULT_LOST,       /**< a file is missing, or does not match its digest: run again */
	WS_WORKER_RESULT_OTHER_HOST, /**< the worker's files differ; @a err names one */
	WS_WORKER_RESULT_NOT_RUN,    /**< the worker could not run it; @a err has its message */
	WS_WORKER_RESULT_WRONG, /**< an output is missing, too large, or cannot be stored; @a err names it */
};

/** The first line of the worker's stderr, @a item, in @a a. */
const char *ws_worker_first_error(const struct ws_item *item, struct ws_arena *a);

/** Called when the files were fetched, as far as possible. @a names is for files of this host. */
enum ws_worker_result_state ws_worker_result_accept(const struct ws_worker_result *files,
	const ws_item_list *items, const struct ws_job *job, const struct ws_store *store,
	struct ws_names *names, struct ws_done *done, struct ws_err *err);

#endif
