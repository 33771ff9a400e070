/**
 * rows.h - what was found out: typed values, and the text that shows them
 *
 * A row is one thing. People see its text, programs its values at the row's place in the JSON; the
 * two printers know rows alone, no part.
 *
 *   ws_rows_add(rows, "compilers[]", "{kind:5} {path}[  for CUDA {cuda}]",
 *       "kind %s path %s cuda %s", kind, path, cuda);
 *
 * names the values (%s a text, %ju a number, %d a truth, %p and %zu a list of texts and how many)
 * and shows them: "{path}" is the value, "{kind:5}" padded to 5 columns, "{cuda|none}" with a word
 * where there is none, "{bytes:size}" and "{bytes:memory}" bytes. "[...]" is left out when a value
 * in it is missing, 0 or false. "{s}" is a plural's "s", unless the number before it was 1.
 * A line that begins with a blank belongs to the one above it. A name that begins with "." is for
 * people alone.
 */
#ifndef WS_DOCTOR_ROWS_H
#define WS_DOCTOR_ROWS_H

#include "base/arena.h"
#include "base/out.h"

enum ws_row_problem {
	WS_PROBLEM_NONE,
	WS_PROBLEM_HINT,   /**< marked, and nothing to solve */
	WS_PROBLEM_NOTE,   /**< worth knowing */
	WS_PROBLEM_FAILS,  /**< something that is installed does not work; building is not concerned */
	WS_PROBLEM_BLOCKS, /**< no build is possible until it is solved */
};

struct ws_row_value {
	const char *name;
	char type; /**< of its conversion: 's', 'u', 'd', 'p' */
	const char *text;
	uint64_t number;
	const char *const *list; /**< `number` texts */
};

struct ws_row {
	const char *part; /**< the label on the page: "host" */
	const char *at;   /**< NULL: not in the JSON */
	const char *text; /**< NULL: not on the page; without values it is shown as it stands */
	enum ws_row_problem problem;
	const char *cure; /**< lines, each ending in \n; NULL: none */
	WS_VEC(struct ws_row_value) values;
};

struct ws_rows {
	struct ws_arena *a;
	const char *home; /**< texts that begin with it are shown with "~"; NULL: none */
	const char *part; /**< of the rows that follow */
	void (*word)(void *self, struct ws_err *err); /**< turns the codes of cures into lines */
	void *self;
	WS_VEC(struct ws_row) at;
};

/**
 * @a at: "" the top, "host" an object, "gpus[]" an item of a list, "host.holders[]" of a list in an
 * object; rows of one place follow each other. The result is valid until the next row is added.
 */
struct ws_row *ws_rows_add(
	struct ws_rows *rows, const char *at, const char *text, const char *names, ...) WS_PRINTF(4, 5);

/** The list is in the JSON even when no row of it follows. */
void ws_rows_list(struct ws_rows *rows, const char *at);

/** A line for people. */
void ws_rows_note(struct ws_rows *rows, const char *format, ...) WS_PRINTF(2, 3);

/** A problem is listed behind its part's other lines. @a cure: lines, the last without its end, or
 * NULL. */
void ws_rows_problem(struct ws_rows *rows, enum ws_row_problem problem, const char *cure,
	const char *format, ...) WS_PRINTF(4, 5);

/** The same from an error: its place, its line and its cures. */
void ws_rows_problem_err(
	struct ws_rows *rows, enum ws_row_problem problem, const struct ws_err *err);

/** The lines that cure @a err. */
const char *ws_rows_cure(const struct ws_rows *rows, const struct ws_err *err);

size_t ws_rows_count(const struct ws_rows *rows, enum ws_row_problem problem);

/** The text of @a row on the page. */
const char *ws_row_shown(const struct ws_rows *rows, const struct ws_row *row);

void ws_rows_print_page(const struct ws_rows *rows, const struct ws_out *out);

/** As wheelsmith.doctor/1, with "problems" and "can_build" at the end. */
void ws_rows_print_json(const struct ws_rows *rows, const struct ws_out *out);

#endif
