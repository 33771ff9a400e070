/* fuzz_sdist_text.c - any bytes as setup.py, PKG-INFO and requires.txt of a source distribution: what
 * is read off them are texts without surprises. */
#include "draft/pkg_info.h"
#include "draft/setup_py.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static size_t
weigh(const ws_setup_words *words)
{
	size_t sum = 0;
	for (size_t i = 0; i < words->len; i++) {
		sum += strlen(words->at[i].text);
	}
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_str text = {(const char *)bytes, len};
	ws_setup_extensions found = {0};
	struct ws_pkg_info info;
	size_t sum = 0;
	ws_setup_py_read(text, a, &found);
	for (size_t i = 0; i < found.len; i++) {
		const struct ws_setup_extension *e = &found.at[i];
		sum += weigh(&e->sources) + weigh(&e->include) + weigh(&e->cxx) + weigh(&e->nvcc)
			+ weigh(&e->link);
	}
	ws_pkg_info_read(text, a, &info);
	ws_requires_txt_read(text, a, &info.metadata);
	for (size_t i = 0; i < info.metadata.require_count; i++) {
		sum += strlen(info.metadata.requires[i]);
	}
	return sum == SIZE_MAX;
}
