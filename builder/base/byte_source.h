/**
 * byte_source.h - bytes at offsets: a local file, or a remote one read by ranges
 *
 * The zip reader reads from a source. A read streams: bytes arrive in order in pieces of any size,
 * so nothing as large as a library needs to fit in memory. Remote sources: net/range_source.h.
 */
#ifndef WS_BASE_BYTE_SOURCE_H
#define WS_BASE_BYTE_SOURCE_H

#include "base/err.h"

#include <stdint.h>
#include <sys/stat.h>

/** Takes the next bytes of a stream; false (with @a err set) ends the stream. */
typedef bool (*ws_take)(void *self, const void *bytes, size_t len, struct ws_err *err);

/** One stretch to read. */
struct ws_span {
	uint64_t offset;
	uint64_t len; /**< bytes, at least 1 */
	ws_take take;
	void *self; /**< for take */
};

/** Bytes at offsets: the first member of a file's or a remote's own struct. */
struct ws_byte_source {
	const char *name; /**< for messages */
	uint64_t size;    /**< bytes */
	/**
	 * Reads every span in the order given; may request several at once. A source that is shorter
	 * than its size, or that changed since it was opened, is an error.
	 */
	bool (*read)(
		struct ws_byte_source *self, const struct ws_span *spans, size_t count, struct ws_err *err);
};

/* ---- a local file ---- */

struct ws_file_source {
	struct ws_byte_source source; /**< hand out its address */
	int fd;
	struct stat opened; /**< as it was then */
};

/** Opens a regular file. @a path is borrowed for messages. */
bool ws_file_source_open(const char *path, struct ws_file_source *file, struct ws_err *err);

/** Closing twice, or a source that failed to open, is allowed. */
void ws_file_source_close(struct ws_file_source *file);

#define WS_AUTO_FILE_SOURCE __attribute__((cleanup(ws_file_source_close)))

#endif
