/* standalone.c - a fuzz target without a fuzzer: runs it once over every file of the folders that
 * are named on the command line. */
#include "base/fs.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
run_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!S_ISREG(entry->status.st_mode)) {
		return true;
	}
	if (!ws_fs_read(entry->path, &bytes, err)) {
		return false;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)ws_buf_text(&bytes), bytes.len);
	++*(unsigned *)self;
	return true;
}

int
main(int argc, char **argv)
{
	unsigned count = 0;
	for (int i = 1; i < argc; i++) {
		struct ws_err err = {0};
		if (!ws_fs_walk(argv[i], run_file, &count, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
	}
	printf("%u inputs\n", count);
	return count == 0;
}
