/**
 * module_facts.h - what one shared library of unknown origin is: facts, no verdict
 *
 * What it needs and asks for, which Python, torch and GPUs it was made for, and what it gives away of
 * the machine that made it. Libraries for other machines are reported as far as their format allows.
 * Hostile files are expected: run it in a child with limits (sys/limits.h). Whether a module loads
 * somewhere is verify/'s question.
 */
#ifndef WS_INSPECT_MODULE_FACTS_H
#define WS_INSPECT_MODULE_FACTS_H

#include "elf/fatbin.h"
#include "elf/torch_abi.h"
#include "verify/floor.h"

/** Images of one kind for one architecture, in one section. */
struct ws_image_facts {
	const char *section; /**< ".nv_fatbin", or "__nv_relfatbin": code that was not linked yet */
	struct ws_fatbin_image image; /**< kind, architecture, PTX version and packing that all share */
	size_t count;
	uint64_t stored_bytes, raw_bytes; /**< of all together */
};

/** How a module depends on Python. */
enum ws_python_abi {
	WS_PYTHON_NONE,    /**< wants no name of Python's */
	WS_PYTHON_STABLE,  /**< only names of the stable ABI, of Python `python_since` or older */
	WS_PYTHON_VERSION, /**< names that may differ between versions: `python_outside` */
};

/** How a module depends on torch. */
enum ws_torch_use {
	WS_TORCH_NONE,
	WS_TORCH_STABLE, /**< only the C functions of torch's stable ABI: `torch_since` or newer */
	WS_TORCH_CXX,    /**< C++ names, which differ between releases */
};

struct ws_module_facts {
	const char *name; /**< in the wheel, or the path */
	uint64_t size_bytes;
	const char *machine; /**< "x86-64", "aarch64", "Mach-O"; NULL: no library of any machine */
	const char *refused; /**< why nothing below is known, one line; NULL: it is */
	const char *soname, *rpath, *runpath; /**< NULL: none */
	const char *const *needed;            /**< DT_NEEDED */
	size_t needed_count;
	const char *const *versions; /**< "libc.so.6 GLIBC_2.14", sorted */
	size_t version_count;
	struct ws_floor floor; /**< of it alone, and the platform tag that follows (verify/floor.h) */
	enum ws_cxx11abi cxx11abi;
	const char *internals;     /**< pybind11's id; NULL: none */
	const char *python_suffix; /**< "cp311", "abi3": by its file's name; NULL: that says nothing */
	enum ws_python_abi python;
	const char *python_since;        /**< STABLE: "3.9"; NULL: the list was not read */
	const char *const *python_names; /**< that it wants, sorted */
	size_t python_name_count;
	const char *const *python_outside; /**< VERSION: those that the stable ABI lacks */
	size_t python_outside_count;
	enum ws_torch_use torch;
	const char *torch_since; /**< STABLE: "2.10.0"; NULL: no known release has all the names */
	const char *const *torch_names; /**< STABLE: the C functions it wants, sorted */
	size_t torch_name_count;
	const struct ws_image_facts *images; /**< by section, architecture, kind */
	size_t image_count;
	const char *gpu_refused;   /**< why GPU code could not be read; NULL: it was */
	const char *const *leaked; /**< paths of the machine that made it, sorted, each once */
	size_t leaked_count;
};

/**
 * Reads the file at @a path, called @a name. @a own are names of libraries that the same wheel carries.
 * What cannot be read is a fact, too (`refused`).
 */
void ws_module_facts_read(const char *path, const char *name, const char *const *own,
	size_t own_count, struct ws_arena *a, struct ws_module_facts *facts);

/** Export lists (elf/exports.h) that tell since when there is what a module wants. */
struct ws_facts_lists {
	const char *const *stable; /**< among these is Python's stable ABI: library "python3" */
	size_t stable_count;
	const char *const *torch; /**< of torch releases, from old to new */
	size_t torch_count;
};

/**
 * Fills python, python_since, python_outside and torch_since of all modules. Reads only lists that
 * some module needs. False when one cannot be read.
 */
bool ws_module_facts_date(struct ws_module_facts *modules, size_t count,
	const struct ws_facts_lists *lists, struct ws_arena *a, struct ws_err *err);

#endif
