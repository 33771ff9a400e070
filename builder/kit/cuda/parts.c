/* parts.c - two tables: which file a part is, and in which folders it may be. */
#include "kit/cuda/parts.h"

#include "base/fs.h"

/* This host's folders. */
#ifdef __aarch64__
#define TARGET "sbsa-linux"
#define MULTIARCH "aarch64-linux-gnu"
#else
#define TARGET "x86_64-linux"
#define MULTIARCH "x86_64-linux-gnu"
#endif

/* Kinds of places. */
enum place {
	TOOLS,
	BACK_END,
	DEVICE,
	HEADERS,
	CCCL_HEADERS,
	LIBRARIES,
	PLACES,
};

/* Below the root. */
static const char *const standard[PLACES][5] = {
	[TOOLS] = {"bin"},
	[BACK_END] = {"nvvm/bin"},
	[DEVICE] = {"nvvm/libdevice"},
	[HEADERS] = {"include", "targets/" TARGET "/include"},
	[CCCL_HEADERS] = {"include", "include/cccl", "targets/" TARGET "/include",
		"targets/" TARGET "/include/cccl"},
	[LIBRARIES] = {"lib64", "lib", "targets/" TARGET "/lib"},
};

/* Seen from /usr/lib/nvidia-cuda-toolkit. */
static const char *const debian[PLACES][3] = {
	[TOOLS] = {"bin", "../../bin"},
	[BACK_END] = {"bin"},
	[DEVICE] = {"libdevice"},
	[HEADERS] = {"../../include"},
	[CCCL_HEADERS] = {"../../include"},
	[LIBRARIES] = {"../" MULTIARCH},
};

static const struct {
	const char *name; /* NULL: the file's */
	const char *file;
	enum place place;
	bool is_tool;
	bool may_lack;
} parts[WS_CUDA_PARTS] = {
	[WS_CUDA_NVCC] = {NULL, "nvcc", TOOLS, true, false},
	[WS_CUDA_PROFILE] = {NULL, "nvcc.profile", TOOLS, true, false},
	[WS_CUDA_CICC] = {NULL, "cicc", BACK_END, true, false},
	[WS_CUDA_CUDAFE] = {NULL, "cudafe++", TOOLS, true, false},
	[WS_CUDA_PTXAS] = {NULL, "ptxas", TOOLS, true, false},
	[WS_CUDA_FATBINARY] = {NULL, "fatbinary", TOOLS, true, false},
	[WS_CUDA_NVLINK] = {NULL, "nvlink", TOOLS, true, true},
	[WS_CUDA_BIN2C] = {NULL, "bin2c", TOOLS, true, true},
	[WS_CUDA_LIBDEVICE] = {NULL, "libdevice.10.bc", DEVICE, true, false},
	[WS_CUDA_HOST_CONFIG] = {NULL, "crt/host_config.h", HEADERS, false, false},
	[WS_CUDA_RUNTIME_H] = {NULL, "cuda_runtime.h", HEADERS, false, false},
	[WS_CUDA_RUNTIME_API_H] = {NULL, "cuda_runtime_api.h", HEADERS, false, false},
	[WS_CUDA_CCCL] = {"CCCL (thrust/version.h)", "thrust/version.h", CCCL_HEADERS, false, false},
	[WS_CUDA_NV_TARGET] = {NULL, "nv/target", CCCL_HEADERS, false, false},
	[WS_CUDA_CUBLAS_H] = {NULL, "cublas_v2.h", HEADERS, false, false},
	[WS_CUDA_CUSPARSE_H] = {NULL, "cusparse.h", HEADERS, false, false},
	[WS_CUDA_CUSOLVER_H] = {NULL, "cusolverDn.h", HEADERS, false, false},
	[WS_CUDA_CURAND_H] = {NULL, "curand.h", HEADERS, false, false},
};

const char *
ws_cuda_part_name(enum ws_cuda_part part)
{
	return parts[part].name ? parts[part].name : parts[part].file;
}

bool
ws_cuda_part_is_tool(enum ws_cuda_part part)
{
	return parts[part].is_tool;
}

static const char *const *
folders_of(const char *root, enum place place)
{
	bool is_debian = ws_ends_with(root, "/usr/lib/nvidia-cuda-toolkit");
	return is_debian ? debian[place] : standard[place];
}

const char *
ws_cuda_part_find(const char *root, enum ws_cuda_part part, struct ws_arena *a)
{
	const char *const *folders = folders_of(root, parts[part].place);
	for (size_t i = 0; folders[i]; i++) {
		const char *folder = ws_path_normal(a, ws_path_join(a, root, folders[i], NULL));
		const char *path = ws_path_join(a, folder, parts[part].file, NULL);
		if (access(path, F_OK) == 0) {
			return path;
		}
	}
	return NULL;
}

const char *
ws_cuda_find_runtime(const char *root, struct ws_arena *a)
{
	const char *const *folders = folders_of(root, LIBRARIES);
	const char *found = NULL;
	for (size_t i = 0; folders[i] && !found; i++) {
		const char *folder = ws_path_normal(a, ws_path_join(a, root, folders[i], NULL));
		WS_AUTO_DIR DIR *dir = opendir(folder);
		const struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			const char *path = ws_path_join(a, folder, entry->d_name, NULL);
			if (ws_starts_with(entry->d_name, "libcudart.so.") && access(path, F_OK) == 0
				&& (!found || strcmp(path, found) < 0)) {
				found = path;
			}
		}
	}
	return found;
}

const char *const *
ws_cuda_list_missing(const char *root, const char *version, struct ws_arena *a, size_t *count)
{
	WS_VEC(const char *) missing = {0};
	for (int part = 0; part < WS_CUDA_PARTS; part++) {
		if (!parts[part].may_lack && !ws_cuda_part_find(root, (enum ws_cuda_part)part, a)) {
			*ws_vec_push(&missing, a) = ws_cuda_part_name((enum ws_cuda_part)part);
		}
	}
	if (!ws_cuda_find_runtime(root, a)) {
		*ws_vec_push(&missing, a) = "libcudart.so";
	}
	/* "#define CUDART_VERSION  12040": two packages that were not updated together. */
	static const char define[] = "#define CUDART_VERSION";
	const char *path = ws_cuda_part_find(root, WS_CUDA_RUNTIME_API_H, a);
	WS_AUTO_BUF struct ws_buf text = {0};
	if (path && ws_fs_read_at_most(path, (size_t)16 << 20, &text, NULL)) {
		const char *at = strstr(ws_buf_text(&text), define);
		unsigned long number = at ? strtoul(at + strlen(define), NULL, 10) : 0;
		const char *found = ws_arena_printf(a, "%lu.%lu", number / 1000, number % 1000 / 10);
		if (number > 0 && strcmp(found, version) != 0) {
			*ws_vec_push(&missing, a) =
				ws_arena_printf(a, "headers of %s (%s has those of %s)", version, path, found);
		}
	}
	*count = missing.len;
	*ws_vec_push(&missing, a) = NULL;
	return missing.at;
}
