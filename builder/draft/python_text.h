/**
 * python_text.h - the words of a Python file
 *
 * For reading what a setup.py says without running it: names, strings, operators, and where logical
 * lines end and how far they are indented. Knows no grammar; a text that is no Python gives words
 * all the same. Python's own rules: "Lexical analysis" of the language reference.
 */
#ifndef WS_DRAFT_PYTHON_TEXT_H
#define WS_DRAFT_PYTHON_TEXT_H

#include "base/str.h"

#include <stdint.h>

/** Text beyond this is not read. */
#define WS_PYTHON_TEXT_MOST ((size_t)256 << 10)

enum ws_python_word_kind {
	WS_PYTHON_NAME,   /**< identifiers, keywords and numbers */
	WS_PYTHON_STRING, /**< one literal; neighbours are not joined */
	WS_PYTHON_OP,     /**< one character, or one of += -= == != <= >= := -> ** // */
	WS_PYTHON_END,    /**< of a logical line */
};

struct ws_python_word {
	enum ws_python_word_kind kind;
	const char *text; /**< of a string what stands between the quotes, simple escapes undone */
	bool formatted;   /**< an f-string: {...} stands in the text as it was written */
	unsigned indent;  /**< columns before its logical line; a tab goes to the next eighth */
};

struct ws_python_text {
	const struct ws_python_word *words; /**< the last one is an END, unless there is none */
	size_t count;
};

/** Texts live in @a a. */
struct ws_python_text ws_python_text_read(struct ws_str text, struct ws_arena *a);

/** The word at @a i is this name or this operator. Beyond the end nothing is. */
bool ws_python_is(const struct ws_python_text *text, size_t i, const char *word);

/** Behind the bracket that closes the one at @a i; behind @a i itself when there is no bracket. */
size_t ws_python_skip(const struct ws_python_text *text, size_t i);

#endif
