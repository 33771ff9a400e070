/**
 * index_page.h - one package's page of a simple repository
 *
 * PEP 503 (HTML), 592 (yanked), 629 (version), 691 and 700 (JSON). Reads text; sends no request.
 * Invalid entries (no name, a name with a slash, no http URL) are skipped.
 */
#ifndef WS_NET_INDEX_PAGE_H
#define WS_NET_INDEX_PAGE_H

#include "base/err.h"
#include "base/text.h"

/** Texts are never NULL; absent ones are "". */
struct ws_index_file {
	const char *name;    /**< "torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl" */
	const char *url;     /**< absolute, without fragment, user and password */
	const char *sha256;  /**< 64 lower-case digits */
	uint64_t size_bytes; /**< 0: unknown */
	bool is_yanked;
	const char *yanked_why;
	const char *requires_python; /**< ">=3.8" */
};

struct ws_index_page {
	const char *url;     /**< its URL, after redirects */
	const char *package; /**< normalised */
	const struct ws_index_file *files;
	size_t count;
};

/**
 * Fills files and count; url and package are set. @a type (Content-Type without parameters) selects
 * the form. Another type, broken JSON or another major version than 1 is WS_ERR_FETCH.
 */
bool ws_index_page_parse(struct ws_index_page *page, const char *type, struct ws_str text,
	struct ws_arena *a, struct ws_err *err);

#endif
