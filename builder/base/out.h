/**
 * out.h - the two output streams, and one terminal line that is redrawn
 *
 * Results go to `out`, everything else to `err`. Libraries never print: cli/ and report/ get a
 * struct ws_out, tests give it memory streams. In messages control characters become '?'.
 */
#ifndef WS_BASE_OUT_H
#define WS_BASE_OUT_H

#include "base/err.h"

struct ws_user_env;

struct ws_out {
	FILE *out;          /**< results: plans, tables, JSON */
	FILE *err;          /**< everything else */
	bool quiet;         /**< -q: only results, warnings and errors */
	unsigned verbosity; /**< how many -v */
	bool color;         /**< err is a terminal and NO_COLOR is not set */
	bool redraws;       /**< err is a terminal on which a line can be redrawn */
	unsigned width;     /**< columns of the terminal; 0 when err is none */
	unsigned columns;   /**< COLUMNS; 0: not set */
	bool is_shown;      /**< out is a terminal: names in results must not control it */
};

/** Standard streams, terminal or not, NO_COLOR and COLUMNS. */
struct ws_out ws_out_standard(const struct ws_user_env *env);

/** Prints to out. */
void ws_out_result(const struct ws_out *out, const char *format, ...) WS_PRINTF(2, 3);
/** Prints to err, unless quiet. */
void ws_out_note(const struct ws_out *out, const char *format, ...) WS_PRINTF(2, 3);
/** Prints "warning: ..." and a newline to err. */
void ws_out_warn(const struct ws_out *out, const char *format, ...) WS_PRINTF(2, 3);
/** Prints the whole of @a err to err. */
void ws_out_error(const struct ws_out *out, const struct ws_err *err);
/** False (WS_ERR_IO) when a write to out failed. */
bool ws_out_flush(const struct ws_out *out, struct ws_err *err);
/** True when out is a pipe and its reader closed it. */
bool ws_out_is_broken(const struct ws_out *out);

/* ---- the line that is redrawn ---- */

/** Columns that @a text takes. */
unsigned ws_term_columns(const char *text);

/** Cuts @a text in place to at most @a columns, ending in "..." when it was longer. */
void ws_term_cut(char *text, unsigned columns);

/** Draws @a text over the line the cursor is on; "" clears it, so that other text can be printed.
 * Does nothing unless out->redraws. */
void ws_term_redraw(const struct ws_out *out, const char *text);

#endif
