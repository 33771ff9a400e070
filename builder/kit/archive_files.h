/**
 * archive_files.h - the whole archives of a kit's definition, in the store
 *
 * Wheels are found through the index by package, name and digest, Debian packages below a mirror,
 * anything else by its URL. All are fetched together, resumed where an earlier run stopped, and are
 * in the store only once their digest was right. What is read by ranges, and what becomes of an
 * archive, is archive_kit.h's.
 */
#ifndef WS_KIT_ARCHIVE_FILES_H
#define WS_KIT_ARCHIVE_FILES_H

#include "fetch/fetch.h"
#include "model/kit_def.h"
#include "net/index_page.h"

/** The index's file of a wheel; NULL on failure. */
const struct ws_index_file *ws_archive_find_wheel(const struct ws_fetch *fetch,
	const struct ws_kit_archive *archive, struct ws_arena *a, struct ws_err *err);

enum ws_archive_files_result {
	WS_ARCHIVE_FILES_THERE,
	WS_ARCHIVE_FILES_NO_DEBIAN, /**< no mirror is known, or it does not have a package; err says so */
	WS_ARCHIVE_FILES_FAILED,
};

/** Brings every archive that is not read by ranges: in the store by its sha256 afterwards. */
enum ws_archive_files_result ws_archive_files_get(const struct ws_fetch *fetch,
	const struct ws_kit_def *def, struct ws_arena *a, struct ws_err *err);

#endif
