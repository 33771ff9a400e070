/**
 * snapshot.h - makes a new snapshot: pages of every path, lists, manifest; then it is visible
 *
 * The last step of a publish: writes pages, lists and manifest beside the live ones, then switches
 * to them. publish.h has already completed the catalog and put new files into the folder.
 */
#ifndef WS_PUBLISH_FOLDER_SNAPSHOT_H
#define WS_PUBLISH_FOLDER_SNAPSHOT_H

#include "publish/catalog.h"
#include "publish/folder/publish.h"

struct ws_index_snapshot {
	const struct ws_index_order *order; /**< key, valid_s, keep, now_us; target for messages */
	struct ws_index_folder *target;     /**< begun */
	struct ws_index_catalog *catalog;   /**< gets its name and is sorted */
	const char *now;                    /**< order->now_us, as text */
	struct ws_index_outcome *outcome;   /**< paths, pages, removed */
	struct ws_arena *a;
};

bool ws_index_snapshot_write(struct ws_index_snapshot *s, struct ws_err *err);

#endif
