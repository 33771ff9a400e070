/* term.c - carriage return, text, erase to the end of the line (ECMA-48 EL). */
#include "sys/term.h"

#include "base/utf8.h"

#include <string.h>

static bool
starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80; /* not a UTF-8 continuation byte */
}

unsigned
ws_term_columns(const char *text)
{
	return ws_utf8_columns(text, strlen(text));
}

/* "…" takes three bytes: where fewer are left, it stands a little earlier. */
static void
put_dots(char *text, char *at)
{
	while (at > text && (strlen(at) < 3 || !starts_character(*at))) {
		at--;
	}
	memcpy(at, strlen(at) < 3 ? "." : "…", strlen(at) < 3 ? 2 : 4);
}

void
ws_term_cut(char *text, unsigned columns)
{
	if (columns == 0 || ws_term_columns(text) <= columns) {
		return;
	}
	unsigned seen = 0;
	for (char *c = text; *c;) {
		size_t len = ws_utf8_len(c, strnlen(c, 4));
		len = len ? len : 1;
		seen += ws_utf8_columns(c, len);
		if (seen >= columns) {
			put_dots(text, c);
			return;
		}
		c += len;
	}
}

void
ws_term_redraw(const struct ws_out *out, const char *text)
{
	if (!out->redraws) {
		return;
	}
	fprintf(out->err, "\r%s\033[K", text);
	fflush(out->err);
}

void
ws_term_clear(const struct ws_out *out)
{
	ws_term_redraw(out, "");
}
