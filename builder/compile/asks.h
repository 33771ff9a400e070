/**
 * asks.h - which header names the texts of one unit ask for
 *
 * Collects the directives of every text (scan.h) and follows macros as far as that needs no
 * preprocessor: `#include MACRO`, `#define HAS(x) __has_include(x)`. What that does not decide is reported
 * as unknown. Where a name is looked for is headers.c's.
 */
#ifndef WS_COMPILE_ASKS_H
#define WS_COMPILE_ASKS_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

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
	struct ws_map macros;  /**< name -> struct ws_macro */
	struct ws_map askers;  /**< macros that hand their argument to __has_include */
	struct ws_map in_body; /**< words in the bodies of macros */
	WS_VEC(struct ws_indirect) indirect;
};

/** A macro of the command line: "NAME", "NAME=BODY", "NAME(x)=BODY". */
void ws_asks_define(struct ws_asks *asks, const char *word);

/** Tells what the directives of @a text ask for themselves. @a file must outlive @a asks. */
void ws_asks_scan(struct ws_asks *asks, const char *file, struct ws_str text);

/** After the last text: reports what is asked for through macros. */
void ws_asks_finish(struct ws_asks *asks);

#endif
