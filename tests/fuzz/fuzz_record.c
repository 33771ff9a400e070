/* fuzz_record.c - any bytes as a RECORD: what is accepted is written again and read as the same. */
#include "base/fs.h"
#include "wheel/record_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static bool
write_again(void *self, const struct ws_record_entry *entry, struct ws_err *err WS_UNUSED)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_str_copy(entry->path, a);
	bool hashed = entry->digest.hex[0] != '\0';
	if (!ws_path_is_inside(path) || (!hashed && entry->size > 0)) {
		abort();
	}
	ws_record_add(self, path, hashed ? &entry->digest : NULL, entry->size);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf once = {0};
	WS_AUTO_BUF struct ws_buf twice = {0};
	struct ws_err err = {0};
	struct ws_str text = {(const char *)bytes, len};
	if (!ws_record_read(text, false, a, write_again, &once, &err)) {
		if (err.kind != WS_ERR_FETCH) {
			abort();
		}
		return 0;
	}
	if (!ws_record_read(ws_buf_str(&once), false, a, write_again, &twice, NULL)
		|| !ws_str_eq(ws_buf_str(&once), ws_buf_str(&twice))) {
		abort();
	}
	return 0;
}
