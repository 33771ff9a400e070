/**
 * asks.h - which header names the texts of one unit ask for
 *
 * Collects the directives of every text and follows macros as far as that needs no
 * preprocessor: `#include MACRO`, `#define HAS(x) __has_include(x)`. What that does not decide is
 * reported as unknown. Where a name is looked for is header_reads.c's.
 */
#ifndef WS_COMPILE_ASKS_H
#define WS_COMPILE_ASKS_H

#include "base/arena.h"
#include "base/text.h"

/* ---- the directives of a text that have to do with headers ----
 * Phases 1 to 3 of translation, as gcc and clang have them: a directive is found behind comments,
 * continued lines and "%:", and is not found in a comment or a raw string. Nothing is evaluated:
 * directives that are not taken are found as well, which makes manifests stricter, never wrong.
 * What the names in directives mean is asks.h's. */

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

/** Takes <name> or "name" off the front of @a text, blanks before it too. False, and nothing,
 * without. */
bool ws_scan_name(struct ws_str *text, struct ws_str *name, bool *angle);

enum ws_ask_kind {
	WS_ASK_INCLUDE,
	WS_ASK_INCLUDE_NEXT,
	WS_ASK_EXISTS, /**< __has_include */
	WS_ASK_EXISTS_NEXT,
};

/** One header name. */
struct ws_ask {
	enum ws_ask_kind kind;
	bool angle;         /**< <x>; else "x" */
	struct ws_str name; /**< borrowed for the call */
	const char *file;   /**< that asks; NULL: a macro does, in any of the files */
};

/** What cannot be listed. */
enum ws_unknown {
	WS_UNKNOWN_INCLUDE,  /**< a computed quoted name: neighbours of the file may be meant */
	WS_UNKNOWN_QUESTION, /**< any file anywhere may be asked about */
};

/** Gets the answers. */
struct ws_asks_taker {
	void (*take)(struct ws_asks_taker *self, struct ws_ask ask);
	/** @a file as in struct ws_ask; @a what for people: "a trigraph". */
	void (*unknown)(
		struct ws_asks_taker *self, enum ws_unknown kind, const char *file, const char *what);
};

struct ws_macro;

/** A name that only macros know. */
struct ws_indirect {
	enum ws_ask_kind kind;
	const char *file;
	const char *asker;  /**< counts when this macro asks; NULL: it counts */
	const char *macro;  /**< that stands for the name; NULL: `name`, or unknown */
	struct ws_str name; /**< literal, between < and > */
};

/** Of one unit; everything but `taker` and `a` begins zeroed. */
struct ws_asks {
	struct ws_asks_taker *taker;
	struct ws_arena *a;
	struct ws_map macros;   /**< name -> struct ws_macro */
	struct ws_map askers;   /**< macros that hand their argument to __has_include */
	struct ws_map uncalled; /**< words in the bodies of macros, and in conditions without a "(" */
	WS_VEC(struct ws_indirect) indirect;
};

/** A macro of the command line: "NAME", "NAME=BODY", "NAME(x)=BODY". */
void ws_asks_define(struct ws_asks *asks, const char *word);

/** Tells what the directives of @a text ask for themselves. @a file must outlive @a asks. */
void ws_asks_scan(struct ws_asks *asks, const char *file, struct ws_str text);

/** After the last text: reports what is asked for through macros. */
void ws_asks_finish(struct ws_asks *asks);

#endif
