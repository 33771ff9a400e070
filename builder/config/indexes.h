/**
 * indexes.h - package indexes by role, in matrices and in the user's configuration
 *
 * {"default": "https://...", "torch": ["https://...", "https://..."]}. `default` serves everything,
 * `torch` adds variants of torch that the default index has not, `prebuilt` has wheels of packages
 * that may be used instead of building them; a folder of such wheels may stand there by its path.
 */
#ifndef WS_CONFIG_INDEXES_H
#define WS_CONFIG_INDEXES_H

#include "base/table.h"
#include "model/matrix.h"

/** Indexes in the order of the text. */
struct ws_index_roles {
	const struct ws_index_role *at;
	size_t count;
};

/** Fills a struct ws_index_roles. */
extern const struct ws_type ws_type_indexes;

#endif
