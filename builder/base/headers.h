/**
 * headers.h - lines "Name: value", as METADATA, WHEEL and PKG-INFO have them
 *
 * The form of RFC 822 headers: a line that begins with white space goes on with the one before, an
 * empty line ends them and a text may follow. Only cuts; what a field may hold, and whether it may
 * stand twice, is the caller's.
 */
#ifndef WS_BASE_HEADERS_H
#define WS_BASE_HEADERS_H

#include "base/str.h"

/** Zero line and a text is the beginning. */
struct ws_headers {
	struct ws_str rest; /**< what was not read yet; behind the last field: the text that follows */
	unsigned line;      /**< that the last field began on, from 1 */
	unsigned lines;     /**< that it had */
};

struct ws_header {
	struct ws_str name;  /**< all that stands before the colon; s is NULL where there is none */
	struct ws_str value; /**< trimmed; breaks of continued lines stay in it */
};

/** The next field; false behind the last. Views of the text. */
bool ws_headers_next(struct ws_headers *headers, struct ws_header *field);

#endif
