/**
 * command_rules.h - which names and words may reach a command line
 *
 * nvcc hands its own words to a shell (measured with 13.0), so a file named "k$(id).cu" would be
 * a command. Names are held to a plain alphabet before anything runs; a recipe's flags may not hold
 * what a shell, or our own engine, would replace. Flags that a recipe may not set at all are
 * config/recipe_parts.c's.
 */
#ifndef WS_RECIPE_COMMAND_RULES_H
#define WS_RECIPE_COMMAND_RULES_H

#include "model/machine.h"

/** The letters of a plain name, for messages. */
#define WS_PLAIN_LETTERS "letters, digits and _ + - . /"

/** True if the name has only these letters and does not begin like an option. */
bool ws_name_is_plain(const char *name);

/**
 * False for a folder that nvcc cannot work below: its commands would hold , " $ ` or a backslash.
 * The store's path becomes part of them by TMPDIR.
 */
bool ws_path_suits_nvcc(const char *path);

/** The tool that gets the words. */
enum ws_flag_tool {
	WS_FLAG_CXX,
	WS_FLAG_NVCC,
	WS_FLAG_LINK,
};

/**
 * Why word @a index of a list cannot be a flag, and what to write instead; NULL when it can.
 * Refuses tokens of the engine ("{work}"), words of nvcc that a shell would change, and options
 * that read or write untracked files (compile/ tracks -I, -iquote, -idirafter, -include, -L and
 * -l).
 */
const char *ws_flag_problem(const char *const *words, size_t index, enum ws_flag_tool tool);

/** As above, of words that are for another machine than @a machine: "-mavx2" for aarch64. */
const char *ws_flag_foreign(const char *const *words, size_t index, enum ws_flag_tool tool,
	const struct ws_machine *machine);

/** The word after @a flag is its value: "-Xcompiler", "-include". */
bool ws_flag_takes_value(const char *flag);

#endif
