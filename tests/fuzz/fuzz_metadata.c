/* fuzz_metadata.c - any bytes as a METADATA: what is accepted is one line a field, and written
 * again it is read as the same. */
#include "wheelfile/dist_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
need(bool truth)
{
	if (!truth) {
		abort();
	}
}

static void
write_again(const struct ws_metadata_info *info, struct ws_buf *out)
{
	ws_buf_printf(out, "Metadata-Version: %u.%u\nName: %s\nVersion: %s\n", info->major, info->minor,
		info->name, info->version.text);
	if (info->requires_python) {
		ws_buf_printf(out, "Requires-Python: %s\n", info->requires_python);
	}
	for (size_t i = 0; i < info->require_count; i++) {
		const struct ws_requirement *r = &info->requires[i];
		need(r->package[0] && !strchr(r->text, '\n') && (!r->url || !r->specifiers[0]));
		ws_buf_printf(out, "Requires-Dist: %s\n", r->text);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf once = {0};
	WS_AUTO_BUF struct ws_buf twice = {0};
	struct ws_err err = {0};
	struct ws_metadata_info info, again;
	if (!ws_metadata_info_read((struct ws_str){(const char *)bytes, len}, a, &info, &err)) {
		need(err.kind == WS_ERR_FETCH);
		return 0;
	}
	need(strcmp(info.package, ws_package_normal(info.name, a)) == 0);
	write_again(&info, &once);
	need(ws_metadata_info_read(ws_buf_str(&once), a, &again, NULL));
	write_again(&again, &twice);
	need(ws_str_eq(ws_buf_str(&once), ws_buf_str(&twice)));
	return 0;
}
