/* rows.c - keeping rows, and filling their texts. Printing is page.c's and json.c's. */
#include "doctor/rows.h"

#include "base/text.h"
#include "report/format.h"

#include <stdarg.h>

static struct ws_row *
push(struct ws_rows *rows, const char *at, const char *text)
{
	struct ws_row *row = ws_vec_push(&rows->at, rows->a);
	*row = (struct ws_row){.part = rows->part, .at = at, .text = text};
	return row;
}

struct ws_row *
ws_rows_add(struct ws_rows *rows, const char *at, const char *text, const char *names, ...)
{
	struct ws_row *row = push(rows, at, text);
	struct ws_str rest = ws_str_of(names);
	va_list values;
	va_start(values, names);
	while (rest.s) {
		struct ws_row_value *value = ws_vec_push(&row->values, rows->a);
		value->name = ws_str_copy(ws_str_cut(&rest, ' '), rows->a);
		struct ws_str conversion = ws_str_cut(&rest, ' ');
		value->type = conversion.s[conversion.n - 1];
		switch (value->type) {
		case 's':
			value->text = va_arg(values, const char *);
			break;
		case 'd':
			value->number = va_arg(values, int) != 0;
			break;
		case 'u':
			value->number = va_arg(values, uintmax_t);
			break;
		case 'p':
			value->list = va_arg(values, const void *);
			value->number = va_arg(values, size_t);
			ws_str_cut(&rest, ' ');
			break;
		}
	}
	va_end(values);
	return row;
}

void
ws_rows_list(struct ws_rows *rows, const char *at)
{
	push(rows, at, NULL);
}

void
ws_rows_note(struct ws_rows *rows, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	push(rows, NULL, ws_arena_vprintf(rows->a, format, values));
	va_end(values);
}

void
ws_rows_problem(
	struct ws_rows *rows, enum ws_row_problem problem, const char *cure, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	struct ws_row *row = push(rows, NULL, ws_arena_vprintf(rows->a, format, values));
	va_end(values);
	row->problem = problem;
	row->cure = cure ? ws_arena_printf(rows->a, "%s\n", cure) : NULL;
}

const char *
ws_rows_cure(const struct ws_rows *rows, const struct ws_err *err)
{
	struct ws_err worded = *err;
	rows->word(rows->self, &worded);
	return ws_arena_strdup(rows->a, worded.cure);
}

void
ws_rows_problem_err(struct ws_rows *rows, enum ws_row_problem problem, const struct ws_err *err)
{
	const char *cure = ws_rows_cure(rows, err);
	ws_rows_problem(
		rows, problem, NULL, "%s%s%s", err->place, err->place[0] ? ": " : "", err->text);
	rows->at.at[rows->at.len - 1].cure = cure;
}

size_t
ws_rows_count(const struct ws_rows *rows, enum ws_row_problem problem)
{
	size_t count = 0;
	for (size_t i = 0; i < rows->at.len; i++) {
		count += rows->at.at[i].problem == problem;
	}
	return count;
}

/* ---- texts ---- */

/* False when there is nothing to show. */
static bool
put_value(
	const struct ws_row_value *value, struct ws_str form, const char *home, struct ws_buf *out)
{
	char size[WS_FORMAT_BYTES];
	if (value->type == 's' && value->text) {
		size_t len = home ? strlen(home) : 0;
		bool below = len > 1 && strncmp(value->text, home, len) == 0 && value->text[len] == '/';
		ws_buf_printf(out, "%s%s", below ? "~" : "", value->text + (below ? len : 0));
		return value->text[0];
	}
	for (size_t i = 0; value->type == 'p' && i < value->number; i++) {
		ws_buf_printf(out, "%s%s", i > 0 ? ", " : "", value->list[i]);
	}
	if (value->type == 'u' && form.n > 0) {
		ws_buf_puts(out,
			ws_str_is(form, "size") ? ws_format_size(value->number, size)
									: ws_format_memory(value->number, size));
	} else if (value->type == 'u') {
		ws_buf_printf(out, "%ju", (uintmax_t)value->number);
	}
	return value->number > 0;
}

/* What stands between braces. False when there is no such value. */
static bool
put_named(const struct ws_row *row, struct ws_str word, const char *home, uint64_t *count,
	struct ws_buf *out)
{
	struct ws_str other = word, form = ws_str_cut(&other, '|');
	struct ws_str name = ws_str_cut(&form, ':');
	size_t before = out->len;
	uint64_t width = 0;
	bool found = ws_str_is(name, "s");
	if (found) {
		ws_buf_puts(out, *count == 1 ? "" : "s");
	}
	for (size_t i = 0; i < row->values.len && !found; i++) {
		if (ws_str_is(name, row->values.at[i].name)) {
			found = put_value(&row->values.at[i], form, home, out);
			*count = row->values.at[i].number;
		}
	}
	if (!found && other.s) {
		ws_buf_cut(out, before);
		ws_buf_add(out, other.s, other.n);
	}
	if (ws_str_to_u64(form, &width) && out->len - before < width) {
		ws_buf_printf(out, "%*s", (int)(width - (out->len - before)), "");
	}
	return found;
}

static bool
fill(const struct ws_row *row, struct ws_str text, const char *home, struct ws_buf *out)
{
	uint64_t count = 0;
	bool all = true;
	while (text.s && text.n > 0) {
		char c = text.s[0];
		size_t before = out->len;
		text = (struct ws_str){text.s + 1, text.n - 1};
		if (c == '{') {
			all = put_named(row, ws_str_cut(&text, '}'), home, &count, out) && all;
		} else if (c != '[') {
			ws_buf_putc(out, c);
		} else if (!fill(row, ws_str_cut(&text, ']'), home, out)) {
			ws_buf_cut(out, before);
		}
	}
	return all;
}

const char *
ws_row_shown(const struct ws_rows *rows, const struct ws_row *row)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (row->values.len == 0 || !row->text) {
		return row->text;
	}
	fill(row, ws_str_of(row->text), rows->home, &text);
	return ws_buf_copy(&text, rows->a);
}
