/**
 * download_world.h - a server with one file, and where its download goes
 */
#ifndef WS_TESTS_UNIT_DOWNLOAD_WORLD_H
#define WS_TESTS_UNIT_DOWNLOAD_WORLD_H

#include "net/download.h"
#include "served.h"

#define WS_DOWNLOADS_SIZE ((size_t)200000)

struct ws_downloads {
	struct ws_served s;
	struct ws_http *http;
	const char *bytes;
	struct ws_digest digest;
	const char *path, *partial;
	struct ws_arena *a;
};

struct ws_downloads ws_downloads_begin(struct ws_arena *a);
void ws_downloads_end(struct ws_downloads *w);

#define WS_AUTO_DOWNLOADS __attribute__((cleanup(ws_downloads_end)))

/** The pinned file, with these faults of the server. */
struct ws_download ws_downloads_file(const struct ws_downloads *w, const char *faults);

/** The file is there, right, and nothing else is left. */
void ws_downloads_assert_landed(const struct ws_downloads *w, struct ws_download *file);

/** Downloads it anew, with these faults. */
void ws_downloads_assert(const struct ws_downloads *w, const char *faults);

/** Leaves the first @a len bytes and a note, as an interrupted run does. */
void ws_downloads_leave(
	const struct ws_downloads *w, const char *bytes, size_t len, const char *note);

const char *ws_downloads_etag(const struct ws_downloads *w);

#endif
