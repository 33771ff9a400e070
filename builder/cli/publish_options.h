/**
 * publish_options.h - the options of `wheelsmith publish`, and which of them go together
 *
 * All are checked before anything is opened. An option that does not apply to the given index is an
 * error. Pure.
 */
#ifndef WS_CLI_PUBLISH_OPTIONS_H
#define WS_CLI_PUBLISH_OPTIONS_H

#include "cli/options.h"

/** Values of the command line; NULL, false and 0 for absent ones. */
struct ws_publish_options {
	const char *to, *key, *trust, *yank, *unyank, *reason, *roll_back, *new_key, *login, *title;
	unsigned valid_days, keep;
	bool force, verify, variants, sign_unsigned;
	ws_words sources, gpu_checks;
	bool to_store; /**< `to` is s3://BUCKET/PREFIX, not a folder; set by the check */
};

/** False with WS_ERR_USAGE. */
bool ws_publish_options_check(
	struct ws_publish_options *options, struct ws_arena *a, struct ws_err *err);

#endif
