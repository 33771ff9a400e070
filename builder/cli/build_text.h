/**
 * build_text.h - the text output of `build`: wheels, failures, summary
 *
 * A wheel is printed when it is packed, a failure when it happens: command, relevant lines of the
 * log, and the cure if one is known. The summary ends with the install command. GitHub's step
 * summary gets a Markdown table.
 */
#ifndef WS_CLI_BUILD_TEXT_H
#define WS_CLI_BUILD_TEXT_H

#include "cli/selecting.h"
#include "produce/run.h"

struct ws_build_text {
	struct ws_session *s;
	const char *output;                   /**< the output folder as the user named it */
	const struct ws_selecting *selecting; /**< for the commands that are printed */
	const struct ws_build_result *result;
	const struct ws_err *last; /**< main.c prints it at the end; may be empty */
	struct ws_map printed;     /**< printed failures, by text: equal ones are printed once */
};

/** One failed action, to the error stream. @a self: a struct ws_build_text. */
void ws_build_text_failure(void *self, const struct ws_failed_action *failed);

/** The path of a wheel that was delivered, to the result stream. */
void ws_build_text_wheel(void *self, const struct ws_supply *supply);

/**
 * Reasons of cells that failed before any command ran, counts, sizes and the install command, to
 * the error stream; a table to the file in GITHUB_STEP_SUMMARY, if set.
 */
void ws_build_text_end(const struct ws_build_text *text);

#endif
