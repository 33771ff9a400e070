/**
 * opened_wheel.h - an open wheel, local or remote, for extracting members
 *
 * Read by ranges where the server supports them, else downloaded whole while it is open, else a
 * local file. A ranged read is not covered by the wheel's own digest. So every member is checked
 * against RECORD, and RECORD against a pin where there is one. The caller chooses the members.
 */
#ifndef WS_WHEELFILE_OPENED_WHEEL_H
#define WS_WHEELFILE_OPENED_WHEEL_H

#include "archive/zip.h"
#include "fetch/fetch.h"
#include "net/index_page.h"
#include "net/range_source.h"
#include "store/tree.h"

/* ---- where members go: into a tree, or beside it ---- */

/**
 * Takes one file at a time, in pieces, with a check for a stop request at each, and returns its
 * digest at the end. A path that the tree has already is compared instead: archives of one kit
 * may share a file, but not have two versions of it. The caller chooses members and digests.
 */
struct ws_member_sink {
	struct ws_tree_builder *tree; /**< NULL when nothing goes into one */
	const char *archive;          /**< for messages */
	struct ws_stop *stop;         /**< borrowed; NULL: no stop requests */
	/* The file that is open. */
	const char *path;         /**< NULL: none; borrowed */
	struct ws_hasher *hasher; /**< of a file that is not being added to the tree */
	int fd;                   /**< of one beside it */
	bool is_beside;
};

struct ws_member_sink ws_member_sink_make(
	struct ws_tree_builder *tree, const char *archive, struct ws_stop *stop);

/** The next file, at @a path of the tree. */
bool ws_member_sink_open(struct ws_member_sink *l, const char *path, struct ws_err *err);

/** WS_ERR_INTERRUPTED or WS_ERR_STOPPED once somebody asked to stop. */
bool ws_member_sink_add(
	struct ws_member_sink *l, const void *bytes, size_t len, struct ws_err *err);

/** Ends the file. Another archive's file of this path with other bytes is WS_ERR_FETCH. */
bool ws_member_sink_close(struct ws_member_sink *l, struct ws_digest *digest, struct ws_err *err);

/** Closes an open file without a result; the caller abandons the tree. */
void ws_member_sink_drop(struct ws_member_sink *l);

struct ws_opened_wheel {
	const char *name;               /**< file name */
	struct ws_zip zip;              /**< its entries; the reading is done by ws_opened_wheel_take */
	struct ws_digest record_sha256; /**< of RECORD */
	struct ws_buf record;           /**< RECORD's text */
	struct ws_range_source remote;  /**< by ranges; its wire_bytes came over the network */
	struct ws_file_source file;     /**< local, or downloaded */
	struct ws_scratch scratch;      /**< folder of what was downloaded; no path: nothing was */
	uint64_t scratch_bytes;         /**< likewise, of the download */
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

/** Removes the download. A wheel that failed to open is allowed. */
void ws_opened_wheel_close(struct ws_opened_wheel *w);

#define WS_AUTO_OPENED_WHEEL __attribute__((cleanup(ws_opened_wheel_close)))

/** A member to take. */
struct ws_pick {
	const struct ws_zip_entry *entry;
	const char *path; /**< where it goes: in the tree, or absolute and beside it */
};

/** Takes the members. Sorts @a picks by their place in the wheel. */
bool ws_opened_wheel_take(struct ws_opened_wheel *w, struct ws_pick *picks, size_t count,
	struct ws_member_sink *sink, struct ws_err *err);

#endif
