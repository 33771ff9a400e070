/**
 * options.h - command lines by table
 *
 * A command describes its options in rows. From these come the parser (popt), the conversion of
 * values, suggestions for misspelt names, `--help` in 80 columns, and the completion of shells.
 */
#ifndef WS_CLI_OPTIONS_H
#define WS_CLI_OPTIONS_H

#include "base/arena.h"
#include "base/out.h"

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
	const char *help;     /**< one line */
};

/** Description of a command's arguments. */
struct ws_usage {
	const char *command;  /**< "build" */
	const char *synopsis; /**< lines after "wheelsmith build ", separated by \n */
	const char *summary;  /**< one line */
	const struct ws_option *options;
	size_t option_count;
	const struct ws_option *common; /**< options of all commands; `wheelsmith --help` lists them */
	size_t common_count;
	unsigned least, most; /**< number of arguments that are not options */
	const char *parts;    /**< "check new": one of these words comes first; NULL: none */
};

/** The options of a usage, from an array. */
#define WS_OPTIONS(rows) .options = (rows), .option_count = WS_LEN(rows)

/**
 * Parses @a argv (argv[0] is skipped). Texts are copied to @a a. @a words gets the arguments that
 * are not options. With @a first_word_ends, parsing stops at the first of these, and @a words gets
 * it and the rest. False with WS_ERR_USAGE, or with WS_ERR_NONE: --help is given.
 */
bool ws_options_parse(const struct ws_usage *usage, int argc, const char *const *argv,
	bool first_word_ends, struct ws_arena *a, ws_words *words, struct ws_err *err);

/** Prints the help of a command. */
void ws_options_help(const struct ws_usage *usage, const struct ws_out *out);

/**
 * Prints the completions of the last word of @a argv, one a line, with a tab and a description if
 * there is one: options, the fixed values of an option, the parts of a command. ":files" and
 * ":folders" leave the rest to the shell. argv[0] is the command. True: the last word is the value
 * of an option.
 */
bool ws_options_complete(
	const struct ws_usage *usage, int argc, const char *const *argv, const struct ws_out *out);

/** "8G" to bytes, with a unit; "10m" to milliseconds. False for anything else. */
bool ws_options_size(const char *text, uint64_t *bytes);
bool ws_options_duration(const char *text, uint64_t *ms);

#endif
