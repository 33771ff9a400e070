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

#include "base/arena.h"
#include "engine/runner.h"
#include "remote/server.h"
#include "store/tree.h"

enum ws_entry_kind {
	WS_ENTRY_FILE,
	WS_ENTRY_EXECUTABLE,
	WS_ENTRY_LINK,
	WS_ENTRY_FOLDER, /**< whose message is made already */
};

/** Something in a folder. */
struct ws_entry {
	const char *path; /**< relative, '/' between parts */
	const char
		*value; /**< 64 digits of the file or of the folder's message; the target of a link */
	uint64_t size_bytes; /**< of the file or the message */
	enum ws_entry_kind kind;
};

/** Zeroed but for the arena, it is empty. */
struct ws_directories {
	struct ws_arena *a;
	WS_VEC(struct ws_item) items; /**< messages and files, each once */
	struct ws_map known;          /**< digest -> listed already */
};

/** The message of a folder with these; sorts them. The entry of it has no path. */
struct ws_entry ws_directories_add(
	struct ws_directories *d, struct ws_entry *entries, size_t count);

/** The same of a tree, and its files; no file is looked at. */
struct ws_entry ws_directories_add_tree(struct ws_directories *d, const struct ws_tree *tree);

/** Lists bytes, which are copied, or the file at @a path. */
void ws_directories_add_bytes(
	struct ws_directories *d, const struct ws_buf *bytes, struct ws_digest *digest);
void ws_directories_add_file(
	struct ws_directories *d, const char *path, const char *digest, uint64_t size_bytes);

/* ---- actions ---- */

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
