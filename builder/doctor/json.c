/* json.c - rows for programs: each row's place is a path of objects and lists
 * (schemas/doctor-1.json). */
#include "base/json.h"

#include "doctor/rows.h"

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

static void
add_row(struct ws_json_writer *w, const struct ws_row *row)
{
	if (row->values.len > 0 && ws_ends_with(row->at, "[]")) {
		ws_json_open_object(w, NULL);
		add_values(w, row);
		ws_json_close(w);
	} else {
		add_values(w, row);
	}
}

static void
add_problems(struct ws_json_writer *w, const struct ws_rows *rows)
{
	ws_json_open_list(w, "problems");
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		if (row->problem > WS_PROBLEM_HINT) {
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "part", row->part);
			ws_json_add_bool(w, "blocks", row->problem == WS_PROBLEM_BLOCKS);
			ws_json_add_bool(w, "fails", row->problem == WS_PROBLEM_FAILS);
			ws_json_add_text(w, "text", ws_row_shown(rows, row));
			ws_json_add_text(w, "cure", row->cure ? row->cure : "");
			ws_json_close(w);
		}
	}
	ws_json_close(w);
}

void
ws_rows_print_json(const struct ws_rows *rows, const struct ws_out *out)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	const char *place = "";
	ws_json_add_text(w, "schema", "wheelsmith.doctor/1");
	ws_json_add_text(w, "wheelsmith", WS_VERSION);
	for (size_t i = 0; i < rows->at.len; i++) {
		const struct ws_row *row = &rows->at.at[i];
		if (row->at) {
			move(w, place, row->at, rows->a);
			place = row->at;
			add_row(w, row);
		}
	}
	move(w, place, "", rows->a);
	add_problems(w, rows);
	ws_json_add_bool(w, "can_build", ws_rows_count(rows, WS_PROBLEM_BLOCKS) == 0);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(out, "%s", ws_buf_text(&text));
}
