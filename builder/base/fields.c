/* fields.c - writing, and taking apart what may come from a stranger. */
#include "base/fields.h"

#include <string.h>

void
ws_fields_add(struct ws_buf *text, const char *kind, const char *value)
{
	if (value) {
		ws_buf_printf(text, "%s %s", kind, value);
		ws_buf_putc(text, '\0');
	}
}

void
ws_fields_add_pair(struct ws_buf *text, const char *kind, const char *first, const char *second)
{
	ws_buf_printf(text, "%s %s %s", kind, first, second);
	ws_buf_putc(text, '\0');
}

void
ws_fields_add_all(struct ws_buf *text, const char *kind, const char *const *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ws_fields_add(text, kind, values[i]);
	}
}

void
ws_fields_add_number(struct ws_buf *text, const char *kind, uint64_t number)
{
	ws_buf_printf(text, "%s %llu", kind, (unsigned long long)number);
	ws_buf_putc(text, '\0');
}

bool
ws_fields_take(struct ws_str *text, struct ws_arena *a, const char **kind, const char **value)
{
	const char *end = text->n > 0 ? memchr(text->s, '\0', text->n) : NULL;
	if (!end) {
		return false;
	}
	char *field = ws_arena_copy(a, text->s, (size_t)(end - text->s));
	char *blank = strchr(field, ' ');
	if (!blank) {
		return false;
	}
	text->n -= (size_t)(end + 1 - text->s);
	text->s = end + 1;
	*blank = '\0';
	*kind = field;
	*value = blank + 1;
	return true;
}

bool
ws_fields_cut(const char *pair, struct ws_arena *a, const char **first, const char **second)
{
	const char *blank = strchr(pair, ' ');
	*first = blank ? ws_arena_copy(a, pair, (size_t)(blank - pair)) : NULL;
	*second = blank ? blank + 1 : NULL;
	return blank != NULL;
}
