/**
 * doctor_rows.h - what `wheelsmith doctor` found, a row for each thing, printed as a page or as JSON
 *
 * Rows come part by part, in the order of the page. A row is one line for people; what programs read of
 * it is added to `json` beside it. A problem is a row that is printed behind its part's others and listed
 * under "problems". Owns its JSON until it is printed; texts are the arena's.
 */
#ifndef WS_CLI_DOCTOR_ROWS_H
#define WS_CLI_DOCTOR_ROWS_H

#include "base/json_write.h"
#include "base/vec.h"
#include "cli/session.h"
#include "report/page.h"

struct ws_row {
	const char *part; /**< "host", "store", ... */
	enum ws_page_mark mark;
	const char *text; /**< one line */
	const char *cure; /**< what to do: lines, each ending in \n; "" none */
	bool is_problem;
	bool fails; /**< something that is installed does not work; building is not concerned */
};

struct ws_rows {
	struct ws_session *s;
	struct ws_json_writer *json; /**< inside the top object */
	const char *part;
	WS_VEC(struct ws_row) at;
};

struct ws_rows ws_rows_begin(struct ws_session *s);

/** All rows that follow belong to @a part, which must outlive them. */
void ws_rows_part(struct ws_rows *rows, const char *part);

void ws_rows_add(struct ws_rows *rows, enum ws_page_mark mark, const char *format, ...)
	WS_PRINTF(3, 4);

/** The same with lines that say what to do. */
void ws_rows_add_cure(struct ws_rows *rows, enum ws_page_mark mark, const char *cure,
	const char *format, ...) WS_PRINTF(4, 5);

/** Something to mend, or to know. With @a blocks nothing can be built until then. @a cure: NULL none. */
void ws_rows_problem(struct ws_rows *rows, bool blocks, const char *cure, const char *format, ...)
	WS_PRINTF(4, 5);

/** What is installed, and does not work. @a cure: lines, or NULL. */
void ws_rows_fail(struct ws_rows *rows, const char *cure, const char *format, ...) WS_PRINTF(3, 4);

/** The same from an error: its line, its place and its cures. */
void ws_rows_problem_err(struct ws_rows *rows, bool blocks, const struct ws_err *err);

/** Prints the page or, with --json, the object. Returns whether nothing blocks and nothing fails. */
bool ws_rows_print(struct ws_rows *rows);

#endif
