/**
 * modules.h - the shared libraries of a wheel or of an installed package, opened
 *
 * Names are relative to site-packages: "torchvision/_C.so",
 * "torchvision.libs/libpng16.7f72a3c5.so.16". Run this in a child with limits (sys/spawn.h),
 * because files may be hostile. verify/ judges the modules.
 */
#ifndef WS_WHEELFILE_MODULES_H
#define WS_WHEELFILE_MODULES_H

#include "elf/elf.h"
#include "model/machine.h"

struct ws_module {
	const char *name;         /**< below site-packages */
	const char *file;         /**< its path on this host */
	const struct ws_elf *elf; /**< NULL: it could not be opened */
	const char *refused;      /**< the reason, one line; it names the module */
	/** The function that Python calls: "PyInit__C". A library with the suffix of Python modules
	 * may not have it: setuptools names libraries so that torch loads (torchao's _C.abi3.so). */
	const char *init;
	bool exports_init;
	/** The Python of the suffix: "cp311", "abi3", "abi3t"; NULL: no such suffix. */
	const char *python;
};

struct ws_modules {
	const struct ws_module *modules; /**< sorted by name */
	size_t count;
};

/** True for the name of a shared library: "a/b.so", "libx.so.1.2". */
bool ws_module_is_named(const char *name);

/** "cp311" of "a/_C.cpython-311-x86_64-linux-gnu.so", "abi3" of "_C.abi3.so"; NULL: no such
 * suffix. */
const char *ws_module_python_of(const char *name, struct ws_arena *a);

/**
 * True when the Python of that ABI tag ("cp311", "cp313t"; NULL: any) imports a file of that name
 * on that machine with glibc: not "_C.cpython-312-x86_64-linux-musl.so".
 */
bool ws_module_opens_in(const char *name, const char *python, const struct ws_machine *machine);

/** The name of a wheel's member below site-packages: "x-1.0.data/platlib/a/b.so" is "a/b.so". */
const char *ws_module_installed_name(const char *member);

/** Opens files, given by `name` and `file`, and sorts them. A missing one is `refused`. */
void ws_modules_open(
	struct ws_module *list, size_t count, struct ws_arena *a, struct ws_modules *modules);

/** An empty list is allowed. */
void ws_modules_close(struct ws_modules *modules);

#endif
