/**
 * results.h - small texts by key: what the store knows under a key
 *
 * ac/aa/<key>. The engine keeps action results and lists of manifests there, trees remember what
 * made them, cells which wheel they have. A text is replaced whole and carries a sum over itself
 * and its key: one that is damaged, or lies under another's key, is removed and counts as missing.
 * Its mtime says when it was last found. What a text means, its writer knows.
 */
#ifndef WS_STORE_RESULTS_H
#define WS_STORE_RESULTS_H

#include "base/buf.h"
#include "store/store.h"

/** Appends the text; false, without an error, when there is none. */
bool ws_results_get(const struct ws_store *store, const char *key, struct ws_buf *b);

bool ws_results_put(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err);

/** The whole text as it lies in a store, its sum first; for who carries it elsewhere. */
bool ws_results_export(
	const struct ws_store *store, const char *key, struct ws_buf *whole, struct ws_err *err);

/** Takes the sum off what ws_results_export gave: false where it is not that of @a key and the
 * rest. */
bool ws_results_is_whole(const char *key, struct ws_buf *whole);

#endif
