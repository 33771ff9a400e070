/* doctor_rows.c - rows, and the two ways to print them. What is looked at is cmd_doctor.c's. */
#include "cli/doctor_rows.h"

#include "base/str.h"
#include "cli/cure.h"

#include <stdarg.h>

struct ws_rows
ws_rows_begin(struct ws_session *s)
{
	struct ws_rows rows = {.s = s, .json = ws_json_begin()};
	ws_json_open_object(rows.json, NULL);
	ws_json_add_text(rows.json, "schema", "wheelsmith.doctor/1");
	ws_json_add_text(rows.json, "wheelsmith", WS_VERSION);
	return rows;
}

void
ws_rows_part(struct ws_rows *rows, const char *part)
{
	rows->part = part;
}

WS_PRINTF(3, 0)
static struct ws_row *
add(struct ws_rows *rows, enum ws_page_mark mark, const char *format, va_list values)
{
	struct ws_row *row = ws_vec_push(&rows->at, rows->s->a);
	const char *text = ws_arena_vprintf(rows->s->a, format, values);
	*row = (struct ws_row){.part = rows->part, .mark = mark, .text = text, .cure = ""};
	return row;
}

void
ws_rows_add(struct ws_rows *rows, enum ws_page_mark mark, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	add(rows, mark, format, values);
	va_end(values);
}

void
ws_rows_add_cure(
	struct ws_rows *rows, enum ws_page_mark mark, const char *cure, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	add(rows, mark, format, values)->cure = cure;
	va_end(values);
}

void
ws_rows_problem(struct ws_rows *rows, bool blocks, const char *cure, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	struct ws_row *row = add(rows, blocks ? WS_PAGE_WRONG : WS_PAGE_ADVICE, format, values);
	va_end(values);
	row->is_problem = true;
	row->cure = cure ? ws_arena_printf(rows->s->a, "%s\n", cure) : "";
}

void
ws_rows_fail(struct ws_rows *rows, const char *cure, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	struct ws_row *row = add(rows, WS_PAGE_WRONG, format, values);
	va_end(values);
	row->is_problem = row->fails = true;
	row->cure = cure ? ws_arena_printf(rows->s->a, "%s\n", cure) : "";
}

void
ws_rows_problem_err(struct ws_rows *rows, bool blocks, const struct ws_err *err)
{
	struct ws_err worded = *err;
	ws_cures_word(rows->s, &worded);
	ws_rows_problem(rows, blocks, NULL, "%s%s%s", err->place, err->place[0] ? ": " : "", err->text);
	rows->at.at[rows->at.len - 1].cure = ws_arena_strdup(rows->s->a, worded.cure);
}

static size_t
count_problems(const struct ws_rows *rows, enum ws_page_mark mark)
{
	size_t count = 0;
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		count += row->is_problem && !row->fails && row->mark == mark;
	}
	return count;
}

static size_t
count_failures(const struct ws_rows *rows)
{
	size_t count = 0;
	for (size_t i = 0; i < rows->at.len; i++) {
		count += rows->at.at[i].fails;
	}
	return count;
}

/* ---- the page ---- */

static void
print_row(struct ws_page *page, const struct ws_row *row)
{
	struct ws_str rest = ws_str_of(row->cure);
	ws_page_line(page, row->mark, "%s", row->text);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		ws_page_line(page, WS_PAGE_MORE, "→ %.*s", WS_STR_ARGS(line));
	}
}

/* The rows of one part, problems last. Returns the first row of the next part. */
static size_t
print_part(struct ws_page *page, const struct ws_rows *rows, size_t first)
{
	const char *part = rows->at.at[first].part;
	size_t end = first;
	ws_page_label(page, part);
	while (end < rows->at.len && rows->at.at[end].part == part) {
		end++;
	}
	for (int problems = 0; problems < 2; problems++) {
		for (size_t i = first; i < end; i++) {
			if (rows->at.at[i].is_problem == (problems == 1)) {
				print_row(page, &rows->at.at[i]);
			}
		}
	}
	return end;
}

static void
print_page(const struct ws_rows *rows)
{
	const struct ws_out *out = &rows->s->out;
	struct ws_page page = ws_page_begin(out, 0);
	size_t wrong = count_problems(rows, WS_PAGE_WRONG);
	size_t advice = count_problems(rows, WS_PAGE_ADVICE);
	size_t failures = count_failures(rows);
	for (size_t i = 0; i < rows->at.len;) {
		i = print_part(&page, rows, i);
	}
	if (wrong == 0) {
		ws_out_result(out, "\nthis host can build");
	} else {
		ws_out_result(out, "\n✗ nothing can be built here until %zu problem%s solved", wrong,
			wrong == 1 ? " is" : "s are");
	}
	if (failures > 0) {
		ws_out_result(out, "; ✗ %zu thing%s not work", failures, failures == 1 ? " does" : "s do");
	}
	if (advice > 0) {
		ws_out_result(out, "; %zu note%s marked !", advice, advice == 1 ? " is" : "s are");
	}
	ws_out_result(out, "\n");
}

/* ---- JSON ---- */

static void
print_json(const struct ws_rows *rows)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = rows->json;
	ws_json_open_list(w, "problems");
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		if (row->is_problem) {
			bool blocks = row->mark == WS_PAGE_WRONG && !row->fails;
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "part", row->part);
			ws_json_add_bool(w, "blocks", blocks);
			ws_json_add_bool(w, "fails", row->fails);
			ws_json_add_text(w, "text", row->text);
			ws_json_add_text(w, "cure", row->cure);
			ws_json_close(w);
		}
	}
	ws_json_close(w);
	ws_json_add_bool(w, "can_build", count_problems(rows, WS_PAGE_WRONG) == 0);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&rows->s->out, "%s", ws_buf_text(&text));
}

bool
ws_rows_print(struct ws_rows *rows)
{
	if (rows->s->globals.json) {
		print_json(rows);
	} else {
		WS_AUTO_BUF struct ws_buf unused = {0};
		ws_json_close(rows->json);
		ws_json_finish(rows->json, WS_JSON_COMPACT, &unused);
		print_page(rows);
	}
	return count_problems(rows, WS_PAGE_WRONG) == 0 && count_failures(rows) == 0;
}
