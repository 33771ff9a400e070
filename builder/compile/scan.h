/**
 * scan.h - which headers a text asks for
 *
 * Finds the literal #include directives and the header names asked about in conditions
 * (`__has_include(<x>)`, also through a macro around it). No preprocessing: directives that are not
 * taken are found as well, which makes manifests stricter, never wrong.
 */
#ifndef WS_COMPILE_SCAN_H
#define WS_COMPILE_SCAN_H

#include "base/str.h"

enum ws_ask_kind {
	WS_ASK_QUOTE,        /**< #include "x" */
	WS_ASK_ANGLE,        /**< #include <x> */
	WS_ASK_QUOTE_EXISTS, /**< __has_include("x") */
	WS_ASK_ANGLE_EXISTS, /**< __has_include(<x>) */
};

/** One header name; a view into the text. */
struct ws_ask {
	enum ws_ask_kind kind;
	struct ws_str name;
};

/**
 * Calls @a take for each. Returns false when the text asks __has_include about a name that only the
 * preprocessor knows: then the names it asks about cannot be listed.
 */
bool ws_scan(struct ws_str text, void (*take)(void *self, struct ws_ask ask), void *self);

#endif
