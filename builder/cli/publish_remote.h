/**
 * publish_remote.h - `wheelsmith publish --to https://...` and `s3://...`: wheels to a server
 *
 * Logins are read here and go to the HTTP session: no argument, message or report has them.
 */
#ifndef WS_CLI_PUBLISH_REMOTE_H
#define WS_CLI_PUBLISH_REMOTE_H

#include "cli/command.h"
#include "publish/bucket/stored.h"

struct ws_publish_remote {
	const char *to;    /**< "https://host/legacy/" */
	const char *login; /**< file: user and password, a line each, or one line, a token; or NULL */
	const char *check_url; /**< simple index of that server; NULL: guessed */
	const ws_words *sources, *gpu_checks;
	bool force;
};

/** Prints what was done. */
bool ws_publish_remote(
	struct ws_session *s, const struct ws_publish_remote *order, struct ws_err *err);

/**
 * As ws_index_publish, for "s3://BUCKET/PREFIX". Endpoint, region and key come from the variables
 * of AWS's tools (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, ...); with the file @a login,
 * key and secret are its two lines.
 */
bool ws_publish_stored(struct ws_session *s, const struct ws_index_order *order, const char *login,
	struct ws_index_outcome *outcome, struct ws_err *err);

#endif
