/* asks_probe.c - what the headers below some folders ask that cannot be listed.
 *
 *     asks_probe FOLDER...    "include: FILE: what" and "question: FILE: what" a line, then "files:
 *                             N"
 *
 * All are taken as texts of one unit, so a macro of one counts for the others.
 */
#include "base/fs.h"
#include "compile/asks.h"

#include <ftw.h>

static struct ws_asks asks;
static unsigned files;

static void
take(struct ws_asks_taker *self WS_UNUSED, struct ws_ask ask WS_UNUSED)
{
}

static void
tell(struct ws_asks_taker *self WS_UNUSED, enum ws_unknown kind, const char *file, const char *what)
{
	printf("%s: %s: %s\n", kind == WS_UNKNOWN_INCLUDE ? "include" : "question",
		file ? file : "a macro", what);
}

static int
scan(const char *path, const struct stat *status, int kind, struct FTW *at WS_UNUSED)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (kind == FTW_F && S_ISREG(status->st_mode) && ws_fs_read(path, &text, NULL)) {
		ws_asks_scan(&asks, ws_arena_strdup(asks.a, path), ws_buf_str(&text));
		files++;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_asks_taker taker = {take, tell};
	asks = (struct ws_asks){.taker = &taker, .a = a};
	for (int i = 1; i < argc; i++) {
		nftw(argv[i], scan, 16, FTW_PHYS);
	}
	ws_asks_finish(&asks);
	printf("files: %u\n", files);
	return 0;
}
