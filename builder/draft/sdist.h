/**
 * sdist.h - the source distribution of a version, on an index
 */
#ifndef WS_DRAFT_SDIST_H
#define WS_DRAFT_SDIST_H

#include "fetch/fetch.h"
#include "model/version.h"
#include "net/index.h"

/** What an index has of a package. */
struct ws_sdist_found {
	const struct ws_index_file *file; /**< .tar.gz before .zip; NULL: there is none */
	bool has_wheels;                  /**< the version is there, as wheels */
	const char *others;               /**< "1.0, 1.1": versions that have one; "" none */
	const struct ws_version *newest;  /**< of those, no pre-release if there is a final one; NULL */
};

/**
 * Looks on the default indexes. A package that none of them has, or a version that is not there at
 * all, is WS_ERR_CONFIG and names what there is; a version of wheels alone is not. @a version NULL:
 * any that has a source distribution.
 */
bool ws_sdist_find(const struct ws_fetch *fetch, const char *package,
	const struct ws_version *version, struct ws_arena *a, struct ws_sdist_found *found,
	struct ws_err *err);

/**
 * The version that the name of a source distribution of @a package (normalised) says:
 * "demo-1.0.tar.gz" (PEP 625) and "de-mo-1.0.zip" (before it). False for other files.
 */
bool ws_sdist_version(
	const char *file, const char *package, struct ws_arena *a, struct ws_version *version);

#endif
