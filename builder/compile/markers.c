/* markers.c - a marker is a line "# NUMBER "NAME" FLAGS"; names in < > are no files. */
#include "compile/markers.h"

#include "compile/extension_target.h"

#include <ctype.h>
#include <string.h>

/* How much of @a line stands before a relative name; 0: it is another line. */
static size_t
before_name(struct ws_str line)
{
	size_t at = 2;
	if (line.n < 5 || memcmp(line.s, "# ", 2) != 0) {
		return 0;
	}
	while (at < line.n && isdigit((unsigned char)line.s[at])) {
		at++;
	}
	bool named = at > 2 && at + 2 < line.n && memcmp(line.s + at, " \"", 2) == 0;
	return named && !strchr("/<\"", line.s[at + 2]) ? at + 2 : 0;
}

void
ws_markers_anchor(struct ws_str text, struct ws_buf *out)
{
	while (text.n > 0) {
		const char *end = memchr(text.s, '\n', text.n);
		size_t len = end ? (size_t)(end - text.s) + 1 : text.n;
		size_t before = before_name((struct ws_str){text.s, len});
		ws_buf_add(out, text.s, before);
		if (before > 0) {
			ws_buf_puts(out, WS_SOURCE_ROOT "/");
		}
		ws_buf_add(out, text.s + before, len - before);
		text = (struct ws_str){text.s + len, text.n - len};
	}
}
