/**
 * pkg_info.h - the metadata of a source distribution, as data
 *
 * PKG-INFO: core metadata (core-metadata specification, PEP 345, 566, 639, 643), the form of RFC 822
 * headers. Older files leave requirements to requires.txt of the egg-info folder (setuptools'
 * "Python Eggs" notes). What a recipe cannot hold is left out: texts of several lines, "UNKNOWN",
 * URLs with credentials, requirements that name no package.
 */
#ifndef WS_DRAFT_PKG_INFO_H
#define WS_DRAFT_PKG_INFO_H

#include "base/str.h"
#include "model/recipe.h"

struct ws_pkg_info {
	const char *name;             /**< "causal_conv1d"; NULL: not said */
	const char *version;          /**< NULL: not said */
	const char *description_type; /**< "text/markdown"; NULL: not said */
	bool has_long_license;        /**< License holds a whole text, which was left out */
	struct ws_metadata metadata;  /**< all but description_file */
};

/** Reads a PKG-INFO; the description below its headers is skipped. Texts live in @a a. */
void ws_pkg_info_read(struct ws_str text, struct ws_arena *a, struct ws_pkg_info *info);

/** Requirements and extras of a requires.txt, in place of those of @a metadata. */
void ws_requires_txt_read(struct ws_str text, struct ws_arena *a, struct ws_metadata *metadata);

#endif
