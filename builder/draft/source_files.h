/**
 * source_files.h - the files of a source tree as a draft sees them
 *
 * Which of them are the package's own, and lists of paths without repetition.
 */
#ifndef WS_DRAFT_SOURCE_FILES_H
#define WS_DRAFT_SOURCE_FILES_H

#include "base/buf.h"
#include "base/vec.h"
#include "store/tree.h"

typedef WS_VEC(const char *) ws_texts;

/** Adds @a text unless it is there; true when it was not. */
bool ws_texts_add(ws_texts *list, const char *text, struct ws_arena *a);

/** "a, b, c and 4 more", for notes. */
const char *ws_texts_list(const ws_texts *list, size_t most, struct ws_arena *a);

/** Appends a file of the tree, at most 1 MiB; false when it is not there. */
bool ws_guess_read(const struct ws_tree *tree, const char *path, struct ws_buf *text);

/** It lies in a folder of tests, examples, documents, tools. */
bool ws_guess_is_aside(const char *path);

/** Neither that, nor in a folder of bundled projects, like third_party. */
bool ws_guess_is_own(const char *path);

/** The folder is there: something lies in it. "." is. */
bool ws_guess_has_folder(const struct ws_tree *tree, const char *folder);

/** @a name, of @a len bytes and without regard to case, is one of the list. */
bool ws_guess_is_one_of(const char *name, size_t len, const char *const *list, size_t count);

#endif
