/**
 * action_result.h - a text as an ActionResult of the Remote Execution API (v2)
 *
 * A record of ours must be something that servers of that protocol and caches of Bazel's take: a
 * serialised ActionResult, under the digest of an Action. The Action is one that nobody runs
 * ("wheelsmith-record", kind, key); the text is the result's stdout_raw, and the files it speaks of
 * are its output files, so that a server that checks whether results are complete keeps or drops
 * them together. Only the fields that are used; others are skipped. Pure.
 * https://github.com/bazelbuild/remote-apis, remote_execution.proto
 */
#ifndef WS_REMOTE_ACTION_RESULT_H
#define WS_REMOTE_ACTION_RESULT_H

#include "base/buf.h"
#include "base/digest.h"

/** The digest of the Action of a record. */
struct ws_digest ws_action_result_key(const char *kind, const char *key);

/** Appends a file that the text speaks of. */
void ws_action_result_add_file(struct ws_buf *message, const char *digest, uint64_t size_bytes);

/** Appends the text, last. */
void ws_action_result_add_text(struct ws_buf *message, struct ws_str text);

/** The text; false: not such a message, or one without a text. Borrows from @a message. */
bool ws_action_result_text(struct ws_str message, struct ws_str *text);

#endif
