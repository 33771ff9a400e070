/**
 * document.h - a file that people write, read and parsed
 *
 * Relaxed JSON. A file that is not there is a mistake of configuration, reported with near names.
 */
#ifndef WS_CONFIG_DOCUMENT_H
#define WS_CONFIG_DOCUMENT_H

#include "base/crypto.h"
#include "base/json.h"

struct ws_document {
	const struct ws_json_doc *doc;
	const char *folder;      /**< absolute: the one the file lies in */
	struct ws_digest digest; /**< of the file's bytes */
};

/** @a what names the kind of file in messages: "matrix". At most 4 MiB. */
bool ws_document_read(const char *path, const char *what, struct ws_arena *a,
	struct ws_document *document, struct ws_err *err);

#endif
