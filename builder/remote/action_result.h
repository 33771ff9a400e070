/**
 * action_result.h - a text as an ActionResult of the Remote Execution API (v2)
 *
 * A record of ours must be something that servers of that protocol and caches of Bazel's take: a
 * serialised ActionResult, under the digest of an Action. The Action is one that nobody runs
 * ("wheelsmith-record", kind, key); the text is the result's stdout_raw, and the files it speaks of
 * are its output files, so that a server that checks whether results are complete keeps or drops
 * them together. Pure.
 * https://github.com/bazelbuild/remote-apis, remote_execution.proto
 */
#ifndef WS_REMOTE_ACTION_RESULT_H
#define WS_REMOTE_ACTION_RESULT_H

#include "base/buf.h"
#include "base/digest.h"
#include "store/shared_entries.h"

/** The digest of the Action of a record. Where not NULL, @a command and @a action get what it
 * consists of. */
struct ws_digest ws_action_result_key(
	const char *kind, const char *key, struct ws_buf *command, struct ws_buf *action);

/** Appends the message of @a text, which speaks of @a files. */
void ws_action_result_write(struct ws_str text, const struct ws_shared_file *files,
	size_t file_count, struct ws_buf *message);

/** The text and its files, in @a a; false: not such a message, or one without a text. */
bool ws_action_result_read(struct ws_str message, struct ws_arena *a, struct ws_str *text,
	struct ws_shared_file **files, size_t *file_count);

#endif
