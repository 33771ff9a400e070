/**
 * index_wheels.h - the prebuilt wheels of a package that folders and indexes list
 *
 * Places are those of the index role "prebuilt"; the default index for a package that is never
 * built and has no other place. Folders are listed when they are needed. The store keeps what an
 * index listed last, so that planning works without a network, and the digest of the file that a
 * URL returned, for indexes without digests. File names are parsed here and nowhere else.
 */
#ifndef WS_PREBUILT_INDEX_WHEELS_H
#define WS_PREBUILT_INDEX_WHEELS_H

#include "fetch/fetch.h"
#include "net/index_config.h"
#include "prebuilt/rank.h"

/** URLs of indexes, and folders. */
struct ws_wheel_places {
	const char *const *at;
	size_t count;
};

struct ws_wheel_places ws_wheel_places_of(
	const struct ws_index_config *indexes, const struct ws_recipe *recipe);

/** Fills @a wheel. False: @a file is not a wheel of the recipe's package and version. */
bool ws_index_wheel_parse(const char *file, const struct ws_recipe *recipe, struct ws_arena *a,
	struct ws_candidate *wheel);

/**
 * Lists folders, indexes, and the wheels that @a lock pins. Indexes are read with @a fetch's http
 * and index, or listed as the store remembers them: with @a fetch NULL, which sends no request, and
 * after one warning per server (@a warned) where an index cannot be read. False only when the run
 * is to stop.
 */
bool ws_index_wheels_list(const struct ws_store *store, const struct ws_fetch *fetch,
	const struct ws_wheel_places *places, const struct ws_lock *lock,
	const struct ws_recipe *recipe, struct ws_map *warned, struct ws_arena *a,
	struct ws_index_wheels *wheels, struct ws_err *err);

/** The digest of the file that @a url returned last; NULL: it was never fetched. */
const char *ws_url_digest_recall(const struct ws_store *store, const char *url, struct ws_arena *a);

/** Remembers the digest. A failed write costs one more download. */
void ws_url_digest_remember(const struct ws_store *store, const char *url, const char *sha256);

#endif
