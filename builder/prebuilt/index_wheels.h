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
 * Reads the pages of @a package with @a fetch's http and index, one for each place: NULL for a
 * folder, and after one warning per server (@a warned) for an index that cannot be read. False only
 * when the run is to stop.
 */
bool ws_index_pages_read(const struct ws_fetch *fetch, const struct ws_wheel_places *places,
	const char *package, struct ws_map *warned, struct ws_arena *a,
	const struct ws_index_page ***pages, struct ws_err *err);

/**
 * Lists the wheels of folders, of indexes and of the pins of @a lock. An index without a page is
 * listed as the store remembers it. @a pages NULL: none was read.
 */
struct ws_index_wheels ws_index_wheels_list(const struct ws_store *store,
	const struct ws_wheel_places *places, const struct ws_index_page *const *pages,
	const struct ws_lock *lock, const struct ws_recipe *recipe, struct ws_arena *a);

/** The digest of the file that @a url returned last; NULL: it was never fetched. */
const char *ws_url_digest_recall(const struct ws_store *store, const char *url, struct ws_arena *a);

/** Remembers the digest. A failed write costs one more download. */
void ws_url_digest_remember(const struct ws_store *store, const char *url, const char *sha256);

#endif
