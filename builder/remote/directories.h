/**
 * directories.h - folders as Directory messages of the Remote Execution API
 *
 * A folder there is a message that names its files, folders and links with their digests, so it has
 * a digest itself, and equal folders are one. What a message or a file is made of goes into a list
 * of items, each once, for whoever puts them on a server (blobs.h).
 */
#ifndef WS_REMOTE_DIRECTORIES_H
#define WS_REMOTE_DIRECTORIES_H

#include "base/map.h"
#include "base/vec.h"
#include "remote/cache_server.h"
#include "store/tree.h"

enum ws_entry_kind {
	WS_ENTRY_FILE,
	WS_ENTRY_EXECUTABLE,
	WS_ENTRY_LINK,
	WS_ENTRY_FOLDER, /**< whose message is made already */
};

/** Something in a folder. */
struct ws_entry {
	const char *path; /**< relative, '/' between parts */
	const char
		*value; /**< 64 digits of the file or of the folder's message; the target of a link */
	uint64_t size_bytes; /**< of the file or the message */
	enum ws_entry_kind kind;
};

/** Zeroed but for the arena, it is empty. */
struct ws_directories {
	struct ws_arena *a;
	WS_VEC(struct ws_item) items; /**< messages and files, each once */
	struct ws_map known;          /**< digest -> listed already */
};

/** The message of a folder with these; sorts them. The entry of it has no path. */
struct ws_entry ws_directories_add(
	struct ws_directories *d, struct ws_entry *entries, size_t count);

/** The same of a tree, and its files; no file is looked at. */
struct ws_entry ws_directories_add_tree(struct ws_directories *d, const struct ws_tree *tree);

/** Lists bytes, which are copied, or the file at @a path. */
void ws_directories_add_bytes(
	struct ws_directories *d, const struct ws_buf *bytes, struct ws_digest *digest);
void ws_directories_add_file(
	struct ws_directories *d, const char *path, const char *digest, uint64_t size_bytes);

#endif
