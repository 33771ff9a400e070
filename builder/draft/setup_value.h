/**
 * setup_value.h - the texts that an expression of a setup.py can be seen to give
 *
 * For setup_py.c alone; setup_names.c is its other half. Lists are flattened, additions followed, paths joined, names looked up where
 * they are assigned before the use. What is not understood gives nothing.
 */
#ifndef WS_DRAFT_SETUP_VALUE_H
#define WS_DRAFT_SETUP_VALUE_H

#include "draft/setup_lines.h"
#include "draft/setup_py.h"

/** A setup.py being read. */
struct ws_setup {
	struct ws_python_text text;
	struct ws_setup_lines lines;
	struct ws_arena *a;
	size_t work;    /**< done so far; a text that plays tricks is given up */
	unsigned depth; /**< of values in values */
};

/** Some words: from @a from to before @a to. */
struct ws_setup_range {
	size_t from, to;
};

/** Appends what @a range gives. */
void ws_setup_value(struct ws_setup *setup, struct ws_setup_range range, ws_setup_words *out);

/**
 * The same of the value under @a key, of a dict or of a name that holds one. A plain list is what
 * every key gives.
 */
void ws_setup_value_of(
	struct ws_setup *setup, struct ws_setup_range range, const char *key, ws_setup_words *out);

/**
 * What @a name stands for at the word @a use; with @a key what stands under that key of it. Words
 * that are added under a condition of their own are conditional.
 */
void ws_setup_look_up(
	struct ws_setup *setup, const char *name, size_t use, const char *key, ws_setup_words *out);

/** Where @a word stands outside of brackets; range.to when it does not. */
size_t ws_setup_find(const struct ws_setup *setup, struct ws_setup_range range, const char *word);

/**
 * Cuts the next part off @a rest, up to @a separator outside of brackets ("," or "+"); false when
 * nothing is left.
 */
bool ws_setup_cut(struct ws_setup *setup, struct ws_setup_range *rest, const char *separator,
	struct ws_setup_range *part);

#endif
