/**
 * remote_action.h - converts an action to an Action of the Remote Execution API
 *
 * The input root has one folder, "w", in which the worker starts wheelsmith-exec. Beside that
 * program are the order (engine/remote_order.h), trees and tools in "in", and files in "job":
 * stored ones, and outputs that another action left on the farm. Equal actions are equal
 * messages, so a farm runs equal requests once. The salt contains the tool's fingerprint. Only
 * creates messages; blobs.h sends them.
 *
 * A folder is a Directory message with the names and digests of its entries, so equal folders
 * are one message. Messages and files are collected in a list of items, each once.
 */
#ifndef WS_REMOTE_REMOTE_ACTION_H
#define WS_REMOTE_REMOTE_ACTION_H

#include "engine/runner.h"
#include "remote/server.h"

struct ws_entry;

/** Zeroed except for the arena, it is empty. */
struct ws_directories {
	struct ws_arena *a;
	WS_VEC(struct ws_item) items; /**< messages and files, each once */
	struct ws_map known;          /**< digest -> in `items` already */
};

/* ---- actions ---- */

/** Data of all actions of a farm. */
struct ws_remote_actions {
	const struct ws_store *store;
	const char *const *properties; /**< "NAME=VALUE" */
	size_t property_count;
	const struct ws_entry *helper;
	struct ws_directories trees; /**< trees and the helper, sent once a run */
	struct ws_map folders;       /**< digest of a tree -> struct ws_entry of its folder */
	/** Digest -> uint64_t, bytes: outputs of transient actions, which are on the farm only. */
	struct ws_map kept_there;
};

/** @a helper: path of wheelsmith-exec. */
bool ws_remote_actions_open(
	struct ws_remote_actions *all, const char *helper, struct ws_arena *a, struct ws_err *err);

/** True if the action may run on another host. */
bool ws_remote_action_can(const struct ws_action *action);

struct ws_remote_action {
	const char *digest; /**< of the message */
	uint64_t size_bytes;
	const char *order; /**< digest of its order; NULL: of a query */
};

/** The action that asks a worker for a description of its host (WS_REMOTE_PROBE) or, without @a
 * whole, about names only. @a names: one a line. Never answered from a cache. */
void ws_remote_action_probe(const struct ws_remote_actions *all, bool whole,
	const struct ws_buf *names, struct ws_directories *own, struct ws_remote_action *made);

/** The Action of a job. Its own items go into @a own, in that arena. False: a stored file is
 * missing. */
bool ws_remote_action_make(struct ws_remote_actions *all, const struct ws_job *job,
	struct ws_directories *own, struct ws_remote_action *made, struct ws_err *err);

#endif
