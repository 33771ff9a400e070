/* fuzz_net_config.c - any bytes as pip.conf and apt's lists, which other programs write:
 * whatever they hold, what comes out are texts. */
#include "base/fs.h"
#include "net/debian.h"
#include "net/index_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char *const places[] = {
	"etc/pip.conf", "etc/apt/sources.list", "etc/apt/sources.list.d/a.sources"};

/* The folder that the two readers take for a host. */
static const char *
fill_root(const uint8_t *bytes, size_t len, struct ws_arena *a)
{
	const char *root = ws_fs_temp_dir("/tmp", "wheelsmith-fuzz-", a, NULL);
	if (!root) {
		abort();
	}
	for (size_t i = 0; i < WS_LEN(places); i++) {
		const char *path = ws_path_join(a, root, places[i], NULL);
		if (!ws_fs_mkdirs(ws_path_dir(a, path), NULL)
			|| !ws_fs_write(path, bytes, len, 0644, NULL)) {
			abort();
		}
	}
	return root;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *root = fill_root(bytes, len, a);
	const char *const vars[] = {NULL};
	struct ws_index_sources sources = {.env = {vars, root, NULL}};
	struct ws_index_config config;
	struct ws_debian_mirror mirror;
	size_t sum = 0;
	if (!ws_index_config_read(&sources, a, &config, NULL)) {
		abort();
	}
	for (size_t i = 0; i < config.choices[0].count; i++) {
		sum += strlen(config.choices[0].urls[i]);
	}
	if (ws_debian_mirror_find(root, a, &mirror)) {
		sum += strlen(mirror.url);
	}
	ws_fs_remove(root, NULL);
	return sum == SIZE_MAX;
}
