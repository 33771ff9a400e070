/**
 * remote_action.h - an action of ours as an Action of the Remote Execution API
 *
 * The input root has one folder, "w", in which the worker starts wheelsmith-exec: beside that
 * program lie the order (engine/remote_order.h), trees and tools in "in", and files in "job":
 * stored ones, and what another action left on the farm. Equal actions are equal messages, so a
 * farm knows them again: whoever asks for the same at the same time waits for the same run. The
 * salt has the tool's fingerprint. Makes messages only; blobs.h sends them.
 */
#ifndef WS_REMOTE_REMOTE_ACTION_H
#define WS_REMOTE_REMOTE_ACTION_H

#include "engine/runner.h"
#include "remote/directories.h"

/** What all actions of a farm have in common, and the trees that were listed. */
struct ws_remote_actions {
	const struct ws_store *store;
	const char *const *properties; /**< "NAME=VALUE" */
	size_t property_count;
	struct ws_entry helper;
	struct ws_directories trees; /**< with the helper: what is sent once a run */
	struct ws_map folders;       /**< digest of a tree -> struct ws_entry of its folder */
	/** Digest -> uint64_t, bytes: outputs of transient actions. They are there alone. */
	struct ws_map kept_there;
};

/** @a helper: path of wheelsmith-exec. */
bool ws_remote_actions_open(
	struct ws_remote_actions *all, const char *helper, struct ws_arena *a, struct ws_err *err);

/** True for one that may run on another host. */
bool ws_remote_action_can(const struct ws_action *action);

struct ws_remote_action {
	const char *digest; /**< of the message */
	uint64_t size_bytes;
	const char *order; /**< digest of its order; NULL: of a probe */
};

/** An action that asks a worker what it is (WS_REMOTE_PROBE), or, not @a whole, about names
 * alone. @a names is the file of names. It is never answered from a cache. */
void ws_remote_action_probe(const struct ws_remote_actions *all, bool whole,
	const struct ws_buf *names, struct ws_directories *own, struct ws_remote_action *made);

/** What is of this one alone goes into @a own, in its arena. False: a stored file is missing. */
bool ws_remote_action_make(struct ws_remote_actions *all, const struct ws_job *job,
	struct ws_directories *own, struct ws_remote_action *made, struct ws_err *err);

#endif
