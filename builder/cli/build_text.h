/**
 * build_text.h - what `build` says of failures, and when it is done
 *
 * A wheel when it is packed, a failure when it happens, with its command, the lines of its log that
 * matter, and the cure where one is known; at the end how to install the wheels. Also as Markdown
 * for GitHub's step summary.
 */
#ifndef WS_CLI_BUILD_TEXT_H
#define WS_CLI_BUILD_TEXT_H

#include "base/arena.h"
#include "cli/selecting.h"
#include "produce/run.h"

struct ws_build_text {
	const char *output;                   /**< the output folder as the user named it */
	const struct ws_selecting *selecting; /**< for a command that a person may type next */
	const struct ws_build_result *result;
	const struct ws_err *last; /**< printed at the very end, by main.c, not before; may be empty */
	struct ws_map *printed;    /**< failures, to print what is the same for several Pythons once */
};

/** One failed action, to the error stream. */
void ws_build_text_failure(
	struct ws_session *s, const struct ws_build_text *text, const struct ws_failed_action *failed);

/** The path of a wheel that was delivered, to the result stream. */
void ws_build_text_wheel(
	struct ws_session *s, const struct ws_build_text *text, const struct ws_supply *supply);

/** Why cells failed of which nothing was tried, to the error stream. */
void ws_build_text_untried(struct ws_session *s, const struct ws_build_text *text);

/** What it came to and how to install it, to the error stream. */
void ws_build_text_summary(struct ws_session *s, const struct ws_build_text *text);

/** Appends to the file that GITHUB_STEP_SUMMARY names, if any. */
void ws_build_text_github(struct ws_session *s, const struct ws_build_text *text);

#endif
