/**
 * options.h - command lines by table
 *
 * A command describes its options in rows; this parses them, converts values, suggests what was
 * meant, and prints `--help`, which fits a screen of 80 by 24. popt is behind options.c.
 */
#ifndef WS_CLI_OPTIONS_H
#define WS_CLI_OPTIONS_H

#include "base/err.h"
#include "base/out.h"
#include "base/vec.h"

#include <stdint.h>

enum ws_option_kind {
	WS_OPTION_FLAG,    /**< bool *: set to true */
	WS_OPTION_COUNT,   /**< unsigned *: one more for each */
	WS_OPTION_TEXT,    /**< const char ** */
	WS_OPTION_NUMBER,  /**< unsigned *: at least 1 */
	WS_OPTION_SIZE,    /**< uint64_t *, bytes: "8G", "512M" */
	WS_OPTION_SECONDS, /**< uint64_t *, milliseconds: "90", "10m", "2h" */
	WS_OPTION_LIST,    /**< ws_words *: may stand more than once */
};

typedef WS_VEC(const char *) ws_words;

struct ws_option {
	const char *name; /**< "matrix" */
	char letter;      /**< 'o'; 0: none */
	enum ws_option_kind kind;
	void *value;
	const char *argument; /**< "FILE"; NULL for flags and counts */
	const char *help;     /**< one line; NULL: not listed */
};

/** What a command accepts. */
struct ws_usage {
	const char *command;  /**< "build" */
	const char *synopsis; /**< lines after "wheelsmith build ", separated by \n */
	const char *summary;  /**< one line */
	const struct ws_option *options;
	size_t option_count;
	const struct ws_option *common; /**< understood as well, listed by `wheelsmith --help` */
	size_t common_count;
	unsigned least, most; /**< how many words that are not options */
	const char *parts;    /**< "check new": words of which one comes first; NULL: none */
};

/** Who wants to know what a command accepts. */
struct ws_usage_taker {
	/** Texts of @a usage live for ever, its rows for the length of the call. */
	void (*take)(struct ws_usage_taker *self, const struct ws_usage *usage);
};

enum ws_options_result {
	WS_OPTIONS_OK,
	WS_OPTIONS_HELP,  /**< --help was asked: print it and be done */
	WS_OPTIONS_ERROR, /**< err says what is wrong, WS_ERR_USAGE */
};

/**
 * Parses @a argv (argv[0] is skipped). Texts are copied to @a a. @a words gets what is not an
 * option. With
 * @a first_word_ends, parsing stops at the first of those, and @a words gets it and the rest.
 */
enum ws_options_result ws_options_parse(const struct ws_usage *usage, int argc,
	const char *const *argv, bool first_word_ends, struct ws_arena *a, ws_words *words,
	struct ws_err *err);

/** Prints the help of a command. */
void ws_options_help(const struct ws_usage *usage, const struct ws_out *out);

/** "8G" to bytes, where a unit must stand, "10m" to milliseconds; false for anything else. */
bool ws_options_size(const char *text, uint64_t *bytes);
bool ws_options_duration(const char *text, uint64_t *ms);

#endif
