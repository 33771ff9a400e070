/**
 * strays.h - what lies in the folder of an index where installers follow, and publishing did not
 * put there
 *
 * Whoever can write to the folder can lead a path elsewhere ("all -> ../evil", "@2026-11-21.1/files
 * -> /tmp") or lay a wheel beside the others, and no page and no signature changes. So: a name at
 * the top is a snapshot, or a link "NAME -> current/NAME" for what the visible one has, or some
 * other link that ends in a snapshot; the visible one has the pages of its manifest; files/ has the
 * wheels that a snapshot lists, and their metadata. Plain files at the top that no snapshot has
 * (robots.txt) and what begins with a dot are the owner's.
 */
#ifndef WS_PUBLISH_FOLDER_STRAYS_H
#define WS_PUBLISH_FOLDER_STRAYS_H

#include "publish/catalog.h"
#include "publish/folder/target.h"

/** @a path is below the folder: "all", "files/x.whl". False, with err set, ends the search. */
typedef bool (*ws_index_stray_fn)(void *self, const char *path, struct ws_err *err);

/** Of the index as @a t has it, whose visible catalog is @a catalog. An older one that cannot be
 * read is an error. */
bool ws_index_strays(const struct ws_index_target *t, const struct ws_index_catalog *catalog,
	ws_index_stray_fn on_stray, void *self, struct ws_err *err);

/** Moves a stray to the folder ".stray". */
bool ws_index_stray_move(const struct ws_index_target *t, const char *path, struct ws_err *err);

/**
 * Moves all of them and makes the links anew; @a count is how many there were. @a damaged: a page
 * of the visible snapshot is missing or has another size. For who publishes.
 */
bool ws_index_strays_mend(struct ws_index_target *t, const struct ws_index_catalog *catalog,
	size_t *count, bool *damaged, struct ws_err *err);

/** A file of files/ that no snapshot lists; where an older one cannot be read, none is known to
 * be. */
bool ws_index_is_stray_file(
	const struct ws_index_target *t, const struct ws_index_catalog *catalog, const char *name);

#endif
