/**
 * wheel_facts.h - facts about a wheel by itself, in no place
 *
 * The subject is a wheel (a file, or one at a URL, read by ranges), an installed package, or one
 * shared library. A problem is a mistake that matters wherever it is installed: a broken rule of
 * the zip format, a RECORD that differs from the files, names that contradict each other, a module
 * that breaks a promise of the tags. Whether it loads in a place is judged by verify/.
 *
 * The child that judges collects the facts (order.h), because hostile files are expected.
 * `inspect --json` prints the record (schemas/inspect-1.json).
 */
#ifndef WS_JUDGE_WHEEL_FACTS_H
#define WS_JUDGE_WHEEL_FACTS_H

#include "base/table.h"
#include "elf/fatbin.h"
#include "elf/torch_abi.h"
#include "verify/manylinux_tag.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/modules.h"
#include "wheelfile/opened_wheel.h"

/** A mistake in the subject. */
struct ws_wheel_problem {
	const char *about; /**< "zip", "file name", "WHEEL", "METADATA", "RECORD", "names", "module" */
	const char *text;  /**< one line */
};

#define WS_MOST_WHEEL_PROBLEMS 200

/** In the order in which they were found. A hostile wheel has millions. */
struct ws_wheel_problems {
	struct ws_arena *a;
	WS_VEC(struct ws_wheel_problem) kept; /**< the first WS_MOST_WHEEL_PROBLEMS */
	size_t count;                         /**< all of them */
};

/* ---- one shared library ---- */

/** Images of one kind for one architecture, in one section. */
struct ws_image_facts {
	const char *section; /**< ".nv_fatbin"; "__nv_relfatbin": not linked yet */
	const char *kind;    /**< "code", "ptx", "lto", or an unknown number */
	const char *arch;    /**< "9.0", "9.0a" */
	const char *ptx_isa; /**< version of the PTX language; NULL: not PTX */
	enum ws_fatbin_packing packing;
	size_t count;
	uint64_t stored_bytes, raw_bytes; /**< of all together */
};

/** The names of Python's that a module needs. */
enum ws_python_abi {
	WS_PYTHON_NONE,
	WS_PYTHON_STABLE,  /**< only names of the stable ABI, of Python `python_since` or older */
	WS_PYTHON_VERSION, /**< names that may differ between versions: `python_outside` */
};

/** The names of torch's that a module needs. */
enum ws_torch_use {
	WS_TORCH_NONE,
	WS_TORCH_STABLE, /**< only the C functions of torch's stable ABI: `torch_since` or newer */
	WS_TORCH_CXX,    /**< C++ names, which differ between releases */
};

/** A library for another machine is described as far as its format allows. */
struct ws_module_facts {
	const char *name; /**< in the wheel, or the path */
	uint64_t size_bytes;
	const char *machine; /**< "x86-64", "aarch64", "Mach-O"; NULL: not a library of any machine */
	const char *refused; /**< why the members below are unknown, one line; NULL: they are known */
	const char *soname, *rpath, *runpath; /**< NULL: none */
	const char *const *needed;            /**< DT_NEEDED */
	size_t needed_count;
	const char *const *versions; /**< "libc.so.6 GLIBC_2.14", sorted */
	size_t version_count;
	struct ws_floor floor; /**< of this library alone */
	const char *platform;  /**< the tag that the floor allows; NULL: unknown */
	enum ws_cxx11abi cxx11abi;
	const char *internals;     /**< pybind11's id; NULL: none */
	const char *python_suffix; /**< "cp311", "abi3", from the file name; NULL: none */
	enum ws_python_abi python;
	const char *python_since;        /**< STABLE: "3.9"; NULL: the list was not read */
	const char *const *python_names; /**< that it needs, sorted */
	size_t python_name_count;
	const char *const *python_outside; /**< VERSION: names that the stable ABI lacks */
	size_t python_outside_count;
	enum ws_torch_use torch;
	const char *torch_since; /**< STABLE: "2.10.0"; NULL: no known release has all the names */
	const char *const *torch_names; /**< STABLE: the C functions it needs, sorted */
	size_t torch_name_count;
	const struct ws_image_facts *images; /**< by section, architecture, kind */
	size_t image_count;
	const char *gpu_refused; /**< why GPU code could not be read; NULL: it was */
	const char *cpu; /**< "AVX", "AVX-512": needed, and never tested for; NULL: neither seen */
	const char *const *leaked; /**< paths of the machine that built it, sorted, each once */
	size_t leaked_count;
};

/* ---- a wheel, a package or a library ---- */

enum ws_facts_kind {
	WS_FACTS_WHEEL,
	WS_FACTS_PACKAGE, /**< installed */
	WS_FACTS_LIBRARY,
};

/** The archive of a wheel. */
struct ws_zip_facts {
	size_t entry_count;      /**< files and folders */
	uint64_t content_bytes;  /**< of all of them, unpacked */
	const char *broken;      /**< how the archive is malformed; NULL: it is not */
	size_t descriptor_count; /**< entries with a data descriptor, which agrees */
	const char *descriptor;  /**< the first of them; NULL: none */
};

/** RECORD. */
struct ws_record_facts {
	size_t line_count;
	size_t hashed_count;  /**< files whose digest was computed again and agrees */
	size_t outside_count; /**< installed files outside of site-packages: not read */
};

struct ws_wheel_facts {
	enum { WS_FACTS_SOUND, WS_FACTS_WRONG } verdict; /**< WRONG: there is a problem */
	enum ws_facts_kind kind;
	const char *subject; /**< file name, package, or path of the library */
	uint64_t size_bytes; /**< of the file; 0: installed */
	uint64_t read_bytes; /**< of these, read: of a wheel at a URL less than all */
	bool is_whole;       /**< every byte was read: hashes, CRCs and modules are reported */
	const char *folder;  /**< "x-1.0.dist-info"; NULL: there is none, or several */
	const struct ws_wheel_name *name;        /**< NULL: the file name is not a wheel's */
	const struct ws_wheel_info *wheel;       /**< WHEEL; NULL: it could not be read */
	const struct ws_metadata_info *metadata; /**< METADATA; NULL: likewise */
	struct ws_zip_facts *zip;                /**< NULL: not a wheel */
	struct ws_record_facts *record;          /**< NULL: a library */
	const struct ws_module_facts *modules;   /**< by name */
	size_t module_count;
	const char *platform; /**< tag that all modules together allow; NULL: none, or no module */
	struct ws_wheel_problems problems;
	/* For the judge. */
	const char *damaged;         /**< why no installer accepts the wheel; NULL: one may */
	const char *changed;         /**< the first difference from RECORD; NULL: none */
	const char *replaces;        /**< the file of torch's that it contains, in words; NULL: none */
	struct ws_module *libraries; /**< by name, `name` and `file` alone; of a wheel unpacked */
	size_t library_count;
};

/** Adds a problem, and sets the verdict. */
void ws_wheel_problem_add(struct ws_wheel_facts *facts, const char *about, const char *format, ...)
	WS_PRINTF(3, 4);

extern const struct ws_table ws_wheel_facts_table;
/** The words of enum ws_cxx11abi: "" for SILENT, "0", "1", "mixed"; NULL ends them. */
extern const char *const ws_cxx11abi_words[];

/** The subject, and where it is. */
struct ws_facts_order {
	enum ws_facts_kind kind;
	const char *name; /**< the wheel's file name; the package's; a name for the library */
	const char *path; /**< of the wheel or the library; of site-packages for a package */
	/** Export lists (elf/exports.h) that date the names of the stable ABIs. */
	const char *const *stable; /**< among these is Python's stable ABI: library "python3" */
	size_t stable_count;
	const char *const *torch; /**< of torch releases, from old to new */
	size_t torch_count;
};

extern const struct ws_table ws_facts_order_table;

/**
 * Reads the subject of @a order: everything but the facts of its modules. Each member of a wheel is
 * read once, hashed, and unpacked into the working folder if it is a library. A mistake in the
 * wheel is a problem; false only when this host fails, or the subject does not exist (a package:
 * WS_ERR_CONFIG).
 */
bool ws_wheel_read(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/**
 * Adds the facts of the modules, and a problem for each promise of the tags that they break. A file
 * that cannot be read is a fact, too (`refused`). Reads only lists that some module needs; false
 * when one cannot be read.
 */
bool ws_module_facts_read(struct ws_wheel_facts *facts, const struct ws_facts_order *lists,
	struct ws_arena *a, struct ws_err *err);

/**
 * Facts of a wheel on a server, read by ranges: names, WHEEL, METADATA and the names in RECORD, no
 * members. A server that cannot be reached is WS_ERR_FETCH. Without
 * ranges there is a warning, and the whole wheel is downloaded.
 */
bool ws_wheel_facts_get(const struct ws_fetch *fetch, const struct ws_index_file *file,
	struct ws_arena *a, struct ws_wheel_facts *facts, struct ws_err *err);

/** Sets facts->platform, and adds a problem for each promise that is broken. */
void ws_expected_tags_check(struct ws_wheel_facts *facts);

#endif
