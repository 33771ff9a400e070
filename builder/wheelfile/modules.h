/**
 * modules.h - the shared libraries of a wheel, or of an installed package, opened
 *
 * Of a wheel they are unpacked into a private folder, each held against RECORD on its way; of an
 * installed package they are opened where they are. Names are those below site-packages, whichever
 * of the two it is: "torchvision/_C.so", "torchvision.libs/libpng16.7f72a3c5.so.16". What lies in a
 * wheel's .data folder is named as it will be installed. Programs are not libraries and are left
 * out. Hostile files are expected: run it in a child with limits (sys/spawn.h). Judging is
 * verify/'s.
 */
#ifndef WS_WHEELFILE_MODULES_H
#define WS_WHEELFILE_MODULES_H

#include "elf/elf.h"
#include "model/machine.h"
#include "wheelfile/opened_wheel.h"

struct ws_module {
	const char *name;         /**< below site-packages */
	const char *file;         /**< where it lies now */
	const struct ws_elf *elf; /**< NULL: it could not be opened */
	const char *refused;      /**< then why, one line; it names the module */
	/** The function by which Python would start it: "PyInit__C". That its file's name ends as those
	 * that Python imports does not mean that it has one: setuptools names libraries so that torch
	 * loads (torchao's _C.abi3.so). */
	const char *init;
	bool exports_init;
	/** What the suffix of its name says: "cp311", "abi3", "abi3t"; NULL: nothing. */
	const char *python;
};

struct ws_modules {
	const struct ws_module *modules; /**< sorted by name */
	size_t count;
};

/** "a/b.so", "libx.so.1.2": is it called as a shared library? */
bool ws_module_is_named(const char *name);

/** "cp311" of "a/_C.cpython-311-x86_64-linux-gnu.so", "abi3" of "_C.abi3.so"; NULL: no such
 * suffix. */
const char *ws_module_python_of(const char *name, struct ws_arena *a);

/**
 * Does the Python of that ABI tag ("cp311", "cp313t") open a file of that name when it imports?
 * NULL: some Python does. On that machine with glibc: not "_C.cpython-312-x86_64-linux-musl.so".
 */
bool ws_module_opens_in(const char *name, const char *python, const struct ws_machine *machine);

/**
 * Unpacks and opens those of @a wheel; @a folder is absolute and the caller's to remove. A member
 * that is not a library of this machine is a result (`refused`); a wheel that cannot be read, or
 * whose RECORD says otherwise, is WS_ERR_FETCH. Close in both cases.
 */
bool ws_modules_take(struct ws_opened_wheel *wheel, const char *folder, struct ws_arena *a,
	struct ws_modules *modules, struct ws_err *err);

/** Opens files of @a root (site-packages), called @a names below it. A missing one is `refused`. */
void ws_modules_open(const char *root, const char *const *names, size_t count, struct ws_arena *a,
	struct ws_modules *modules);

/** None is fine. */
void ws_modules_close(struct ws_modules *modules);

#endif
