/* redist_kit.c - which components make a toolkit, and where their files go. Up to 12.9 cuda_nvcc
 * held the whole compiler; 13.0 split it. Archives have one folder on top, and lib/ where kits have
 * lib64/. ATen's headers come in archives of hundreds of MB; there are no smaller ones here. */
#include "base/arena.h"
#include "base/fs.h"
#include "kit/cuda/redist.h"

#include <stdlib.h>
#include <string.h>

static const struct ws_map_entry compiler[] = {
	{"bin/", "bin/"},
	{"nvvm/bin/", "nvvm/bin/"},
	{"nvvm/libdevice/", "nvvm/libdevice/"},
};
static const struct ws_map_entry compiler_and_headers[] = {
	{"bin/", "bin/"},
	{"nvvm/bin/", "nvvm/bin/"},
	{"nvvm/libdevice/", "nvvm/libdevice/"},
	{"include/", "include/"},
};
static const struct ws_map_entry headers[] = {{"include/", "include/"}};
static const struct ws_map_entry runtime[] = {{"include/", "include/"}, {"lib/", "lib64/"}};

/* A component that a toolkit needs. */
static const struct part {
	const char *name;
	const char *other; /* what later releases call it */
	unsigned since;    /* major from which it stands by itself */
	const struct ws_map_entry *map;
	size_t map_count;
} parts[] = {
	{"cuda_nvcc", NULL, 11, compiler_and_headers, WS_LEN(compiler_and_headers)},
	{"cuda_crt", NULL, 13, headers, WS_LEN(headers)},
	{"libnvvm", NULL, 13, compiler, WS_LEN(compiler)},
	{"cuda_cudart", NULL, 11, runtime, WS_LEN(runtime)},
	{"cuda_cccl", "cccl", 11, headers, WS_LEN(headers)},
	{"libcublas", NULL, 11, headers, WS_LEN(headers)},
	{"libcusparse", NULL, 11, headers, WS_LEN(headers)},
	{"libcusolver", NULL, 11, headers, WS_LEN(headers)},
	{"libcurand", NULL, 11, headers, WS_LEN(headers)},
};

static const char *const executables[] = {"bin/bin2c", "bin/cudafe++", "bin/fatbinary", "bin/nvcc",
	"bin/nvlink", "bin/ptxas", "nvvm/bin/cicc"};

#define PROFILE_START \
	"TOP              = $(_HERE_)/..\n\n" \
	"CICC_PATH        = $(TOP)/nvvm/bin\n" \
	"NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice\n\n" \
	"LD_LIBRARY_PATH += $(TOP)/lib:\n" \
	"PATH            += $(CICC_PATH):$(_HERE_):\n\n" \
	"INCLUDES        +=  \"-I$(TOP)/include\" $(_SPACE_)\n"
#define PROFILE_END \
	"\nLIBRARIES        =+ $(_SPACE_) \"-L$(TOP)/lib64/stubs\" \"-L$(TOP)/lib64\"\n\n" \
	"CUDAFE_FLAGS    +=\nPTXAS_FLAGS     +=\n"

/* As the archive kits have it: NVIDIA's own names folders by targets/, which archives have not. */
static const struct ws_kit_file profile_12 = {"bin/nvcc.profile", PROFILE_START PROFILE_END, 0644};
static const struct ws_kit_file profile_13 = {"bin/nvcc.profile",
	PROFILE_START
	"SYSTEM_INCLUDES +=  \"-isystem\" \"$(TOP)/include/cccl\" $(_SPACE_)\n" PROFILE_END,
	0644};

static const struct ws_kit_link lib_link = {"lib", "lib64"};

static struct ws_kit_archive
archive_of(const struct ws_redist *r, const struct ws_redist_component *c,
	const struct ws_map_entry *map, size_t map_count, struct ws_arena *a)
{
	return (struct ws_kit_archive){
		.origin = WS_ORIGIN_URL,
		.format = WS_FORMAT_TAR,
		.package = c->name,
		.version = c->version,
		.file = ws_path_base(c->path),
		.pool = ws_arena_printf(a, "%s/%s", r->url, c->path),
		.sha256 = c->sha256,
		.size = c->size,
		.strip_top = true,
		.map = map,
		.map_count = map_count,
	};
}

static const struct ws_redist_component *
need(const struct ws_redist *r, const struct part *part, struct ws_err *err)
{
	const struct ws_redist_component *c = ws_redist_find(r, part->name);
	if (!c && part->other) {
		c = ws_redist_find(r, part->other);
	}
	if (!c) {
		ws_err_set(err, WS_ERR_FETCH, "the redistributables of CUDA %s have no '%s'", r->label,
			part->name);
	}
	return c;
}

/* "12.4" of "12.4.1". */
static const char *
cuda_of(const struct ws_redist *r, struct ws_arena *a)
{
	const char *dot = strchr(r->label, '.');
	return ws_arena_copy(
		a, r->label, dot ? (size_t)(dot + 1 - r->label) + strcspn(dot + 1, ".") : 0);
}

bool
ws_redist_define(
	const struct ws_redist *r, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err)
{
	unsigned long major = strtoul(r->label, NULL, 10);
	WS_VEC(struct ws_kit_archive) archives = {0};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		const struct part *part = &parts[i];
		if (part->since > major) {
			continue;
		}
		const struct ws_redist_component *c = need(r, part, err);
		if (!c) {
			return false;
		}
		*ws_vec_push(&archives, a) = archive_of(r, c, part->map, part->map_count, a);
	}
	const char *cuda = cuda_of(r, a);
	*def = (struct ws_kit_def){
		.name = ws_arena_printf(a, "cuda-%s", cuda),
		.cuda = cuda,
		.nvcc = archives.at[0].version,
		.digest = r->digest,
		.archives = archives.at,
		.archive_count = archives.len,
		.files = major < 13 ? &profile_12 : &profile_13,
		.file_count = 1,
		.links = &lib_link,
		.link_count = 1,
		.executables = executables,
		.executable_count = WS_LEN(executables),
	};
	return true;
}

/* ---- in place of Debian's ---- */

/* Whether cuda_nvcc has it: tools that only look at code are in components of their own. */
static bool
is_there_still(const struct ws_kit_def *def, const char *path)
{
	for (size_t i = 0; i < WS_LEN(executables); i++) {
		if (strcmp(executables[i], path) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < def->archive_count; i++) {
		const struct ws_kit_archive *archive = &def->archives[i];
		for (size_t k = 0; archive->origin == WS_ORIGIN_DEBIAN && k < archive->map_count; k++) {
			if (strcmp(archive->map[k].to, path) == 0) {
				return false;
			}
		}
	}
	return true;
}

static struct ws_digest
digest_both(const struct ws_redist *r, const struct ws_kit_def *def)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, def->digest.hex);
	ws_hasher_add_field(h, r->digest.hex);
	return ws_hasher_finish(h);
}

bool
ws_redist_replace(const struct ws_redist *r, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_kit_def *replaced, struct ws_err *err)
{
	const struct ws_redist_component *nvcc = need(r, &parts[0], err);
	if (!nvcc) {
		return false;
	}
	WS_VEC(struct ws_kit_archive) archives = {0};
	WS_VEC(const char *) kept = {0};
	*ws_vec_push(&archives, a) = archive_of(r, nvcc, compiler, WS_LEN(compiler), a);
	for (size_t i = 0; i < def->archive_count; i++) {
		if (def->archives[i].origin != WS_ORIGIN_DEBIAN) {
			*ws_vec_push(&archives, a) = def->archives[i];
		}
	}
	for (size_t i = 0; i < def->executable_count; i++) {
		if (is_there_still(def, def->executables[i])) {
			*ws_vec_push(&kept, a) = def->executables[i];
		}
	}
	*replaced = *def;
	replaced->nvcc = nvcc->version;
	replaced->digest = digest_both(r, def);
	replaced->archives = archives.at;
	replaced->archive_count = archives.len;
	replaced->executables = kept.at;
	replaced->executable_count = kept.len;
	return true;
}
