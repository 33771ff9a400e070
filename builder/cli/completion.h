/**
 * completion.h - scripts by which shells complete our command lines
 *
 * Made from the option tables, so that no option is forgotten: the files in completions/ are what
 * `wheelsmith internal completion SHELL` prints. What only the moment knows (the cells of a matrix,
 * the recipes there are) a script asks for with `wheelsmith internal complete TOPIC WORDS...`, where
 * WORDS are the command line so far; see complete.c for the topics.
 */
#ifndef WS_CLI_COMPLETION_H
#define WS_CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/command.h"

/** How a value can be completed. */
enum ws_value_kind {
	WS_VALUE_ANY, /**< not at all */
	WS_VALUE_FILES,
	WS_VALUE_FOLDERS,
	WS_VALUE_WORDS, /**< with `words` */
	WS_VALUE_ASK,   /**< by asking for the topic `words` */
};

struct ws_value {
	enum ws_value_kind kind;
	const char *words; /**< separated by blanks, or a topic; NULL with the other kinds */
};

/** What stands after "wheelsmith". */
struct ws_completed {
	const char *name; /**< "build", "recipe check"; "" for options before the command */
	const char *help; /**< one line; NULL for "" and for parts of a command */
	const struct ws_option *options;
	size_t option_count;
	const struct ws_command *parts; /**< commands that come next */
	size_t part_count;
	struct ws_value words; /**< what is no option */
};

struct ws_completions {
	WS_VEC(struct ws_completed) at; /**< the first is "" */
	const struct ws_option *common; /**< after every command, and before */
	size_t common_count;
};

/** From main.c's table, by asking every command for its usage. */
void ws_completion_collect(struct ws_session *s, struct ws_completions *all);

/** What the value of an option is. */
struct ws_value ws_completion_value(const struct ws_option *option, struct ws_arena *a);

/** The scripts. */
void ws_completion_bash(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out);
void ws_completion_zsh(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out);
void ws_completion_fish(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out);

/** Prints what a value of @a topic may be after the words @a argv, one a line. */
bool ws_complete_print(
	struct ws_session *s, const char *topic, int argc, const char *const *argv, struct ws_err *err);

#endif
