/* fuzz_bundle.c - any bytes as the list of a bundle: what is accepted names nothing that leads out
 * of the store, and is written again and read as the same. */
#include "base/fs.h"
#include "bundle/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
check_part(const char *name)
{
	if (!ws_path_is_inside(name) || strchr(name, '/') || name[0] == '.') {
		abort();
	}
}

static void
check_names(const struct ws_bundle_head *head, struct ws_arena *a)
{
	for (size_t i = 0; i < head->tree_count; i++) {
		check_part(ws_bundle_tree_name(&head->trees[i], a));
	}
	for (size_t i = 0; i < head->blob_count; i++) {
		check_part(head->blobs[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0}, once = {0}, twice = {0};
	struct ws_bundle_head head;
	struct ws_err err = {0};
	ws_buf_add(&text, bytes, len);
	if (!ws_bundle_head_read("a.bundle", &text, a, &head, &err)) {
		if (err.kind != WS_ERR_FETCH) {
			abort();
		}
		return 0;
	}
	check_names(&head, a);
	ws_bundle_head_write(&head, &once);
	if (!ws_bundle_head_read("a.bundle", &once, a, &head, NULL)) {
		abort();
	}
	ws_bundle_head_write(&head, &twice);
	if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0) {
		abort();
	}
	return 0;
}
