/**
 * command.h - the commands, one file each: cmd_<name>.c
 *
 * A command parses its options, calls what does the work, and prints. The table of all of them is
 * main.c's.
 */
#ifndef WS_CLI_COMMAND_H
#define WS_CLI_COMMAND_H

#include "cli/session.h"

/** One row of main.c's table. */
struct ws_command {
	const char *name;
	ws_command_run_fn run;
	const char *help; /**< one line; NULL: not listed */
	bool resumes;     /**< after Ctrl-C the same command continues where it ended */
};

bool ws_cmd_build(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_cache(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_doctor(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_explain(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_fetch(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_inspect(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_lock(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_plan(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_publish(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_shell(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_verify(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_internal(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_recipe(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/**
 * Parses the options of a command, common ones included. True: go on. False: help was printed, or
 * the usage was all that was wanted, and @a err is empty (kind WS_ERR_NONE); or @a err says what is
 * wrong.
 */
bool ws_command_options(struct ws_session *s, struct ws_usage *usage, int argc,
	const char *const *argv, ws_words *words, struct ws_err *err);

#endif
