/**
 * shared.h - results that other hosts made
 *
 * The second tier behind the store: asked for what the store has no result of, told what was made.
 * Where the records are, who may be believed, and that bytes are what their digest says is the
 * business of whoever implements this (remote/); what records mean is sharing.h's. Nothing here
 * fails: what does not come is a miss.
 */
#ifndef WS_ENGINE_SHARED_H
#define WS_ENGINE_SHARED_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/** A file of the store, by its digest. */
struct ws_shared_file {
	const char *digest;
	uint64_t size_bytes; /**< it has so many; 0: not known */
	bool here;           /**< get_files: the store has it now */
	bool there;          /**< put: a record from there names it, so it is not sent */
};

/** A small text, by what it is and the key that it is of. */
struct ws_shared_record {
	const char *kind;   /**< "result", "manifests" */
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
	/** Brings files into the store, all at once. */
	void (*get_files)(struct ws_shared *self, struct ws_shared_file *files, size_t count);
	/** The files of the records, which the store has, then the records. */
	void (*put)(struct ws_shared *self, const struct ws_shared_record *records, size_t count);
};

#endif
