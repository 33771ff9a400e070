/**
 * deliver.h - the output folder: wheels, build.json, requirements, logs
 *
 * Wheels are copied, never linked, out of the store, and appear in one step. build.json has a
 * record of every cell, requirements.txt pins the wheels, logs/ has the output of commands.
 */
#ifndef WS_DIST_DELIVER_H
#define WS_DIST_DELIVER_H

#include "make/products.h"

/** Makes the output folder and proves that it can be written. */
bool ws_deliver_open(const char *output, struct ws_err *err);

/**
 * WS_ERR_CONFIG when two wheels of the store with different bytes have one name; names their cells.
 * Call it before any copy.
 */
bool ws_deliver_may(
	const struct ws_context *ctx, const struct ws_supplies *supplies, struct ws_err *err);

/**
 * Copies the wheel of a product whose actions are done, settles its supply, emits an event for each
 * of its cells, and records their wheel in the store under the pins of @a lock.
 */
bool ws_deliver_product(const struct ws_context *ctx, const struct ws_lock *lock,
	const char *output, const struct ws_made *made, struct ws_err *err);

/** The same with the wheel that the store has for the product of @a supply, without a build. */
bool ws_deliver_stored(
	const struct ws_context *ctx, const char *output, struct ws_supply *supply, struct ws_err *err);

/** The same with a prebuilt wheel in the store: byte for byte under its own name. */
bool ws_deliver_prebuilt(const struct ws_context *ctx, const char *output, struct ws_supply *supply,
	const struct ws_candidate *wheel, struct ws_err *err);

/** The name of each node's log, which no other node of its cell has, in the order of the nodes. */
const char *const *ws_deliver_log_names(const struct ws_graph *graph, struct ws_arena *a);

/** Copies the log of a node to logs/<cell>/<name>; @a path is where, relative to where we run. */
bool ws_deliver_log(const struct ws_context *ctx, const char *output, const struct ws_node *node,
	const char *name, const char **path, struct ws_err *err);

/** The digest of a file in the output folder; an unchanged file is not read again. */
bool ws_deliver_digest(const struct ws_context *ctx, const char *path, struct ws_digest *digest);

/**
 * Writes build.json and requirements*.txt, with the wheels of earlier runs that are still there.
 * May be called at any time in a run. While another run writes its own this one @a waits, for
 * minutes (then WS_ERR_IO) or until it is to stop; else nothing is written this time.
 */
bool ws_deliver_records(const struct ws_context *ctx, const char *output,
	const struct ws_build_result *result, bool waits, struct ws_err *err);

/** The requirements file that lists the wheel of a cell; NULL: none. */
const char *ws_deliver_requirements(
	const char *output, const struct ws_cell_result *cell, struct ws_arena *a);

/**
 * compile_commands.json for editors, with folders of links below compile/ in which the commands of
 * a product make sense.
 */
bool ws_deliver_compile_commands(const struct ws_context *ctx, const char *output,
	const struct ws_made *made, size_t count, struct ws_err *err);

#endif
