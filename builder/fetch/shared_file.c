#include "fetch/shared_file.h"

#include "store/shared_entries.h"

#include <string.h>

#define KIND "file"
#define TEXT "wheelsmith.file/1\n"

/* 0: no record that is believed says it. */
static uint64_t
ask_size(struct ws_shared *shared, const char *sha256)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_shared_record record = {.kind = KIND, .key = sha256};
	shared->get_records(shared, &record, 1, a);
	bool says = record.text.len > 0 && record.file_count == 1
		&& strcmp(record.files[0].digest, sha256) == 0
		&& record.files[0].size_bytes <= WS_LARGEST_SHARED;
	ws_buf_release(&record.text);
	return says ? record.files[0].size_bytes : 0;
}

bool
ws_shared_file_get(const struct ws_fetch *fetch, const char *sha256, uint64_t size_bytes)
{
	struct ws_shared *shared = fetch->shared;
	if (!shared) {
		return false;
	}
	struct ws_shared_file file = {
		.digest = sha256, .size_bytes = size_bytes ? size_bytes : ask_size(shared, sha256)};
	if (file.size_bytes > 0) {
		shared->get_files(shared, &file, 1);
	}
	return file.here;
}

void
ws_shared_file_tell(const struct ws_fetch *fetch, const char *sha256)
{
	struct ws_shared_file file = {.digest = sha256};
	struct ws_shared_record record = {.kind = KIND, .key = sha256, .files = &file, .file_count = 1};
	if (fetch->shared && fetch->shared->writes) {
		ws_buf_puts(&record.text, TEXT);
		fetch->shared->put(fetch->shared, &record, 1);
		ws_buf_release(&record.text);
	}
}
