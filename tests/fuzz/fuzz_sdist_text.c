/* fuzz_sdist_text.c - any bytes as PKG-INFO and requires.txt of a source distribution: what is read
 * off them are texts without surprises. */
#include "draft/pkg_info.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_str text = {(const char *)bytes, len};
	struct ws_pkg_info info;
	size_t sum = 0;
	ws_pkg_info_read(text, a, &info);
	ws_requires_txt_read(text, a, &info.metadata);
	for (size_t i = 0; i < info.metadata.require_count; i++) {
		sum += strlen(info.metadata.requires[i]);
	}
	return sum == SIZE_MAX;
}
