/**
 * fetch.h - what is needed to download or check out
 *
 * Given to everything that downloads or checks out: sources, kits, export lists. All members are
 * borrowed and live as long as the command; a part leaves alone what it does not need.
 */
#ifndef WS_FETCH_FETCH_H
#define WS_FETCH_FETCH_H

#include "base/event.h"
#include "net/http.h"
#include "store/ledger.h"
#include "store/store.h"

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
	struct ws_git *git;                    /**< NULL: commits cannot be had */
	const char *debian_mirror;             /**< root of a Debian archive; NULL: none is known */
	const char *redist_url; /**< where redistrib_V.json lie; NULL: NVIDIA's own server */
	struct ws_shared
		*shared; /**< asked before what is kept as a tree is downloaded; NULL: nobody is */
	const struct ws_events *events;
	struct ws_stop *stop;
	bool offline; /**< the http session refuses anyway; this is for better messages */
};

#endif
