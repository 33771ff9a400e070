/**
 * publish_options.h - what `wheelsmith publish` is asked for, and which of it goes together
 *
 * The options are checked before anything is opened: each is for some kinds of index alone, and
 * none is dropped in silence. Pure.
 */
#ifndef WS_CLI_PUBLISH_OPTIONS_H
#define WS_CLI_PUBLISH_OPTIONS_H

#include "cli/options.h"

/** Where an index is. */
enum ws_publish_place {
	WS_PUBLISH_FOLDER = 1, /**< a folder */
	WS_PUBLISH_STORE = 2,  /**< s3://BUCKET/PREFIX */
	WS_PUBLISH_SERVER = 4, /**< http(s)://... */
};

/** As the command line has it: NULL, false and 0 where it has not. */
struct ws_publish_options {
	const char *to, *key, *trust, *yank, *unyank, *reason, *roll_back, *new_key, *login, *check_url,
		*title;
	unsigned valid_days, keep;
	bool force, verify, variants, sign_unsigned;
	ws_words sources, gpu_checks;
	enum ws_publish_place place; /**< of `to`; set by the check, not with --new-key */
};

/** False with WS_ERR_USAGE: one line, and what to do about it. */
bool ws_publish_options_check(
	struct ws_publish_options *options, struct ws_arena *a, struct ws_err *err);

#endif
