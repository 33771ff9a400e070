/**
 * zip.h - a strict reader of zip archives, local or remote
 *
 * Two readers that understand one archive differently are how a wheel shows one face to a judge
 * and another to pip. So there is one rule: every byte belongs to exactly one entry that the
 * directory describes in the same way; names are plain paths below a folder; sizes and CRC hold.
 * Any other archive is refused with an error that names the entry and the difference.
 *
 * Reads from a struct ws_byte_source, so members of a remote wheel cost a few range requests.
 * Writes no files: bytes go to a struct ws_zip_sink. wheel/ writes zips.
 *
 * Format: PKWARE's APPNOTE.TXT 6.3.10. zip64 is read; encryption, spanning, methods other than
 * stored and deflated, and devices are not. Archives of sources may have a comment and links, which
 * servers and git archive write.
 */
#ifndef WS_ARCHIVE_ZIP_H
#define WS_ARCHIVE_ZIP_H

#include "base/byte_source.h"
#include "base/crypto.h"
#include "base/text.h"

#include <sys/types.h>

/** One member. Its bytes, headers included, are [offset, end) of the archive. */
struct ws_zip_entry {
	const char *name;      /**< '/' between parts; a folder's ends in '/' */
	uint64_t offset;       /**< of its local header */
	uint64_t end;          /**< where the next entry, or the directory, begins */
	uint64_t packed_bytes; /**< of its data */
	uint64_t size_bytes;   /**< of its contents */
	uint32_t crc;
	uint16_t method; /**< 0 stored, 8 deflated */
	uint16_t flags;  /**< general purpose bits, APPNOTE 4.4.4 */
	mode_t mode;     /**< permissions and type as Unix writes them; 0 when it has none */
	bool is_dir;
	bool is_link; /**< its contents are the target; only of sources */
};

/** In flags: sizes and CRC follow the data, for writers that do not know them before. */
#define WS_ZIP_FLAG_DESCRIPTOR (1u << 3)

/** Where to stop. Zero members mean the default. */
struct ws_zip_limits {
	uint64_t entries;         /**< default 200,000 (torch has 13,000) */
	uint64_t directory_bytes; /**< default 64 MiB (torch: 1.3 MB) */
	uint64_t total_bytes;     /**< contents of all entries together; default 16 GiB */
	uint64_t ratio;           /**< contents to packed, entries above 1 MiB; default 250 */
	uint64_t tail_bytes; /**< how much of the end to ask for first; default the least, 64 KiB */
	bool is_sources; /**< not a wheel: a comment of the archive and symbolic links are allowed */
};

/** An open archive. Borrows the source. */
struct ws_zip {
	struct ws_byte_source *source;
	struct ws_zip_limits limits;
	const struct ws_zip_entry *entries; /**< in the order of the archive */
	size_t count;
	uint64_t total_bytes;                      /**< contents of all entries */
	const struct ws_zip_entry *const *by_name; /**< the same, sorted by name, '/' before all else */
	bool is_malformed; /**< the last error was about the archive, not about reading its source */
};

/**
 * Takes the members that were asked for. `begin`, `bytes` and `end` come in the order of the
 * archive, one member after the other; `end` only once sizes and CRC proved right, so what a
 * failed read left before it is to be thrown away. The first member of the caller's own struct.
 */
struct ws_zip_sink {
	bool (*begin)(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err);
	bool (*bytes)(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err);
	bool (*end)(struct ws_zip_sink *self, struct ws_err *err);
};

/** Gap at which one read is cheaper than two: torch's headers then are a single range. */
#define WS_ZIP_GAP_BYTES ((uint64_t)64 << 10)

/**
 * Reads the directory and checks all that needs no entry's own bytes. Two reads of the
 * source, one when the directory lies in the tail. @a limits may be NULL. Entries are @a a's.
 */
bool ws_zip_open(struct ws_byte_source *source, const struct ws_zip_limits *limits,
	struct ws_arena *a, struct ws_zip *zip, struct ws_err *err);

/** The entry of this exact name, or NULL. */
const struct ws_zip_entry *ws_zip_find(const struct ws_zip *zip, const char *name);

/**
 * Reads the @a count entries, in the order of the archive, each once: those nearer to each other
 * than @a gap_bytes in one span, all spans in one call of the source. Sorts @a entries.
 */
bool ws_zip_read(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	uint64_t gap_bytes, struct ws_zip_sink *sink, struct ws_err *err);

/** Called with an entry whose contents were read to their end. */
typedef void ws_zip_hashed(
	void *self, const struct ws_zip_entry *entry, const struct ws_digest *sha256);

/** As ws_zip_read: calls @a each with the SHA-256 of every entry. Sorts @a entries. */
bool ws_zip_hash(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	ws_zip_hashed *each, void *self, struct ws_err *err);

/** Appends one entry's contents, at most @a limit bytes, to @a out. */
bool ws_zip_load(struct ws_zip *zip, const struct ws_zip_entry *entry, size_t limit,
	struct ws_buf *out, struct ws_err *err);

/** The zlib that is loaded: "1.2.13". Another one may pack to other bytes. */
const char *ws_zlib_version(void);

#endif
