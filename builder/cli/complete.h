/**
 * complete.h - answers to a shell that completes a command line
 *
 * `wheelsmith internal complete -- WORDS` is called by the scripts in completions/; WORDS are the
 * line behind the program's name, the last one half typed. It prints what may stand there, one a
 * line, with a tab and a description where there is one. ":files" and ":folders" leave the rest to
 * the shell.
 */
#ifndef WS_CLI_COMPLETE_H
#define WS_CLI_COMPLETE_H

#include "cli/command.h"

/**
 * Answers from the tables of commands and options and, for values, from the facts, the recipes and
 * the matrix on the line. Prints nothing when it knows nothing.
 */
bool ws_complete(struct ws_session *s, size_t count, const char *const *words, struct ws_err *err);

#endif
