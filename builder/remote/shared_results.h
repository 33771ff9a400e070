/**
 * shared_results.h - results shared through a cache server
 *
 * A struct ws_shared over a cache server (server.h): records are ActionResults there
 * (record_text.h) with a signature in their text (record_text.h). A record counts when a trusted
 * key has signed it, and anything else is a miss. A server that does not answer, or refuses, is
 * warned of once and not asked again in the run; one that does not take results likewise. Nothing
 * here fails a build.
 */
#ifndef WS_REMOTE_SHARED_RESULTS_H
#define WS_REMOTE_SHARED_RESULTS_H

#include "base/event.h"
#include "remote/server.h"
#include "store/shared_entries.h"
#include "store/store.h"

struct ws_shared_results;

/** What the user's configuration says beside the server. All borrowed. */
struct ws_shared_results_config {
	const struct ws_server *server;
	bool write;      /**< results are put there; `key` signs them */
	const char *key; /**< file of a private key; what it signed counts too. NULL: only read */
	const char *const *trust; /**< files of public keys */
	size_t trust_count;
	const struct ws_store *store;
	const struct ws_events *events; /**< is warned */
};

/** Reads keys, and asks nobody yet. NULL: WS_ERR_CONFIG. */
struct ws_shared_results *ws_shared_results_open(
	const struct ws_shared_results_config *config, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_shared_results_close(struct ws_shared_results *records);

/** Borrowed; NULL gives NULL. */
struct ws_shared *ws_shared_results_interface(struct ws_shared_results *records);

#endif
