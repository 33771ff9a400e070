/**
 * missing_symbols.h - the symbols and libraries that a module needs and will not find, and why
 *
 * The check loads nothing. It compares the undefined names of a module with the exports of the
 * libraries that the module sees, by name and version, as the loader does. torch loads its
 * libraries with local scope, so a module sees only libraries that its own DT_NEEDED reaches, and
 * global ones: the interpreter, libtorch_global_deps and their dependencies. manylinux_tag.h finds
 * the oldest system that has the versions.
 */
#ifndef WS_VERIFY_MISSING_SYMBOLS_H
#define WS_VERIFY_MISSING_SYMBOLS_H

#include "elf/torch_abi.h"
#include "verify/subject.h"

/** Why a symbol was not found. */
enum ws_missing_reason {
	WS_MISSING_ABI,        /**< torch exports it for the other _GLIBCXX_USE_CXX11_ABI */
	WS_MISSING_TORCH,      /**< a name of torch's that this release does not have */
	WS_MISSING_NOT_NEEDED, /**< `library` has it, but DT_NEEDED does not lead there */
	WS_MISSING_DRIVER,     /**< of libcuda, which is not needed: cuInit */
	WS_MISSING_CUDA,       /**< of a CUDA library that nothing needs, or that has no such name */
	WS_MISSING_PYTHON,     /**< of the C API, but not of this interpreter */
	WS_MISSING_TLS,        /**< `library` has it, but one is thread-local and the other is not */
	WS_MISSING_VERSION,    /**< `library` does not define the version, or not of this symbol */
	/** a system has it from glibc `library` on, which the place's is older than */
	WS_MISSING_FLOOR,
	WS_MISSING_SIBLING, /**< `library`, of the same wheel, has it: if that is loaded first */
	WS_MISSING_UNREAD,  /**< `library`, a system's, may have it, but was not read */
	WS_MISSING_OTHER,
	WS_MISSING_REASONS, /**< how many there are */
};

struct ws_missing {
	const char *name;    /**< mangled; of a VERSION of no symbol: the version */
	const char *text;    /**< as people read it */
	const char *library; /**< see the reason; NULL where it names none */
	const char *by; /**< the library of the same wheel that needs it; NULL: the module itself */
	const char *other_abi; /**< ABI: the mangled name that torch exports */
	enum ws_missing_reason reason;
	enum ws_finding_verdict verdict; /**< FAILS, or UNKNOWN when an unread library may have it */
};

/** A library that the module needs and that no known package provides. */
struct ws_absent_library {
	const char *name;    /**< "libcudart.so.13" */
	const char *brought; /**< what torch brings in its place: "libcudart.so.12"; NULL: nothing */
	bool aside;          /**< torch brings it, but nothing loads it, and no run path leads there */
	const struct ws_symbols
		*sibling; /**< of its own wheel, where no run path leads to it; NULL: not */
	enum ws_finding_verdict verdict; /**< FAILS; UNKNOWN where a host may have it */
};

/** The result for one module. */
struct ws_symbols {
	enum ws_finding_verdict verdict;
	const char *module;   /**< its name, for messages */
	const char *release;  /**< of the torch that was listed: "2.5.1"; NULL: no torch */
	const char *python;   /**< the place's stable_python */
	bool strict;          /**< the place's: names in libraries that were not read are unknown */
	size_t wanted_count;  /**< undefined symbols, weak ones not counted */
	size_t assumed_count; /**< of them, those in libraries that were not read */
	const char *const *unread; /**< these libraries; "Python" where none was given */
	size_t unread_count;
	const struct ws_missing *missing; /**< by reason, library, name */
	size_t missing_count;
	const struct ws_absent_library *absent;
	size_t absent_count;
	const char *const *loaded; /**< libraries that it names and that `import torch` has loaded by
								  that name, no system's: "libgomp.so.1" */
	size_t loaded_count;
	const bool *reaches; /**< of each module of the subject: it is loaded with this one */
	enum ws_cxx11abi module_abi;
	enum ws_cxx11abi torch_abi; /**< SILENT without torch */
};

/**
 * Judges every module of @a subject, each as the others' sibling; the lists are read once for all.
 * @a symbols has room for one of each. False only when something could not be read; a negative
 * verdict is a result.
 */
bool ws_symbols_judge(const struct ws_subject *subject, const struct ws_load_place *place,
	struct ws_arena *a, struct ws_symbols *symbols, struct ws_err *err);

/** One finding for each reason; if all symbols were found, one OK finding. */
const struct ws_finding *ws_symbols_findings(
	const struct ws_symbols *symbols, struct ws_arena *a, size_t *count);

#endif
