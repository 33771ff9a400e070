/**
 * subject.h - what is judged, and the place where it is to be loaded
 *
 * A subject is the shared libraries of one wheel: modules that Python imports, and libraries that
 * those need. A place is everything they will find there. Both are borrowed for as long as the
 * verdict is used; opening files is the caller's.
 */
#ifndef WS_VERIFY_SUBJECT_H
#define WS_VERIFY_SUBJECT_H

#include "elf/elf.h"
#include "model/facts.h"
#include "model/machine.h"

/** A shared library of the wheel. */
struct ws_subject_module {
	const char *name; /**< as the wheel calls it, for messages: "flash_attn_2_cuda" */
	const struct ws_elf *elf;
	bool required; /**< the subject's verdict depends on it */
	/** The function by which Python starts it: "PyInit_m"; NULL: Python does not import it. */
	const char *init;
	/** As `init`, where only its file's name promises it: that it is missing decides nothing. NULL:
	 * not. */
	const char *promised;
	/** Its file below site-packages, "p.libs/libx.so.1": where its run paths start; NULL: not
	 * known. */
	const char *place;
};

struct ws_subject {
	const struct ws_subject_module *modules;
	size_t count;
	bool
		installed; /**< run paths lead to the others by their places; else they are found by name */
};

/** What the modules will find when they are loaded. */
struct ws_load_place {
	/** Lists of exports (elf/exports.h) of what is not here: a torch release, what its wheel
	 * brings, the driver, Python's stable ABI. What `import torch` loads goes before `libraries`;
	 * what its wheels have besides is found by a run path only. */
	const char *const *lists;
	size_t list_count;
	const char *python; /**< ABI tag for libtorch_python: "cp311"; NULL: any */
	/** The oldest Python that it must load in, "3.10": only names of the stable ABI of that version
	 * are there; NULL: those of `globals`. */
	const char *stable_python;
	/** Found by name through DT_NEEDED: the kit's libcudart, libstdc++, libc, ... */
	const struct ws_elf *const *libraries;
	size_t library_count;
	/** In the global scope: the interpreter or libpython; what they need is global as well. */
	const struct ws_elf *const *globals;
	size_t global_count;
	const char *driver;               /**< of the GPU: "550.54.14"; NULL: not known */
	struct ws_arch_set archs;         /**< GPUs that must be served; none: not judged */
	const struct ws_machine *machine; /**< NULL: any */
	const char *glibc;                /**< of the system, "2.28"; NULL: that of `libraries` */
	const char *ptx; /**< newest PTX that the driver there reads, "8.4"; NULL: not known */
	const struct ws_arch_alias *families; /**< which GPUs run code for an f target */
	size_t family_count;
	bool strict;   /**< what is taken on trust is unknown */
	bool complete; /**< what is in none of these is not there; else it may be */
};

#endif
