/* fuzz_gitmodules.c - any text as .gitmodules, and every URL in it as a submodule's. */
#include "fetch/source_tree.h"
#include "model/git_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_gitmodule_list modules;
	struct ws_err err = {0};
	struct ws_str text = {ws_arena_copy(a, (const char *)data, size), size};
	if (!ws_gitmodules_parse(text, a, &modules, &err)) {
		return 0;
	}
	for (size_t i = 0; i < modules.len; i++) {
		const char *url = modules.at[i].url;
		char *joined = url ? ws_git_url_join("https://h/group/demo.git", url, a, &err) : NULL;
		if (!joined || !ws_git_url_check(joined, false, &err)) {
			continue;
		}
		if (strncmp(joined, "https://", 8) != 0 && strncmp(joined, "http://", 7) != 0) {
			abort();
		}
	}
	return 0;
}
