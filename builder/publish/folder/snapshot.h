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

/** One publish. */
struct ws_publishing {
	const struct ws_index_order *order;
	struct ws_arena *a;
	struct ws_index_folder target;
	struct ws_index_catalog catalog;
	struct ws_map by_file;     /**< file name -> sha256 of published wheels */
	struct ws_map by_spelling; /**< normalised name -> file name */
	struct ws_map checks;      /**< GPU checks: sha256 -> reason of the failure, or "" */
	const char *now;           /**< order->now_us, as text */
	bool edited;               /**< an existing entry changed, or the signature is to be renewed */
	struct ws_index_outcome *outcome;
};

/** Names and sorts the catalog, writes and shows its snapshot, and removes old ones. */
bool ws_index_snapshot_write(struct ws_publishing *p, struct ws_err *err);

#endif
