/**
 * kit_def.h - an archive kit's definition: a pinned list of archives and a map of paths
 *
 * Plain data, filled from matrix/kits/<name>.json. Archives are applied in order; inside one the
 * first map entry that matches a member wins; a later archive may not replace a file with
 * different bytes; then the literal files, the links, and the modes.
 */
#ifndef WS_MODEL_KIT_DEF_H
#define WS_MODEL_KIT_DEF_H

#include "base/crypto.h"

#include <sys/types.h>

enum ws_archive_origin {
	WS_ORIGIN_INDEX,  /**< a wheel of a package on an index */
	WS_ORIGIN_DEBIAN, /**< a path below a Debian mirror */
	WS_ORIGIN_URL,    /**< a release URL (NVIDIA's redistributables) */
};

enum ws_archive_format {
	WS_FORMAT_WHEEL,
	WS_FORMAT_DEB,
	WS_FORMAT_TAR, /**< any compression libarchive knows */
};

/** "x/" maps everything below a folder, anything else one file. */
struct ws_map_entry {
	const char *from;
	const char *to;
};

struct ws_kit_archive {
	enum ws_archive_origin origin;
	enum ws_archive_format format;
	const char *package; /**< INDEX: package; else a name for messages */
	const char *version;
	const char *file;          /**< file name */
	const char *pool;          /**< DEBIAN: path below the mirror; URL: the URL */
	const char *sha256;        /**< of the whole file; "" when not known */
	uint64_t size;             /**< bytes of the whole file; 0 when not known */
	bool by_range;             /**< WHEEL: only the mapped members are fetched */
	bool strip_top;            /**< TAR: the first part of every member's name is left out */
	const char *record;        /**< WHEEL: member name of RECORD */
	const char *record_sha256; /**< WHEEL: of RECORD; every member is checked against it */
	const struct ws_map_entry *map;
	size_t map_count;
};

struct ws_kit_file {
	const char *path;
	const char *text;
	mode_t mode;
};

struct ws_kit_link {
	const char *path;
	const char *target;
};

struct ws_kit_def {
	const char *name;        /**< "cuda-12.4" */
	const char *cuda;        /**< "12.4" */
	const char *nvcc;        /**< "12.4.131" */
	struct ws_digest digest; /**< of the definition file */
	const struct ws_kit_archive *archives;
	size_t archive_count;
	const struct ws_kit_file *files;
	size_t file_count;
	const struct ws_kit_link *links;
	size_t link_count;
	const char *const *executables; /**< paths that get mode 0755 */
	size_t executable_count;
};

#endif
