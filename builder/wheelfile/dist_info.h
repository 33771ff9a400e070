/**
 * dist_info.h - reading WHEEL and METADATA of any wheel
 *
 * Reading is strict, because a file that two readers understand differently shows one face to us
 * and another to pip: every line is a field, no deciding field is repeated, no control
 * characters, UTF-8. wheel/wheel.h writes ours.
 *
 * Sources: binary distribution format, core metadata, PEP 508 (requirements). Errors are
 * WS_ERR_FETCH with file and line. Texts live in the arena.
 */
#ifndef WS_WHEELFILE_DIST_INFO_H
#define WS_WHEELFILE_DIST_INFO_H

#include "archive/zip.h"
#include "model/wheel_name.h"

/** WHEEL. */
struct ws_wheel_info {
	unsigned major, minor; /**< Wheel-Version; major is 1 */
	const char *generator; /**< "bdist_wheel (0.45.1)"; NULL: not said */
	const char *build;     /**< build tag; NULL: none */
	const char *const
		*tags;        /**< lower case, expanded, each once, sorted: "cp311-cp311-linux_x86_64" */
	size_t tag_count; /**< at least 1 */
	bool purelib;     /**< Root-Is-Purelib, the first */
	bool purelib_twice;
};

bool ws_wheel_info_read(
	struct ws_str text, struct ws_arena *a, struct ws_wheel_info *info, struct ws_err *err);

/** One Requires-Dist. */
struct ws_requirement {
	const char *text;       /**< as written: "torch[opt] (>=2.4) ; python_version < '3.12'" */
	const char *package;    /**< normalised: "torch" */
	const char *specifiers; /**< ">=2.4"; "": any version */
	const char *url;        /**< of "name @ url"; NULL: none */
	const char *marker;     /**< when it holds; NULL: always */
};

/** The deciding fields of METADATA. */
struct ws_metadata_info {
	unsigned major, minor;       /**< Metadata-Version; major is 1 or 2 */
	const char *name;            /**< as written: "flash_attn" */
	const char *package;         /**< normalised: "flash-attn" */
	struct ws_version version;   /**< with its label */
	const char *summary;         /**< its first line; NULL: not said */
	const char *license;         /**< License-Expression, else the first line of License; NULL */
	const char *requires_python; /**< a specifier set; NULL: any Python */
	const struct ws_requirement *requires; /**< in the order of the file */
	size_t require_count;
};

bool ws_metadata_info_read(
	struct ws_str text, struct ws_arena *a, struct ws_metadata_info *info, struct ws_err *err);

/** WHEEL and METADATA with their folder. */
struct ws_dist_info {
	const char *folder; /**< "flash_attn-2.8.3+cu12torch2.6.dist-info" */
	struct ws_wheel_info wheel;
	struct ws_metadata_info metadata;
};

/** The dist-info folder at the top of an archive. It must have exactly one. */
const char *ws_dist_info_folder(const struct ws_zip *zip, struct ws_arena *a, struct ws_err *err);

/** Appends the file @a name of the folder @a folder, at most a size that makes sense. */
bool ws_dist_info_load(struct ws_zip *zip, const char *folder, const char *name,
	struct ws_buf *text, struct ws_err *err);

/** Reads WHEEL and METADATA of an open wheel (opened_wheel.h): a few kilobytes, also by ranges. */
bool ws_dist_info_read(
	struct ws_zip *zip, struct ws_arena *a, struct ws_dist_info *info, struct ws_err *err);

/**
 * Contradictions between file name, folder, WHEEL and METADATA, one line each. @a wheel and @a
 * metadata may be NULL: not readable.
 */
const char *const *ws_dist_info_disagreements(const struct ws_wheel_name *name, const char *folder,
	const struct ws_wheel_info *wheel, const struct ws_metadata_info *metadata, struct ws_arena *a,
	size_t *count);

#endif
