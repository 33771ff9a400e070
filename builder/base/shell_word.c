/* shell_word.c - quotes by list: what is not plainly fine is quoted. */
#include "base/shell_word.h"

#include <string.h>

void
ws_shell_word(struct ws_buf *line, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
	if (word[0] && word[strspn(word, plain)] == '\0') {
		ws_buf_puts(line, word);
		return;
	}
	ws_buf_putc(line, '\'');
	for (; *word; word++) {
		if (*word == '\'') {
			ws_buf_puts(line, "'\\''");
		} else {
			ws_buf_putc(line, *word);
		}
	}
	ws_buf_putc(line, '\'');
}
