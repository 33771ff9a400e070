/* headers.c - fields off the front of a text. */
#include "base/headers.h"

#include <string.h>

/* A field with its continued lines, without its last line break. */
static struct ws_str
cut_field(struct ws_headers *h)
{
	struct ws_str *rest = &h->rest;
	struct ws_str field = {rest->s, 0};
	for (h->lines = 1;; h->lines++) {
		const char *end = memchr(field.s + field.n, '\n', rest->n - field.n);
		if (!end) {
			field.n = rest->n;
			*rest = (struct ws_str){NULL, 0};
			return field;
		}
		field.n = (size_t)(end - field.s);
		if (field.n + 1 >= rest->n || (end[1] != ' ' && end[1] != '\t')) {
			rest->s += field.n + 1;
			rest->n -= field.n + 1;
			return field;
		}
		field.n++;
	}
}

static bool
is_at_end(struct ws_str rest)
{
	return rest.n == 0 || rest.s[0] == '\n'
		|| (rest.s[0] == '\r' && (rest.n == 1 || rest.s[1] == '\n'));
}

bool
ws_headers_next(struct ws_headers *headers, struct ws_header *field)
{
	if (is_at_end(headers->rest)) {
		struct ws_str *rest = &headers->rest;
		ws_str_cut(rest, '\n');
		return false;
	}
	headers->line += headers->lines ? headers->lines : 1;
	struct ws_str value = cut_field(headers);
	struct ws_str name = ws_str_cut(&value, ':');
	*field = (struct ws_header){{NULL, 0}, ws_str_trim(name)};
	if (value.s) {
		*field = (struct ws_header){name, ws_str_trim(value)};
	}
	return true;
}
