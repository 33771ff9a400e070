/* kernels_emulated.c - a libcuda.so.1 whose kernels are those of kernels_emulated.h, in the folder
 * that WSK_EMULATED_FOLDER names: one library for each image, and an image is its library's
 * name. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOT_FOUND = 500, FAILED = 999 };

struct kernel {
	void *code;
	void (*launch)(void *code, const void *params, const unsigned *grid, unsigned threads);
};

int
cuLibraryLoadData(void **library, const char *image)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s.so", getenv("WSK_EMULATED_FOLDER"), image);
	*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*library) {
		fprintf(stderr, "%s\n", dlerror());
	}
	return *library ? 0 : FAILED;
}

int
cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	struct kernel *k = malloc(sizeof(*k));
	if (!k) {
		return FAILED;
	}
	*(void **)&k->code = dlsym(library, name);
	*(void **)&k->launch = dlsym(library, "emulated_launch");
	*kernel = k;
	return k->code && k->launch ? 0 : NOT_FOUND;
}

int
cuLibraryUnload(void *library)
{
	return dlclose(library);
}

int
cuLaunchKernel(struct kernel *kernel, unsigned x, unsigned y, unsigned z, unsigned threads,
	unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
	(void)by, (void)bz, (void)shared, (void)stream, (void)extra;
	const unsigned grid[] = {x, y, z};
	kernel->launch(kernel->code, arguments[0], grid, threads);
	return 0;
}
