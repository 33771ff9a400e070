/* fill.c - a toolkit's fingerprint, folders, runtime and limits. */
#include "kit/cuda/fill.h"

#include "base/fs.h"
#include "elf/elf.h"
#include "kit/cuda/nvcc.h"
#include "kit/cuda/parts.h"

#include <string.h>

#define LARGEST_HEADER ((size_t)1 << 20)

/* @digest of a file; a tool that a toolkit may lack counts as lacking: "". */
static bool
read_digest(const struct ws_cuda_kit *kit, struct ws_ledger *ledger, enum ws_cuda_part part,
	struct ws_digest *digest, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_cuda_part_find(kit->path, part, a);
	*digest = (struct ws_digest){0};
	if (path && kit->tree) {
		const struct ws_tree_entry *entry =
			ws_tree_lookup(kit->tree, path + strlen(kit->tree->path) + 1);
		ws_digest_parse(entry ? entry->value : "", digest);
	} else if (path) {
		ws_ledger_file_digest(ledger, path, digest);
	}
	return !path || digest->hex[0] || ws_err_set(err, WS_ERR_BUILD, "cannot read '%s'", path);
}

static bool
fill_fingerprint(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	const char **digests = WS_NEW_N(a, const char *, WS_CUDA_PARTS);
	struct ws_hasher *h = ws_hasher_make();
	bool fine = true;
	for (int i = 0; fine && i < WS_CUDA_PARTS; i++) {
		enum ws_cuda_part part = (enum ws_cuda_part)i;
		struct ws_digest digest = {0};
		if (ws_cuda_part_is_tool(part)) {
			fine = read_digest(kit, ledger, part, &digest, err);
			ws_hasher_add_field(h, ws_cuda_part_name(part));
			ws_hasher_add_field(h, digest.hex);
		}
		digests[i] = ws_arena_strdup(a, digest.hex);
	}
	kit->digests = digests;
	struct ws_digest digest = ws_hasher_finish(h);
	kit->fingerprint = ws_arena_strdup(a, digest.hex);
	return fine;
}

static bool
fill_runtime(struct ws_cuda_kit *kit, struct ws_arena *a, struct ws_err *err)
{
	const char *found = ws_cuda_find_runtime(kit->path, a);
	if (!found) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' has no libcudart.so", kit->path);
	}
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(found, a, err);
	if (!elf) {
		return false;
	}
	kit->runtime_soname = ws_arena_strdup(a, ws_elf_library_name(elf));
	kit->runtime = ws_path_join(a, ws_path_dir(a, found), kit->runtime_soname, NULL);
	return ws_fs_exists(kit->runtime)
		|| ws_err_set(err, WS_ERR_BUILD, "there is no '%s', though '%s' goes by that name",
			kit->runtime, found);
}

static bool
fill_limits(struct ws_cuda_kit *kit, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *path = ws_cuda_part_find(kit->path, WS_CUDA_HOST_CONFIG, a);
	if (!path) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' has no crt/host_config.h", kit->path);
	}
	if (!ws_fs_read_at_most(path, LARGEST_HEADER, &text, err)
		|| !ws_hostcc_limits_parse(ws_buf_text(&text), &kit->limits, err)) {
		return ws_err_wrap(err, "'%s'", path);
	}
	return true;
}

bool
ws_cuda_fill(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	return fill_fingerprint(kit, ledger, a, err) && fill_runtime(kit, a, err)
		&& fill_limits(kit, err);
}

bool
ws_cuda_ask_include(struct ws_cuda_kit *kit, const char *cxx, struct ws_ledger *ledger,
	struct ws_arena *a, struct ws_err *err)
{
	return ws_nvcc_ask_include(kit->path, cxx, ledger, a, &kit->include, &kit->include_count, err);
}
