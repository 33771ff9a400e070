/* host.c - which toolkits this host has. A folder is one when nvcc lies in its bin/ with its
 * profile: what is called nvcc elsewhere (Debian's /usr/bin/nvcc, ccache) starts one of them. */
#include "base/arena.h"
#include "base/fs.h"
#include "kit/cuda/fill.h"
#include "kit/cuda/nvcc.h"
#include "kit/cuda/parts.h"
#include "store/results.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Changes when what is remembered does. */
#define RELEASE_MEMORY "wheelsmith.nvcc-release/1"

/* The gathering of a list. */
struct search {
	ws_cuda_list *list;
	const struct ws_cuda_memory *memory; /* may be NULL */
	struct ws_map seen;                  /* real paths */
	struct ws_arena *a;
};

/* Newest first, then by path. */
static bool
goes_before(const struct ws_cuda_kit *x, const struct ws_cuda_kit *y)
{
	int order = strverscmp(x->release, y->release);
	return order != 0 ? order > 0 : strcmp(x->path, y->path) < 0;
}

static void
insert(struct search *s, const struct ws_cuda_kit *kit)
{
	ws_vec_push(s->list, s->a);
	size_t at = s->list->len - 1;
	for (; at > 0 && goes_before(kit, &s->list->at[at - 1]); at--) {
		s->list->at[at] = s->list->at[at - 1];
	}
	s->list->at[at] = *kit;
}

/* By what nvcc and cicc hold: an nvcc may be a script that starts another, cicc is what compiles.
 * Not known ("") when one of them is lacking. */
static struct ws_digest
memory_key(const struct search *s, const char *root)
{
	static const enum ws_cuda_part parts[] = {WS_CUDA_NVCC, WS_CUDA_CICC};
	struct ws_hasher *h = ws_hasher_make();
	bool known = s->memory != NULL;
	ws_hasher_add_field(h, RELEASE_MEMORY);
	for (size_t i = 0; i < WS_LEN(parts) && known; i++) {
		struct ws_digest digest;
		const char *path = ws_cuda_part_find(root, parts[i], s->a);
		known = path && ws_ledger_file_digest(s->memory->ledger, path, &digest);
		ws_hasher_add_field(h, known ? digest.hex : "");
	}
	struct ws_digest key = ws_hasher_finish(h);
	return known ? key : (struct ws_digest){""};
}

/* An nvcc takes 20 ms to answer, so what it said is remembered. */
static bool
find_release(const struct search *s, const char *root, const char **version, const char **release)
{
	WS_AUTO_BUF struct ws_buf output = {0};
	struct ws_digest key = memory_key(s, root);
	if (key.hex[0] && ws_results_get(s->memory->store, key.hex, &output)) {
		struct ws_str rest = ws_buf_str(&output);
		struct ws_str title = ws_str_cut(&rest, '\n');
		*version = ws_str_copy(ws_str_cut(&rest, '\n'), s->a);
		*release = ws_str_copy(ws_str_cut(&rest, '\n'), s->a);
		if (ws_str_is(title, RELEASE_MEMORY) && (*release)[0]) {
			return true;
		}
		ws_buf_clear(&output);
	}
	if (!ws_nvcc_ask_release(root, s->a, version, release, NULL)) {
		return false;
	}
	ws_buf_printf(&output, RELEASE_MEMORY "\n%s\n%s\n", *version, *release);
	if (key.hex[0]) {
		ws_results_put(s->memory->store, key.hex, &output, NULL); /* else it is asked again */
	}
	return true;
}

static void
look_at(struct search *s, const char *folder)
{
	char real[PATH_MAX];
	if (!realpath(folder, real) || !ws_map_add(&s->seen, ws_arena_strdup(s->a, real), s->a)) {
		return;
	}
	const char *nvcc = ws_cuda_part_find(real, WS_CUDA_NVCC, s->a);
	if (!nvcc || access(nvcc, X_OK) != 0 || !ws_cuda_part_find(real, WS_CUDA_PROFILE, s->a)) {
		return;
	}
	struct ws_cuda_kit kit = {.path = ws_arena_strdup(s->a, real), .how = "host"};
	const char *version;
	if (find_release(s, kit.path, &version, &kit.release)
		&& ws_version_parse(version, s->a, &kit.version)) {
		kit.name = ws_arena_printf(s->a, "cuda-%s", version);
		kit.missing = ws_cuda_list_missing(kit.path, version, s->a, &kit.missing_count);
		insert(s, &kit);
	}
}

static void
look_on_path(struct search *s, const char *path_variable)
{
	struct ws_str rest = ws_str_of(path_variable);
	while (rest.s) {
		struct ws_str folder = ws_str_cut(&rest, ':');
		char real[PATH_MAX];
		const char *nvcc = ws_arena_printf(s->a, "%.*s/nvcc", WS_STR_ARGS(folder));
		if (folder.n > 0 && folder.s[0] == '/' && realpath(nvcc, real)) {
			look_at(s, ws_path_dir(s->a, ws_path_dir(s->a, real)));
		}
	}
}

/* /usr/local/cuda, cuda-12.4, ... */
static void
look_below(struct search *s, const char *folder)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, "cuda") == 0 || ws_starts_with(entry->d_name, "cuda-")) {
			look_at(s, ws_path_join(s->a, folder, entry->d_name, NULL));
		}
	}
}

void
ws_cuda_list_host(const struct ws_user_env *env, const struct ws_cuda_memory *memory,
	struct ws_arena *a, ws_cuda_list *list)
{
	struct search s = {.list = list, .memory = memory, .a = a};
	const char *root = env->root;
	const char *cuda_home = ws_user_env_get(env, "CUDA_HOME");
	if (cuda_home) {
		look_at(&s, cuda_home);
	}
	look_on_path(&s, ws_user_env_get(env, "PATH"));
	look_below(&s, ws_arena_printf(a, "%s/usr/local", root));
	look_at(&s, ws_arena_printf(a, "%s/opt/cuda", root));
	look_at(&s, ws_arena_printf(a, "%s/usr/lib/nvidia-cuda-toolkit", root));
}

bool
ws_cuda_open_host(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	if (kit->missing_count == 0) {
		return ws_cuda_fill(kit, ledger, a, err);
	}
	WS_AUTO_BUF struct ws_buf lacks = {0};
	for (size_t i = 0; i < kit->missing_count; i++) {
		ws_buf_printf(&lacks, "%s%s", i > 0 ? ", " : "", kit->missing[i]);
	}
	ws_err_set(err, WS_ERR_BUILD, "the CUDA %s in '%s' is not complete: it lacks %s",
		kit->version.text, kit->path, ws_buf_text(&lacks));
	return ws_err_cure_code(err, WS_CURE_KITS_ARCHIVE, NULL);
}
