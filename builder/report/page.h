/**
 * page.h - a page of labelled lines, for any width
 *
 *   store       /home/x/.cache/wheelsmith
 *             ! 1.2 GB are free there
 *               keep the store elsewhere (--store DIR)
 *
 * Labels are at the left, text at their right, broken at blanks. A mark points at an important
 * line. Control characters and bytes that are not UTF-8 are shown as '?'.
 */
#ifndef WS_REPORT_PAGE_H
#define WS_REPORT_PAGE_H

#include "base/out.h"

enum ws_page_mark {
	WS_PAGE_PLAIN,
	WS_PAGE_ADVICE, /**< "!": worth knowing */
	WS_PAGE_WRONG,  /**< "x" */
	WS_PAGE_MORE,   /**< no mark: belongs to the line above, indented */
};

struct ws_page {
	const struct ws_out *out;
	unsigned width; /**< columns, at least 40 */
	const char *label;
};

/** As wide as COLUMNS, else the terminal that out is, else 80; never below 40 or above 120. */
struct ws_page ws_page_begin(const struct ws_out *out);

/** The next line gets this label. */
void ws_page_label(struct ws_page *page, const char *label);

/** A plain line with its label. */
void ws_page_row(struct ws_page *page, const char *label, const char *format, ...) WS_PRINTF(3, 4);

/** One line of any length, broken at two blanks before it is broken at one. */
void ws_page_line(struct ws_page *page, enum ws_page_mark mark, const char *format, ...)
	WS_PRINTF(3, 4);

#endif
