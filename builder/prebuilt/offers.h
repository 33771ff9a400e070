/**
 * offers.h - which prebuilt wheels of a package folders and indexes have
 *
 * The places are those of the index role "prebuilt"; for a package that is never built and for
 * which nobody names a place, the default index. Folders are read when they are asked about. What
 * an index had when it was last asked is remembered in the store, so that a plan without a network
 * knows it too; likewise which bytes a URL gave whose index promises none.
 */
#ifndef WS_PREBUILT_OFFERS_H
#define WS_PREBUILT_OFFERS_H

#include "base/arena.h"
#include "fetch/fetch.h"
#include "model/candidate.h"
#include "net/index.h"
#include "net/index_config.h"

struct ws_recipe;

/** One package's wheels, in the order of the places. */
struct ws_offered {
	const struct ws_offered_wheel *at;
	size_t count;
	bool complete; /**< every index was asked in some run; else there may be more */
};

/** The places of a recipe's wheels: URLs of indexes, and folders. */
struct ws_offer_places {
	const char *const *at;
	size_t count;
};

struct ws_offer_places ws_offer_places_of(
	const struct ws_index_config *indexes, const struct ws_recipe *recipe);

/** What is known of them; asks no server. */
struct ws_offered ws_offers_recall(const struct ws_store *store,
	const struct ws_offer_places *places, const struct ws_recipe *recipe, struct ws_arena *a);

/**
 * Asks the indexes, remembers what they have. One that cannot be asked is warned of, unless its
 * server is in
 * @a warned already, and what it had before stands for it. False only when the run is to stop. @a
 * fetch's http and index are used.
 */
bool ws_offers_ask(const struct ws_fetch *fetch, const struct ws_offer_places *places,
	const struct ws_recipe *recipe, struct ws_map *warned, struct ws_arena *a,
	struct ws_offered *offered, struct ws_err *err);

/** The digest of what @a url gave when it was last fetched; NULL: it never was. */
const char *ws_offers_digest(const struct ws_store *store, const char *url, struct ws_arena *a);

/** Remembers it. What cannot be written costs fetching once more. */
void ws_offers_learn(const struct ws_store *store, const char *url, const char *sha256);

#endif
