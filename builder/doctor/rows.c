/* rows.c - keeps rows, fills their texts, and prints them as a page or as JSON. */
#include "doctor/rows.h"

#include "base/table.h"
#include "report/format.h"
#include "report/page.h"

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

/* Adds the value named between braces. False when it is missing. */
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

/* ---- the page ---- */

/* Returns the first row of the next part. */
static size_t
print_part(struct ws_page *page, const struct ws_rows *rows, size_t first)
{
	const struct ws_row *at = rows->at.at;
	size_t end = first;
	ws_page_label(page, at[first].part);
	while (end < rows->at.len && at[end].part == at[first].part) {
		end++;
	}
	for (int last = 0; last < 2; last++) {
		for (size_t i = first; i < end; i++) {
			if (at[i].text && (at[i].problem > WS_PROBLEM_HINT) == last) {
				static const enum ws_page_mark marks[] = {
					WS_PAGE_PLAIN, WS_PAGE_ADVICE, WS_PAGE_ADVICE, WS_PAGE_WRONG, WS_PAGE_WRONG};
				struct ws_str text = ws_str_of(ws_row_shown(rows, &at[i])),
							  cure = ws_str_of(at[i].cure);
				while (text.s) {
					struct ws_str line = ws_str_cut(&text, '\n');
					enum ws_page_mark mark =
						line.n > 0 && line.s[0] == ' ' ? WS_PAGE_MORE : marks[at[i].problem];
					line = ws_str_trim(line);
					ws_page_line(page, mark, "%.*s", WS_STR_ARGS(line));
				}
				while (cure.s && cure.n > 0) {
					struct ws_str line = ws_str_cut(&cure, '\n');
					ws_page_line(page, WS_PAGE_MORE, "-> %.*s", WS_STR_ARGS(line));
				}
			}
		}
	}
	return end;
}

void
ws_rows_print_page(const struct ws_rows *rows, const struct ws_out *out)
{
	struct ws_page page = ws_page_begin(out);
	size_t blocks = ws_rows_count(rows, WS_PROBLEM_BLOCKS);
	size_t fails = ws_rows_count(rows, WS_PROBLEM_FAILS);
	size_t notes = ws_rows_count(rows, WS_PROBLEM_NOTE);
	for (size_t i = 0; i < rows->at.len;) {
		i = print_part(&page, rows, i);
	}
	if (blocks == 0) {
		ws_out_result(out, "\nthis host can build");
	} else {
		ws_out_result(out, "\nx nothing can be built here until %zu problem%s solved", blocks,
			blocks == 1 ? " is" : "s are");
	}
	if (fails > 0) {
		ws_out_result(out, "; x %zu thing%s not work", fails, fails == 1 ? " does" : "s do");
	}
	if (notes > 0) {
		ws_out_result(out, "; %zu note%s marked !", notes, notes == 1 ? " is" : "s are");
	}
	ws_out_result(out, "\n");
}

/* ---- JSON ---- */

static void
add_values(struct ws_json_writer *w, const struct ws_row *row)
{
	for (size_t i = 0; i < row->values.len; i++) {
		const struct ws_row_value *value = &row->values.at[i];
		if (value->name[0] == '.') {
			continue;
		}
		if (value->type == 's') {
			ws_json_add_text(w, value->name, value->text);
		} else if (value->type == 'u') {
			ws_json_add_u64(w, value->name, value->number);
		} else if (value->type == 'd') {
			ws_json_add_bool(w, value->name, value->number);
		} else {
			ws_json_add_texts(w, value->name, value->list, value->number);
		}
	}
}

/* Closes what is open of the place @from and does not lead to @to, and opens what does. */
static void
move(struct ws_json_writer *w, const char *from, const char *to, struct ws_arena *a)
{
	struct ws_str old = ws_str_of(from), new = ws_str_of(to), rest = new;
	bool same = true;
	while (old.s && old.n > 0) {
		struct ws_str left = ws_str_cut(&old, '.'), entered = ws_str_cut(&new, '.');
		same = same && ws_str_eq(left, entered);
		if (same) {
			rest = new;
		} else {
			ws_json_close(w);
		}
	}
	while (rest.s && rest.n > 0) {
		char *name = ws_str_copy(ws_str_cut(&rest, '.'), a);
		if (ws_ends_with(name, "[]")) {
			ws_json_open_list(w, ws_arena_copy(a, name, strlen(name) - 2));
		} else {
			ws_json_open_object(w, name);
		}
	}
}

struct problem {
	const char *part, *text, *cure;
	bool blocks, fails;
};

static const struct ws_field problem_fields[] = {
	WS_VALUE("part", struct problem, part, WS_ALWAYS, NULL),
	WS_VALUE("blocks", struct problem, blocks, WS_ALWAYS, NULL),
	WS_VALUE("fails", struct problem, fails, WS_ALWAYS, NULL),
	WS_VALUE("text", struct problem, text, WS_ALWAYS, NULL),
	WS_VALUE("cure", struct problem, cure, WS_ALWAYS, NULL),
};
static const struct ws_table problem_table = {NULL, problem_fields, WS_LEN(problem_fields)};

struct conclusion {
	const struct problem *problems;
	size_t count;
	bool can_build;
};

static const struct ws_field head_fields[] = {
	WS_FIXED("schema", "wheelsmith.doctor/1"), WS_FIXED("wheelsmith", WS_VERSION)};
static const struct ws_table head_table = {NULL, head_fields, WS_LEN(head_fields)};

static const struct ws_field conclusion_fields[] = {
	WS_LIST_OF("problems", struct conclusion, problems, count, problem_table, WS_ALWAYS, NULL),
	WS_VALUE("can_build", struct conclusion, can_build, WS_ALWAYS, NULL),
};
static const struct ws_table conclusion_table = {
	NULL, conclusion_fields, WS_LEN(conclusion_fields)};

void
ws_rows_print_json(const struct ws_rows *rows, const struct ws_out *out)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	const char *place = "";
	ws_table_write_members(w, &head_table, NULL);
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		if (row->at) {
			move(w, place, row->at, rows->a);
			place = row->at;
			if (row->values.len > 0 && ws_ends_with(row->at, "[]")) {
				ws_json_open_object(w, NULL);
				add_values(w, row);
				ws_json_close(w);
			} else {
				add_values(w, row);
			}
		}
	}
	move(w, place, "", rows->a);
	struct problem *problems = WS_NEW_N(rows->a, struct problem, rows->at.len);
	struct conclusion conclusion = {
		.problems = problems, .can_build = ws_rows_count(rows, WS_PROBLEM_BLOCKS) == 0};
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		if (row->problem > WS_PROBLEM_HINT) {
			problems[conclusion.count++] = (struct problem){.part = row->part,
				.blocks = row->problem == WS_PROBLEM_BLOCKS,
				.fails = row->problem == WS_PROBLEM_FAILS,
				.text = ws_row_shown(rows, row),
				.cure = row->cure ? row->cure : ""};
		}
	}
	ws_table_write_members(w, &conclusion_table, &conclusion);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(out, "%s", ws_buf_text(&text));
}
