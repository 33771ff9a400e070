/**
 * opened_wheel.h - a wheel that is open for taking members out of it, wherever it lies
 *
 * Read by ranges where the server gives parts of files, else downloaded whole for as long as it is
 * open, else a local file. What is read by ranges is not covered by the wheel's own digest, so every
 * member is checked against RECORD, and RECORD against a pin where there is one. Which members to
 * take and what they mean is the caller's.
 */
#ifndef WS_WHEELFILE_OPENED_WHEEL_H
#define WS_WHEELFILE_OPENED_WHEEL_H

#include "archive/file_source.h"
#include "archive/zip.h"
#include "fetch/fetch.h"
#include "net/index_page.h"
#include "net/remote.h"
#include "store/scratch.h"
#include "wheelfile/landing.h"

struct ws_opened_wheel {
	const char *name;               /**< file name */
	struct ws_zip zip;              /**< its entries; the reading is done by ws_opened_wheel_take */
	struct ws_digest record_sha256; /**< of RECORD */
	struct ws_buf record;           /**< RECORD's text */
	struct ws_remote remote;        /**< by ranges */
	struct ws_file_source file;     /**< local, or downloaded */
	struct ws_scratch scratch;      /**< folder of what was downloaded; no path: nothing was */
	uint64_t scratch_bytes;         /**< that came over the network for it */
	bool is_remote;
};

/**
 * Opens a wheel of an index, asking for its last @a tail_bytes first; a server that gives no parts
 * of files is warned of and the whole is downloaded to the store's partial/. Entries live in @a a.
 */
bool ws_opened_wheel_get(const struct ws_fetch *fetch, const struct ws_index_file *file,
	uint64_t tail_bytes, struct ws_arena *a, struct ws_opened_wheel *w, struct ws_err *err);

/** Opens a file, called @a name in messages. */
bool ws_opened_wheel_read(const char *path, const char *name, struct ws_arena *a,
	struct ws_opened_wheel *w, struct ws_err *err);

/** Removes what was downloaded. One that did not open is fine. */
void ws_opened_wheel_close(struct ws_opened_wheel *w);

#define WS_AUTO_OPENED_WHEEL __attribute__((cleanup(ws_opened_wheel_close)))

/** What came over the network for it so far. */
uint64_t ws_opened_wheel_wire_bytes(const struct ws_opened_wheel *w);

/** A member to take. */
struct ws_pick {
	const struct ws_zip_entry *entry;
	const char *path; /**< where it goes: in the tree, or absolute and beside it */
};

/** Takes the members. Sorts @a picks by their place in the wheel. */
bool ws_opened_wheel_take(struct ws_opened_wheel *w, struct ws_pick *picks, size_t count,
	struct ws_landing *landing, struct ws_err *err);

#endif
