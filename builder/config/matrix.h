/**
 * matrix.h - a matrix file into model/matrix.h
 *
 * Keys and their defaults: matrix/README.md. Reading needs no recipes and no facts: whether a
 * package or a torch release exists is found out when planning, which has each value's place.
 */
#ifndef WS_CONFIG_MATRIX_H
#define WS_CONFIG_MATRIX_H

#include "model/matrix.h"

/**
 * From a document, whose texts it borrows; @a doc must live as long. Relative paths count from
 * @a folder, "~/" is @a home (may be NULL). On a mistake @a err is WS_ERR_CONFIG with place,
 * excerpt and caret.
 */
bool ws_matrix_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_matrix *matrix, struct ws_err *err);

/** From a file; relative paths count from its folder. */
bool ws_matrix_read(const char *path, const char *home, struct ws_arena *a,
	struct ws_matrix *matrix, struct ws_err *err);

#endif
