/**
 * yank.h - wheels that should not be taken any more (PEP 592)
 */
#ifndef WS_PUBLISH_YANK_H
#define WS_PUBLISH_YANK_H

#include "publish/catalog.h"

/**
 * Yanks the wheels that @a what means, or takes that back where @a reason is NULL. @a what is
 * "NAME==VERSION", with or without a label, or a file name, which may be the variant's. @a reason
 * is borrowed. Sets @a edited where an entry was not so before.
 * @return how many are meant.
 */
size_t ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason,
	bool *edited, struct ws_arena *a);

#endif
