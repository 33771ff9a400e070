/**
 * document.h - a file that people write, read and parsed
 *
 * Relaxed JSON. A missing file is WS_ERR_CONFIG; the cure names a similar file.
 */
#ifndef WS_CONFIG_DOCUMENT_H
#define WS_CONFIG_DOCUMENT_H

#include "base/crypto.h"
#include "base/json.h"

struct ws_document {
	const struct ws_json_doc *doc;
	const char *folder;      /**< absolute: the folder of the file */
	struct ws_digest digest; /**< of the file's bytes */
};

/** @a what names the kind of file in messages: "matrix". At most 4 MiB. */
bool ws_document_read(const char *path, const char *what, struct ws_arena *a,
	struct ws_document *document, struct ws_err *err);

/* ---- where the program's data lies ---- */

struct ws_data {
	const char *root;
	const char *facts;        /**< "<root>/matrix/facts" */
	const char *kits;         /**< "<root>/matrix/kits" */
	const char *draft_reader; /**< "<root>/builder/draft/reader" */
	const char *entry_points; /**< "<root>/builder/doctor/entry_points.py" */
};

/** @a executable: the running program; NULL asks /proc/self/exe. */
bool ws_data_locate(
	const char *executable, struct ws_arena *a, struct ws_data *data, struct ws_err *err);

/**
 * The folders to search for recipes, in order: @a option (--recipes; may be NULL), @a matrix (its
 * `recipes` key; may be NULL), those of the configuration, the program's own.
 */
const char *const *ws_data_recipe_folders(const struct ws_data *data, const char *option,
	const char *matrix, const char *const *configured, size_t configured_count, struct ws_arena *a,
	size_t *count);

#endif
