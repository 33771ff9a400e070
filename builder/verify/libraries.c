/* libraries.c - a table of prefixes. */
#include "verify/libraries.h"

#include "base/text.h"

#include <ctype.h>
#include <strings.h>

/* Longer prefixes first, equal ones side by side. "cu" and a capital is the driver's, the last. */
static const struct ws_library_family families[] = {
	{"cublasLt", "libcublasLt", true, false},
	{"cublas", "libcublas", true, false},
	{"cudnn", "libcudnn", true, false},
	{"cufft", "libcufft", true, false},
	{"cuFile", "libcufile", true, false},
	{"curand", "libcurand", true, false},
	{"cusolver", "libcusolver", true, false},
	{"cusparseLt", "libcusparseLt", true, false},
	{"cusparse", "libcusparse", true, false},
	{"cupti", "libcupti", true, false},
	{"nccl", "libnccl", true, false},
	{"nvrtc", "libnvrtc", true, false},
	{"nvJitLink", "libnvJitLink", true, false},
	{"nvtx", "libnvToolsExt", true, false},
	{"nvshmem", "libnvshmem_host", true, false},
	{"nvshmem", "libtorch_nvshmem", true, false},
	{"nvml", "libnvidia-ml", true, true},
	{"__cuda", "libcudart", true, false},
	{"cuda", "libcudart", true, false},
	{"GOMP_", "libgomp", false, false},
	{"GOACC_", "libgomp", false, false},
	{"omp_", "libgomp", false, false},
	{"_Z11libshm_init", "libshm", false, false},
	{"_ZN21THManagedMapAllocator", "libshm", false, false},
	{"_ZTI21THManagedMapAllocator", "libshm", false, false},
	{"_ZTV21THManagedMapAllocator", "libshm", false, false},
	{"_ZN25THManagedMapAllocatorInit", "libshm", false, false},
	{"cu", "libcuda", true, true},
};

const struct ws_library_family *
ws_library_family_of(const char *name)
{
	const struct ws_library_family *driver = &families[WS_LEN(families) - 1];
	for (const struct ws_library_family *f = families; f < driver; f++) {
		if (ws_starts_with(name, f->prefix)) {
			return f;
		}
	}
	return ws_starts_with(name, driver->prefix) && isupper((unsigned char)name[2]) ? driver : NULL;
}

const struct ws_library_family *
ws_library_family_next(const struct ws_library_family *family)
{
	const struct ws_library_family *next = family + 1;
	return next < families + WS_LEN(families) && ws_same(next->prefix, family->prefix) ? next
																					   : NULL;
}

bool
ws_library_is_of(const char *library, const char *stem)
{
	/* libgomp-a34b3233.so.1, libcudart.41118559.so.12 */
	size_t len = strlen(stem);
	return ws_starts_with(library, stem) && (library[len] == '-' || library[len] == '.');
}

bool
ws_library_is_cuda(const char *library)
{
	for (size_t i = 0; i < WS_LEN(families); i++) {
		if (families[i].cuda && ws_library_is_of(library, families[i].stem)) {
			return true;
		}
	}
	return false;
}

bool
ws_library_is_drivers(const char *library)
{
	return ws_same(library, "libcuda.so.1") || ws_same(library, "libnvidia-ml.so.1");
}

bool
ws_library_is_preloaded(const char *library, const char *release)
{
	/* As the wheels of these releases have it, in _load_global_deps. */
	static const struct {
		const char *stem, *since;
	} preloaded[] = {{"libnvrtc", "2.6"}, {"libnvJitLink", "2.6"}, {"libcublasLt", "2.10"},
		{"libcublas", "2.10"}, {"libcudnn", "2.10"}, {"libcufft", "2.10"}, {"libcufile", "2.10"},
		{"libcupti", "2.10"}, {"libcurand", "2.10"}, {"libcusolver", "2.10"},
		{"libcusparse", "2.10"}, {"libcusparseLt", "2.10"}, {"libnccl", "2.10"},
		{"libnvshmem_host", "2.10"}};
	for (size_t i = 0; release && i < WS_LEN(preloaded); i++) {
		if (ws_library_is_of(library, preloaded[i].stem)) {
			return strverscmp(release, preloaded[i].since) >= 0;
		}
	}
	return false;
}

bool
ws_library_is_in(const char *library, const char *folder)
{
	/* nvidia/cusolver/lib/libcusolver.so.11, nvidia/cuda_nvrtc/lib, nvidia/cu13/lib */
	static const char nvidia[] = "nvidia/", cuda[] = "cuda_";
	if (!ws_starts_with(folder, nvidia)) {
		return ws_same(folder, "torch/lib") && !ws_library_is_cuda(library);
	}
	const char *part = folder + strlen(nvidia);
	part += ws_starts_with(part, cuda) ? strlen(cuda) : 0;
	size_t len = strcspn(part, "/");
	const char *name = library + (ws_starts_with(library, "lib") ? strlen("lib") : 0);
	return ws_same(part + len, "/lib")
		&& ((ws_starts_with(part, "cu") && strspn(part + 2, "0123456789") == len - 2)
			|| strncasecmp(name, part, len) == 0);
}
