/**
 * browse.h - the page for people: what an index has, what it lacks, and the line that installs
 *
 * One HTML file with all that it shows inside (browse.html), so that it works from file:// as well;
 * it loads nothing. Texts of wheels are data: they reach the page as text alone. Pure.
 */
#ifndef WS_PUBLISH_BROWSE_H
#define WS_PUBLISH_BROWSE_H

#include "publish/catalog.h"

/**
 * Appends the page; @a paths are those of the catalog (paths.h), without all/. @a pins: snapshots
 * have their pages for ever, and can be installed from.
 */
void ws_index_browse_html(const struct ws_index_catalog *catalog,
	const struct ws_index_answers *paths, size_t count, bool pins, struct ws_buf *out);

#endif
