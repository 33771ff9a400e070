/* fuzz_fatbin.c - any bytes as a .nv_fatbin section: what is accepted must lie inside it and add
 * up. */
#include "elf/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
must(bool truth)
{
	if (!truth) {
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_fatbin fatbin;
	struct ws_err err = {0};
	if (!ws_fatbin_read(bytes, len, a, &fatbin, &err)) {
		must(err.kind == WS_ERR_FETCH && err.text[0]);
		return 0;
	}
	uint64_t stored = 0;
	for (size_t i = 0; i < fatbin.image_count; i++) {
		stored += fatbin.images[i].stored_bytes;
		must(fatbin.images[i].container < fatbin.container_count);
	}
	must(stored + 64 * fatbin.image_count + 16 * fatbin.container_count <= len);
	size_t count;
	const struct ws_fatbin_arch *archs = ws_fatbin_archs(&fatbin, a, &count);
	for (size_t i = 0; i < count; i++) {
		must(archs[i].code || archs[i].ptx);
		must(archs[i].containers > 0 && archs[i].containers <= fatbin.container_count);
		must(i == 0 || archs[i - 1].sm < archs[i].sm
			|| (archs[i - 1].sm == archs[i].sm && archs[i - 1].suffix < archs[i].suffix));
	}
	return 0;
}
