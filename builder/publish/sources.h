/**
 * sources.h - the wheels that a person named: folders with some, or single files
 */
#ifndef WS_PUBLISH_SOURCES_H
#define WS_PUBLISH_SOURCES_H

#include "base/arena.h"
#include "base/err.h"

/** What one word stands for. */
struct ws_index_source {
	const char *folder;        /**< absolute: where a build.json may lie */
	const char *const *wheels; /**< absolute, sorted, at least one */
	size_t count;
};

/** A folder without wheels, and what is not there, are WS_ERR_PUBLISH. */
bool ws_index_source_find(
	const char *named, struct ws_arena *a, struct ws_index_source *source, struct ws_err *err);

#endif
