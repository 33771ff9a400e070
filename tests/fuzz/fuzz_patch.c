/* fuzz_patch.c - any text as a patch: what is accepted stays inside, and applying it is safe. */
#include "base/fs.h"
#include "fetch/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf after = {0};
	struct ws_patch_file patch;
	struct ws_err err = {0};
	/* The part behind a form feed is the file that is patched. */
	const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
	size_t len = feed ? (size_t)(feed - data) : size;
	struct ws_str before = {feed ? (const char *)feed + 1 : "", feed ? size - len - 1 : 0};
	const char *text = ws_arena_copy(a, (const char *)data, len);
	if (!ws_patch_parse("fuzz", text, len, a, &patch, &err)) {
		if (err.kind != WS_ERR_CONFIG) {
			abort();
		}
		return 0;
	}
	for (size_t i = 0; i < patch.count; i++) {
		if (!ws_path_is_inside(patch.changes[i].path)) {
			abort();
		}
		if (!ws_patch_apply(&patch, &patch.changes[i], before, &after, &err)
			&& err.kind != WS_ERR_CONFIG) {
			abort();
		}
	}
	return 0;
}
