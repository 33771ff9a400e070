/**
 * deliver.h - what lands where a user looks
 *
 * Wheels are copied, never linked, out of the store, and appear in one step. build.json tells every
 * cell, requirements.txt pins what lies there, logs/ holds what commands said.
 */
#ifndef WS_DIST_DELIVER_H
#define WS_DIST_DELIVER_H

#include "make/pins.h"
#include "make/products.h"
#include "make/result.h"

/** Makes the output folder and proves that it can be written. */
bool ws_deliver_open(const char *output, struct ws_err *err);

/**
 * Of the wheels that are there already: WS_ERR_CONFIG where two with other bytes have one name,
 * with the cells that want them. To be asked before anything is copied.
 */
bool ws_deliver_may(
	const struct ws_context *ctx, const struct ws_supplies *supplies, struct ws_err *err);

/**
 * Copies the wheel of a product whose actions are done, settles its supply, tells an event for each
 * of its cells, and lets the store remember which wheel they have under the pins of @a lock.
 */
bool ws_deliver_product(const struct ws_context *ctx, const struct ws_lock *lock,
	const char *output, const struct ws_made *made, struct ws_err *err);

/** The same of the wheel that the store remembers for @a supply's product; nothing is built. */
bool ws_deliver_stored(
	const struct ws_context *ctx, const char *output, struct ws_supply *supply, struct ws_err *err);

/** The same of somebody else's wheel, which is in the store: byte for byte under its own name. */
bool ws_deliver_prebuilt(const struct ws_context *ctx, const char *output, struct ws_supply *supply,
	const struct ws_candidate *wheel, struct ws_err *err);

/** The name of each node's log, which no other node of its cell has, in the order of the nodes. */
const char *const *ws_deliver_log_names(const struct ws_graph *graph, struct ws_arena *a);

/** Copies the log of a node to logs/<cell>/<name>; @a path is where, relative to where we run. */
bool ws_deliver_log(const struct ws_context *ctx, const char *output, const struct ws_node *node,
	const char *name, const char **path, struct ws_err *err);

/** What a file in the output folder holds; one that did not change is not read again. */
bool ws_deliver_digest(const struct ws_context *ctx, const char *path, struct ws_digest *digest);

/**
 * build.json and requirements*.txt, with what earlier runs delivered and still lies there. They are
 * written at any time in a run, and say what is there by then. While another run writes its own
 * this one
 * @a waits, for minutes (then WS_ERR_IO) or until it is to stop; else nothing is written this time.
 */
bool ws_deliver_records(const struct ws_context *ctx, const char *output,
	const struct ws_build_result *result, bool waits, struct ws_err *err);

/** The requirements file in which the wheel of a cell stands; NULL: none is there. */
const char *ws_deliver_requirements(
	const char *output, const struct ws_cell_result *cell, struct ws_arena *a);

/**
 * compile_commands.json for editors, with folders of links below compile/ in which the commands of
 * a product make sense.
 */
bool ws_deliver_compile_commands(const struct ws_context *ctx, const char *output,
	const struct ws_made *made, size_t count, struct ws_err *err);

#endif
