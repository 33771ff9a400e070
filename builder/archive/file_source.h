/**
 * file_source.h - a local file as a source of bytes
 *
 * The counterpart of a remote one (net/). The file is expected to stay as it is while it is
 * open; one that was written to meanwhile is an error, not a surprise.
 */
#ifndef WS_ARCHIVE_FILE_SOURCE_H
#define WS_ARCHIVE_FILE_SOURCE_H

#include "base/source.h"

#include <sys/stat.h>

struct ws_file_source {
	struct ws_source source; /**< hand out its address */
	int fd;
	struct stat opened; /**< as it was then */
};

/** Opens a regular file. @a path is borrowed for messages. */
bool ws_file_source_open(const char *path, struct ws_file_source *file, struct ws_err *err);

/** Closing twice, or one that did not open, is fine. */
void ws_file_source_close(struct ws_file_source *file);

#define WS_AUTO_FILE_SOURCE __attribute__((cleanup(ws_file_source_close)))

#endif
