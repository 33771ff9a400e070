/**
 * shared_entries.h - interface to the entries of other hosts
 *
 * The second level behind the store: queried for missing entries, and given new ones. Implemented
 * by remote/shared_results.c, which checks signatures and digests. Callers know the meaning of
 * records: engine/sharing.c of results, fetch/shared_downloads.c of downloads. These functions
 * never fail: a missing entry is a miss.
 */
#ifndef WS_STORE_SHARED_ENTRIES_H
#define WS_STORE_SHARED_ENTRIES_H

#include "base/text.h"

/** Limit of a download, file or tree: servers' sizes are not trusted. */
#define WS_LARGEST_SHARED ((uint64_t)32 << 30)

/** A file by its digest. */
struct ws_shared_file {
	const char *digest;
	uint64_t size_bytes; /**< 0: unknown */
	const char *path;    /**< its path, to read or to write; NULL: in the store, by its digest */
	bool here;           /**< get_files: set when the file was fetched */
	bool there;          /**< put: already on the server, so it is not sent */
	bool unnamed;        /**< put: sent, but not named by its record */
};

/** A small text by kind and key. */
struct ws_shared_record {
	const char *kind;   /**< "result", "manifests", "tree", "file" */
	const char *key;    /**< 64 digits */
	struct ws_buf text; /**< released by its owner; empty: no trusted record */
	/** The files that the text refers to, with unsigned sizes. */
	const struct ws_shared_file *files;
	size_t file_count;
};

/** First member of its implementation's struct. */
struct ws_shared {
	bool writes; /**< put may be called */
	/** Fills the texts together, and their files in @a a. */
	void (*get_records)(
		struct ws_shared *self, struct ws_shared_record *records, size_t count, struct ws_arena *a);
	/** Fetches files to their paths or into the store, together. */
	void (*get_files)(struct ws_shared *self, struct ws_shared_file *files, size_t count);
	/** Sends the files of the records, which are on this host, then the records. */
	void (*put)(struct ws_shared *self, const struct ws_shared_record *records, size_t count);
};

#endif
