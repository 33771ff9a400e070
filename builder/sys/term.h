/**
 * term.h - one line that is redrawn, and text cut to columns
 *
 * Knows terminals, not what is said. Columns are counted in code points; everything we print
 * is one column wide.
 */
#ifndef WS_SYS_TERM_H
#define WS_SYS_TERM_H

#include "base/out.h"

#include <stddef.h>

/** Columns that @a text takes. */
unsigned ws_term_columns(const char *text);

/** Cuts @a text in place to at most @a columns, ending in "…" when it was longer. */
void ws_term_cut(char *text, unsigned columns);

/** Draws @a text over the line the cursor is on; nothing unless out->redraws. */
void ws_term_redraw(const struct ws_out *out, const char *text);

/** Clears that line, so that other text can be printed. */
void ws_term_clear(const struct ws_out *out);

#endif
