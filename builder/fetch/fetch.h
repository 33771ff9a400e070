/**
 * fetch.h - what is needed to download or check out
 *
 * Passed to all code that downloads sources, kits or export lists. All members are borrowed and
 * live as long as the command.
 */
#ifndef WS_FETCH_FETCH_H
#define WS_FETCH_FETCH_H

#include "net/http.h"
#include "store/ledger.h"

struct ws_git;
struct ws_index;
struct ws_index_config;
struct ws_shared;

struct ws_fetch {
	const struct ws_store *store;
	struct ws_ledger *ledger;
	struct ws_http *http;
	struct ws_index *index;                /**< pages of this session */
	const struct ws_index_config *indexes; /**< which index serves which role */
	struct ws_git *git;                    /**< NULL: no git sources */
	const char *debian_mirror;             /**< root of a Debian archive; NULL */
	const char *redist_url;   /**< where redistrib_V.json lie; NULL: NVIDIA's own server */
	struct ws_shared *shared; /**< shared results, asked for a tree before it is downloaded; NULL */
	const struct ws_events *events;
	struct ws_stop *stop;
	bool offline; /**< the http session refuses anyway; this is for better messages */
};

#endif
