/**
 * asks.h - collects the header names in the texts of a unit
 *
 * Collects the directives of each text and follows macros as far as possible without a
 * preprocessor: `#include MACRO`, `#define HAS(x) __has_include(x)`. Other cases are reported as
 * unknown. header_reads.c searches the names.
 */
#ifndef WS_COMPILE_ASKS_H
#define WS_COMPILE_ASKS_H

#include "base/text.h"

/* ---- directives of a text that concern headers ----
 * Follows phases 1 to 3 of translation, like gcc and clang: a directive is found after comments,
 * continued lines and "%:", and not in a comment or a raw string. Conditions are not evaluated:
 * directives in inactive branches are found as well, which makes manifests stricter, never
 * wrong. */

enum ws_directive_kind {
	WS_DIRECTIVE_INCLUDE,      /**< #include, #import */
	WS_DIRECTIVE_INCLUDE_NEXT, /**< #include_next */
	WS_DIRECTIVE_CONDITION,    /**< #if, #elif */
	WS_DIRECTIVE_DEFINE,       /**< #define */
	WS_DIRECTIVE_ODD, /**< not understood: the text may ask for more names than its directives show */
};

/** One directive. */
struct ws_directive {
	enum ws_directive_kind kind;
	/** The rest of its line, with comments as blanks; or the reason why it is odd. Valid until
	 * the next call. */
	struct ws_str text;
};

/** Release `line` with ws_buf_release. */
struct ws_scan {
	const char *at, *end; /**< the rest of the text */
	struct ws_buf line;   /**< of the directive */
	const char *odd;      /**< reported next */
	bool in_line;         /**< the line has text before this point */
};

/** Starts at @a text, which is borrowed. */
struct ws_scan ws_scan_begin(struct ws_str text);

/** The next directive; false at the end. */
bool ws_scan_next(struct ws_scan *s, struct ws_directive *directive);

/** Cuts <name> or "name" off the front of @a text, with blanks before it. False: neither, and
 * nothing is cut. */
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
	const char *file;   /**< that contains the directive; NULL: a macro asks, in any of the files */
};

/** Dependencies that cannot be listed. */
enum ws_unknown {
	WS_UNKNOWN_INCLUDE,  /**< a computed quoted name: neighbours of the file may be meant */
	WS_UNKNOWN_QUESTION, /**< any file may be asked about */
};

/** Receives the names. */
struct ws_asks_taker {
	void (*take)(struct ws_asks_taker *self, struct ws_ask ask);
	/** @a file as in struct ws_ask; @a what: description for messages, "a trigraph". */
	void (*unknown)(
		struct ws_asks_taker *self, enum ws_unknown kind, const char *file, const char *what);
};

struct ws_macro;

/** A name that is given by macros. */
struct ws_indirect {
	enum ws_ask_kind kind;
	const char *file;
	const char *asker;  /**< applies if this macro asks; NULL: always */
	const char *macro;  /**< the macro that expands to the name; NULL: `name`, or unknown */
	struct ws_str name; /**< literal, between < and > */
};

/** State for one unit; zeroed except for `taker` and `a`. */
struct ws_asks {
	struct ws_asks_taker *taker;
	struct ws_arena *a;
	struct ws_map macros;   /**< name -> struct ws_macro */
	struct ws_map askers;   /**< macros that pass their argument to __has_include */
	struct ws_map uncalled; /**< words in macro bodies, and in conditions without a "(" */
	WS_VEC(struct ws_indirect) indirect;
};

/** Adds a macro of the command line: "NAME", "NAME=BODY", "NAME(x)=BODY". */
void ws_asks_define(struct ws_asks *asks, const char *word);

/** Reports the names in the directives of @a text. @a file must outlive @a asks. */
void ws_asks_scan(struct ws_asks *asks, const char *file, struct ws_str text);

/** Called after the last text: reports names that are given by macros. */
void ws_asks_finish(struct ws_asks *asks);

#endif
