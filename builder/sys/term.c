/* term.c - carriage return, text, erase to the end of the line (ECMA-48 EL). */
#include "sys/term.h"

#include <string.h>

static bool
starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80; /* not a UTF-8 continuation byte */
}

unsigned
ws_term_columns(const char *text)
{
	unsigned columns = 0;
	for (; *text; text++) {
		columns += starts_character(*text);
	}
	return columns;
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
	for (char *c = text; *c; c++) {
		seen += starts_character(*c);
		if (seen == columns && starts_character(*c)) {
			put_dots(text, c);
			return;
		}
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
