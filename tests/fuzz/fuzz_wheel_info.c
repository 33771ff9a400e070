/* fuzz_wheel_info.c - any bytes as a WHEEL: tags are sorted, each once and of three parts, and
 * written again it is read as the same. */
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
write_again(const struct ws_wheel_info *info, struct ws_buf *out)
{
	ws_buf_printf(out, "Wheel-Version: %u.%u\nRoot-Is-Purelib: %s\n", info->major, info->minor,
		info->purelib ? "true" : "false");
	if (info->build) {
		ws_buf_printf(out, "Build: %s\n", info->build);
	}
	for (size_t i = 0; i < info->tag_count; i++) {
		const char *tag = info->tags[i];
		const char *dash = strchr(tag, '-');
		need(dash && strchr(dash + 1, '-') && !strpbrk(tag, " \n"));
		need(i == 0 || strcmp(info->tags[i - 1], tag) < 0);
		ws_buf_printf(out, "Tag: %s\n", tag);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf once = {0};
	WS_AUTO_BUF struct ws_buf twice = {0};
	struct ws_err err = {0};
	struct ws_wheel_info info, again;
	if (!ws_wheel_info_read((struct ws_str){(const char *)bytes, len}, a, &info, &err)) {
		need(err.kind == WS_ERR_FETCH);
		return 0;
	}
	need(info.tag_count > 0 && info.major == 1);
	write_again(&info, &once);
	need(ws_wheel_info_read(ws_buf_str(&once), a, &again, NULL));
	write_again(&again, &twice);
	need(ws_str_eq(ws_buf_str(&once), ws_buf_str(&twice)));
	return 0;
}
