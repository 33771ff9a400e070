/**
 * shared_results.h - shares results through a cache server
 *
 * Implements struct ws_shared: records are signed ActionResults on the server (record_text.h). A
 * record counts if a trusted key signed it; anything else is a miss. After a failure or a
 * refusal there is one warning, and the server is not used any more in the run, or only for
 * reading. A build never fails because of it.
 */
#ifndef WS_REMOTE_SHARED_RESULTS_H
#define WS_REMOTE_SHARED_RESULTS_H

#include "remote/server.h"
#include "store/shared_entries.h"
#include "store/store.h"

struct ws_shared_results;

/** The user's configuration besides the server. All borrowed. */
struct ws_shared_results_config {
	const struct ws_server *server;
	bool write;               /**< results are written; `key` signs them */
	const char *key;          /**< file of a private key, which is trusted, too. NULL: only read */
	const char *const *trust; /**< files of public keys */
	size_t trust_count;
	const struct ws_store *store;
	const struct ws_events *events; /**< for warnings */
};

/** Reads keys, and sends nothing yet. NULL: WS_ERR_CONFIG. */
struct ws_shared_results *ws_shared_results_open(
	const struct ws_shared_results_config *config, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_shared_results_close(struct ws_shared_results *records);

/** Borrowed; NULL gives NULL. */
struct ws_shared *ws_shared_results_interface(struct ws_shared_results *records);

#endif
