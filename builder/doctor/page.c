/* page.c - rows for people: part by part, problems last, what to do below each. */
#include "report/page.h"

#include "base/text.h"
#include "doctor/rows.h"

static void
print_row(struct ws_page *page, const struct ws_rows *rows, const struct ws_row *row)
{
	static const enum ws_page_mark marks[] = {
		WS_PAGE_PLAIN, WS_PAGE_ADVICE, WS_PAGE_ADVICE, WS_PAGE_WRONG, WS_PAGE_WRONG};
	struct ws_str text = ws_str_of(ws_row_shown(rows, row)), cure = ws_str_of(row->cure);
	while (text.s) {
		struct ws_str line = ws_str_cut(&text, '\n');
		enum ws_page_mark mark =
			line.n > 0 && line.s[0] == ' ' ? WS_PAGE_MORE : marks[row->problem];
		line = ws_str_trim(line);
		ws_page_line(page, mark, "%.*s", WS_STR_ARGS(line));
	}
	while (cure.s && cure.n > 0) {
		struct ws_str line = ws_str_cut(&cure, '\n');
		ws_page_line(page, WS_PAGE_MORE, "→ %.*s", WS_STR_ARGS(line));
	}
}

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
				print_row(page, rows, &at[i]);
			}
		}
	}
	return end;
}

void
ws_rows_print_page(const struct ws_rows *rows, const struct ws_out *out)
{
	struct ws_page page = ws_page_begin(out, 0);
	size_t blocks = ws_rows_count(rows, WS_PROBLEM_BLOCKS);
	size_t fails = ws_rows_count(rows, WS_PROBLEM_FAILS);
	size_t notes = ws_rows_count(rows, WS_PROBLEM_NOTE);
	for (size_t i = 0; i < rows->at.len;) {
		i = print_part(&page, rows, i);
	}
	if (blocks == 0) {
		ws_out_result(out, "\nthis host can build");
	} else {
		ws_out_result(out, "\n✗ nothing can be built here until %zu problem%s solved", blocks,
			blocks == 1 ? " is" : "s are");
	}
	if (fails > 0) {
		ws_out_result(out, "; ✗ %zu thing%s not work", fails, fails == 1 ? " does" : "s do");
	}
	if (notes > 0) {
		ws_out_result(out, "; %zu note%s marked !", notes, notes == 1 ? " is" : "s are");
	}
	ws_out_result(out, "\n");
}
