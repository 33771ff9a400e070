/**
 * render.h - the pages of an index as text: for installers and for people
 *
 * Pages for installers: PEP 503 (HTML), 592 (yanked), 629 (version), 691 and 700 (JSON 1.1), 714
 * (core-metadata). The page for people is one HTML file (browse.html) that contains its data and
 * loads nothing, so it works from file://, too. All texts of wheels are escaped. Addresses are
 * relative: "../../../files/NAME" from "PATH/simple/PACKAGE/". Pure.
 */
#ifndef WS_PUBLISH_RENDER_H
#define WS_PUBLISH_RENDER_H

#include "publish/catalog.h"

/**
 * The page of one package, in the given order: files in the folder of the page, which have no
 * metadata_sha256, then at least one wheel.
 */
void ws_index_page_html(
	const struct ws_index_entry *const *entries, size_t count, struct ws_buf *out);
void ws_index_page_json(
	const struct ws_index_entry *const *entries, size_t count, struct ws_buf *out);

/** The page that lists packages; @a names are normalised and sorted. */
void ws_index_root_html(const char *const *names, size_t count, struct ws_buf *out);
void ws_index_root_json(const char *const *names, size_t count, struct ws_buf *out);

/** Text for HTML, in an element or between double quotes. */
void ws_index_put_html(struct ws_buf *out, const char *text);

/** A file name as part of an address: '+' is "%2B" (RFC 3986, all but unreserved characters). */
void ws_index_put_url(struct ws_buf *out, const char *text);

/**
 * Appends the page for people. @a paths are those of ws_index_paths. @a pins: users may install
 * from older snapshots.
 */
void ws_index_browse_html(const struct ws_index_catalog *catalog, const struct ws_index_path *paths,
	size_t count, bool pins, struct ws_buf *out);

#endif
