/* standalone.c - a main for fuzz targets without libFuzzer: runs each file given, and every file
 * below each folder given. So corpora are ordinary tests with any compiler. */
#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static bool
run_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	unsigned *count = self;
	if (!S_ISREG(entry->status.st_mode)) {
		return true;
	}
	WS_AUTO_BUF struct ws_buf b = {0};
	if (!ws_fs_read(entry->path, &b, err)) {
		return false;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)ws_buf_text(&b), b.len);
	(*count)++;
	return true;
}

static bool
run(const char *path, unsigned *count, struct ws_err *err)
{
	if (ws_fs_is_dir(path)) {
		return ws_fs_walk(path, run_file, count, err);
	}
	struct ws_fs_entry entry = {.name = path, .path = path, .status = {.st_mode = S_IFREG}};
	return run_file(count, &entry, err);
}

int
main(int argc, char **argv)
{
	unsigned count = 0;
	for (int i = 1; i < argc; i++) {
		struct ws_err err = {0};
		char text[WS_ERR_PRINTED];
		if (!run(argv[i], &count, &err)) {
			fputs(ws_err_print(&err, text), stderr);
			return 2;
		}
	}
	printf("%u inputs\n", count);
	return count > 0 ? 0 : 1;
}
