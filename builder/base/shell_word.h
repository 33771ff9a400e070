/**
 * shell_word.h - words as a POSIX shell reads them, for people who paste
 *
 * Command lines in messages and scripts. The program itself never starts a shell.
 */
#ifndef WS_BASE_SHELL_WORD_H
#define WS_BASE_SHELL_WORD_H

#include "base/buf.h"

/** Appends @a word, in single quotes where it needs them. */
void ws_shell_word(struct ws_buf *line, const char *word);

#endif
