/* libraries.c - a table of prefixes. */
#include "verify/libraries.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

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
