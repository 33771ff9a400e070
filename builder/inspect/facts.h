/**
 * facts.h - what a wheel is: everything that can be said of it by itself
 *
 * Of a wheel (a file, or one at a URL, read by ranges), of an installed package, or of one shared
 * library. A problem is something that is wrong with it wherever it is installed: a broken rule of
 * the zip format, a RECORD that does not hold, names that contradict each other, a module that is
 * not what the tags promise. Whether it loads in a given place is verify/'s question.
 */
#ifndef WS_INSPECT_FACTS_H
#define WS_INSPECT_FACTS_H

#include "base/arena.h"
#include "elf/fatbin.h"
#include "elf/torch_abi.h"
#include "verify/manylinux_tag.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/opened_wheel.h"

/* ---- what is wrong with a wheel, thing by thing ---- */

/** One thing that is wrong. */
struct ws_wheel_problem {
	const char *about; /**< "zip", "file name", "WHEEL", "METADATA", "RECORD", "names", "module" */
	const char *text;  /**< one line */
};

/** In the order in which they were found. A hostile wheel has millions: the first many are kept. */
struct ws_wheel_problems {
	struct ws_arena *a;
	WS_VEC(struct ws_wheel_problem) kept;
	size_t count; /**< all of them */
};

#define WS_MOST_WHEEL_PROBLEMS 200

void ws_wheel_problem_add(
	struct ws_wheel_problems *problems, const char *about, const char *format, ...) WS_PRINTF(3, 4);

/* ---- what one shared library of unknown origin is: facts, no verdict ----
 * What it needs and asks for, which Python, torch and GPUs it was made for, and what it gives away
 * of the machine that made it. Libraries for other machines are reported as far as their format
 * allows. Hostile files are expected: run it in a child with limits (sys/spawn.h). Whether a
 * module loads somewhere is verify/'s question. */

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
	struct ws_floor floor; /**< of it alone, and the platform tag that follows */
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
	const char *gpu_refused; /**< why GPU code could not be read; NULL: it was */
	const char
		*cpu; /**< "AVX", "AVX-512": its code needs that and never asks whether it is there; NULL */
	const char *const *leaked; /**< paths of the machine that made it, sorted, each once */
	size_t leaked_count;
};

/**
 * Reads the file at @a path, called @a name. @a own are names of libraries that the same wheel
 * carries. What cannot be read is a fact, too (`refused`).
 */
void ws_module_facts_read(const char *path, const char *name, const char *const *own,
	size_t own_count, struct ws_arena *a, struct ws_module_facts *facts);

/** `cpu` of its facts. */
const char *ws_module_cpu(const struct ws_elf *elf);

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

enum ws_facts_kind {
	WS_FACTS_WHEEL,
	WS_FACTS_PACKAGE, /**< installed */
	WS_FACTS_LIBRARY,
};

struct ws_wheel_facts {
	enum ws_facts_kind kind;
	const char *subject; /**< file name, package, or path of the library */
	uint64_t size_bytes; /**< of the file; 0: installed */
	bool is_whole;       /**< every byte was read: hashes, CRCs and modules are reported */
	bool has_name;       /**< the file name is a wheel's: */
	struct ws_wheel_name name;
	const char *folder;           /**< "x-1.0.dist-info"; NULL: there is none, or several */
	bool has_wheel, has_metadata; /**< they could be read: */
	struct ws_wheel_info wheel;
	struct ws_metadata_info metadata;
	size_t entry_count;      /**< files and folders in the archive; 0: installed */
	uint64_t content_bytes;  /**< of all of them, unpacked */
	enum ws_zip_rule broken; /**< the first zip rule that is broken; WS_ZIP_SOUND: none was found */
	const char *broken_text; /**< how */
	const char *descriptor;  /**< first of those with a data descriptor, which agrees; NULL: none */
	size_t descriptor_count;
	size_t record_count;  /**< lines of RECORD */
	size_t hashed_count;  /**< of their files, those whose digest was recomputed and agrees */
	size_t outside_count; /**< installed files outside of site-packages: not read */
	const struct ws_module_facts *modules; /**< by name */
	size_t module_count;
	const char *platform; /**< tag that all modules together allow; NULL: none, or no module */
	struct ws_wheel_problems problems;
};

/** How to read. */
struct ws_facts_order {
	const char *name;   /**< the wheel's file name; the package's; what to call the library */
	const char *path;   /**< of the wheel or the library; of site-packages for a package */
	const char *folder; /**< an empty private one, for modules of a wheel; the caller removes it */
	struct ws_facts_lists lists;
};

/**
 * Facts of a wheel in a file: every member is read once, hashed, and unpacked if it is a library.
 * What is wrong with the wheel is a problem; false only when this host fails, or there is no such
 * file.
 */
bool ws_facts_of_wheel(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/**
 * Facts of a wheel on a server, read by ranges: names, WHEEL, METADATA and the names in RECORD, no
 * members. @a wire_bytes gets what came over the network. A server that cannot be reached is
 * WS_ERR_FETCH. One that gives no parts of files is warned of, and the whole wheel is downloaded.
 */
bool ws_facts_of_url(const struct ws_fetch *fetch, const struct ws_index_file *file,
	struct ws_arena *a, struct ws_wheel_facts *facts, uint64_t *wire_bytes, struct ws_err *err);

/** Of a package that is installed in the site-packages at order->path. Not there: WS_ERR_CONFIG. */
bool ws_facts_of_package(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/** Of one shared library. */
bool ws_facts_of_library(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/* ---- what the tags of a wheel promise of its modules, and which modules break it ----
 * A file name says for which machine, glibc and Python; a module may say otherwise. */

/** The platform tag that all modules together allow; NULL: there is none for x86-64. */
const char *ws_module_platform(
	const struct ws_module_facts *modules, size_t count, struct ws_arena *a);

/** Adds a problem for each promise that is broken. */
void ws_expected_tags_check(struct ws_wheel_problems *problems, const struct ws_wheel_facts *facts);

/* ---- facts as a JSON text, "wheelsmith.inspect/1" (schemas/inspect-1.json) ----
 * What `inspect --json` prints, and what the child that read a wheel answers. */

/** Appends the text. @a read_bytes is what was read of a wheel on a server; 0: it was a local
 * one. */
void ws_facts_json_write(
	const struct ws_wheel_facts *facts, uint64_t read_bytes, struct ws_buf *out);

#endif
