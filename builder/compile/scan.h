/**
 * scan.h - the directives of a text that have to do with headers
 *
 * Phases 1 to 3 of translation, as gcc and clang have them: a directive is found behind comments,
 * continued lines and "%:", and is not found in a comment or a raw string. Nothing is evaluated:
 * directives that are not taken are found as well, which makes manifests stricter, never wrong. What
 * the names in directives mean is asks.h's.
 */
#ifndef WS_COMPILE_SCAN_H
#define WS_COMPILE_SCAN_H

#include "base/buf.h"
#include "base/str.h"

enum ws_directive_kind {
	WS_DIRECTIVE_INCLUDE,      /**< #include, #import */
	WS_DIRECTIVE_INCLUDE_NEXT, /**< #include_next */
	WS_DIRECTIVE_CONDITION,    /**< #if, #elif */
	WS_DIRECTIVE_DEFINE,       /**< #define */
	WS_DIRECTIVE_ODD, /**< not understood: the text may ask for more than its directives say */
};

/** One directive. */
struct ws_directive {
	enum ws_directive_kind kind;
	/** What follows its name, on one line, comments as blanks; what is odd. Until the next call. */
	struct ws_str text;
};

/** Release `line` with ws_buf_release. */
struct ws_scan {
	const char *at, *end; /**< what is left of the text */
	struct ws_buf line;   /**< of the directive */
	const char *odd;      /**< to be reported next */
	bool in_line;         /**< something other than blanks stands before on this line */
};

/** Begins with @a text, which is borrowed. */
struct ws_scan ws_scan_begin(struct ws_str text);

/** The next directive; false at the end. */
bool ws_scan_next(struct ws_scan *s, struct ws_directive *directive);

/** Takes <name> or "name" off the front of @a text, blanks before it too. False, and nothing, without. */
bool ws_scan_name(struct ws_str *text, struct ws_str *name, bool *angle);

#endif
