/**
 * subject.h - the input and the findings of verification
 *
 * A subject is the shared libraries of one wheel: modules that Python imports, and their own
 * libraries. A place has everything that they find when they are loaded. A finding is one fact with
 * a verdict. The caller opens the files and keeps subject and place as long as the verdict.
 */
#ifndef WS_VERIFY_SUBJECT_H
#define WS_VERIFY_SUBJECT_H

#include "elf/elf.h"
#include "model/facts.h"

/** A shared library of the wheel. */
struct ws_subject_module {
	const char *name; /**< as the wheel calls it, for messages: "flash_attn_2_cuda" */
	const struct ws_elf *elf;
	bool required; /**< the subject's verdict depends on it */
	/** The function by which Python starts it: "PyInit_m"; NULL: Python does not import it. */
	const char *init;
	/** As `init`, promised by the file name only: its absence decides nothing. NULL: no promise. */
	const char *promised;
	/** Its file below site-packages, "p.libs/libx.so.1", the start of its run paths; NULL: unknown.
	 * */
	const char *place;
};

struct ws_subject {
	const struct ws_subject_module *modules;
	size_t count;
	bool installed; /**< run paths lead to the other modules; else modules are found by name */
};

/** The surroundings in which modules are loaded. */
struct ws_load_place {
	/** Lists of exports (elf/exports.h) of libraries that are not on this host: a torch release,
	 * its dependencies, the driver, Python's stable ABI. Libraries that `import torch` loads go
	 * before `libraries`; other libraries of its wheels are found by a run path only. */
	const char *const *lists;
	size_t list_count;
	const char *python; /**< ABI tag for libtorch_python: "cp311"; NULL: any */
	/** The oldest Python in which the modules must load, "3.10": only names of the stable ABI of
	 * that version exist; NULL: the names of `globals`. */
	const char *stable_python;
	/** Found by name through DT_NEEDED: the kit's libcudart, libstdc++, libc, ... */
	const struct ws_elf *const *libraries;
	size_t library_count;
	/** In the global scope: the interpreter or libpython, with their own libraries. */
	const struct ws_elf *const *globals;
	size_t global_count;
	const char *driver;               /**< of the GPU: "550.54.14"; NULL: not known */
	struct ws_arch_set archs;         /**< GPUs that must be served; none: not judged */
	const struct ws_machine *machine; /**< NULL: any */
	const char *glibc;                /**< of the system, "2.28"; NULL: that of `libraries` */
	const char *ptx;                  /**< newest PTX that the driver reads, "8.4"; NULL: unknown */
	const struct ws_arch_alias *families; /**< which GPUs run code for an f target */
	size_t family_count;
	bool strict;   /**< names in libraries that were not read are unknown */
	bool complete; /**< any other library is missing; else it may exist */
};

/* ---- findings ---- */

/** From best to worst: the verdict of several findings is the largest. */
enum ws_finding_verdict {
	WS_VERDICT_OK,
	WS_VERDICT_EXCLUDED, /**< would load, but its own METADATA rules the place out */
	WS_VERDICT_UNKNOWN,
	WS_VERDICT_FAILS,
};

struct ws_finding {
	enum ws_finding_verdict verdict;
	/** Its subject, for programs: "cxx11abi", "torch", "python", "cuda", "driver", "library",
	 * "sibling" (a library of the same wheel), "glibc", "gpu", "tags", "label" (METADATA
	 * contradicts the file name), "module" (a module that the recipe imports is missing),
	 * "requires-python", "requires-torch" (METADATA requires another version), "no-python" (torch
	 * has no wheel for that Python), "damaged", "unreadable", "optional" (the module may never be
	 * loaded), "replaces" (a file of torch's), "loader" (the loader refuses the file), "symbol",
	 * "trust", "known-bad"; NULL: another subject. */
	const char *cause;
	const char *text;            /**< one line, no full stop */
	const char *const *evidence; /**< lines below it */
	size_t evidence_count;
};

typedef WS_VEC(struct ws_finding) ws_finding_list;

#endif
