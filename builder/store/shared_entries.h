/**
 * shared_entries.h - what other hosts made or downloaded
 *
 * The second tier behind the store: asked for what the store does not have, told what was made.
 * Where the records are, who may be believed, and that bytes are what their digest says is the
 * business of whoever implements this (remote/). What records mean is said by who asks: results of
 * commands by engine/sharing.h, downloads by fetch/shared_tree.h and shared_file.h. Nothing here
 * fails: what does not come is a miss.
 */
#ifndef WS_STORE_SHARED_ENTRIES_H
#define WS_STORE_SHARED_ENTRIES_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/** A download is not larger, file or tree: sizes are a server's word. */
#define WS_LARGEST_SHARED ((uint64_t)32 << 30)

/** A file by its digest. */
struct ws_shared_file {
	const char *digest;
	uint64_t size_bytes; /**< it has so many; 0: not known */
	const char *path;    /**< where it is, or goes; NULL: in the store, by its digest */
	bool here;           /**< get_files: it is here now */
	bool there;          /**< put: a record from there names it, so it is not sent */
	bool unnamed;        /**< put: it is sent, and its record does not name it */
};

/** A small text, by what it is and the key that it is of. */
struct ws_shared_record {
	const char *kind;   /**< "result", "manifests", "tree", "file" */
	const char *key;    /**< 64 digits */
	struct ws_buf text; /**< released by its owner; empty where nobody who is believed has one */
	/** Which the text speaks of, with their sizes; nobody has signed those. */
	const struct ws_shared_file *files;
	size_t file_count;
};

/** First member of its own struct. */
struct ws_shared {
	bool writes; /**< put is wanted */
	/** Fills the texts, all at once, and the files in @a a. */
	void (*get_records)(
		struct ws_shared *self, struct ws_shared_record *records, size_t count, struct ws_arena *a);
	/** Brings files to their paths or into the store, all at once. */
	void (*get_files)(struct ws_shared *self, struct ws_shared_file *files, size_t count);
	/** The files of the records, which are here, then the records. */
	void (*put)(struct ws_shared *self, const struct ws_shared_record *records, size_t count);
};

#endif
