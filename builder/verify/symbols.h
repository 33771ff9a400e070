/**
 * symbols.h - will a module find every symbol it needs?
 *
 * The question that an ImportError answers too late. Nothing is loaded: names that the module
 * leaves undefined are compared with what the libraries it will see export, torch's being read
 * from a list (elf/exports.h). Symbol versions of libraries that were given are checked too; the
 * oldest system that has them is floor.h's question.
 */
#ifndef WS_VERIFY_SYMBOLS_H
#define WS_VERIFY_SYMBOLS_H

#include "elf/elf.h"
#include "elf/torch_abi.h"
#include "verify/finding.h"

/** What the module will find when it is imported. */
struct ws_surroundings {
	const char *exports; /**< path of the torch release's export list; NULL: no torch */
	const char *python;  /**< ABI tag for libtorch_python; NULL: any */
	/** Found by name through DT_NEEDED: the kit's libcudart, libstdc++, libc, ... */
	const struct ws_elf *const *libraries;
	size_t library_count;
	/** In the global scope: the interpreter or libpython; what they need is global as well. */
	const struct ws_elf *const *globals;
	size_t global_count;
	/** Other modules of the same wheel: visible only to those that need them. */
	const struct ws_elf *const *siblings;
	size_t sibling_count;
};

/** Why a symbol was not found. */
enum ws_missing_reason {
	WS_MISSING_ABI,        /**< torch exports its twin of the other _GLIBCXX_USE_CXX11_ABI */
	WS_MISSING_TORCH,      /**< a name of torch's that this release does not have */
	WS_MISSING_NOT_NEEDED, /**< `library` has it, but DT_NEEDED does not lead there */
	WS_MISSING_DRIVER,     /**< of libcuda, which is not needed: cuInit */
	WS_MISSING_CUDA,       /**< of a CUDA library that nothing needs: `library` */
	WS_MISSING_PYTHON,     /**< of the C API, but not of this interpreter */
	WS_MISSING_TLS,        /**< `library` has it, but one is thread-local and the other is not */
	WS_MISSING_VERSION,    /**< `name` is a symbol version that `library` does not define */
	WS_MISSING_SIBLING,    /**< `library`, of the same wheel, has it: if that is loaded first */
	WS_MISSING_OTHER,
	WS_MISSING_REASONS, /**< how many there are */
};

struct ws_missing {
	const char *name;    /**< mangled */
	const char *text;    /**< as people read it */
	const char *library; /**< see the reason; NULL where it names none */
	const char *twin;    /**< ABI: the mangled name that torch exports */
	enum ws_missing_reason reason;
	enum ws_finding_verdict verdict; /**< FAILS, or UNKNOWN when an unread library may have it */
};

/** A library that the module needs and that nobody is known to bring. */
struct ws_absent_library {
	const char *name;    /**< "libcudart.so.13" */
	const char *brought; /**< what torch brings in its place: "libcudart.so.12"; NULL: nothing */
};

struct ws_symbols {
	enum ws_finding_verdict verdict;
	const char *module;   /**< file name without ".so" and tags, for messages */
	const char *release;  /**< of the export list: "2.5.1"; NULL: no torch */
	size_t wanted_count;  /**< undefined symbols, weak ones not counted */
	size_t assumed_count; /**< of them, those taken on trust: nobody has read their libraries */
	const char *const *unread; /**< these libraries; "Python" where none was given */
	size_t unread_count;
	const struct ws_missing *missing; /**< by reason, library, name */
	size_t missing_count;
	const struct ws_absent_library *absent;
	size_t absent_count;
	enum ws_cxx11abi module_abi;
	enum ws_cxx11abi torch_abi; /**< SILENT when there is no torch */
};

/** False only when something could not be read; a negative verdict is a result. */
bool ws_symbols_judge(const struct ws_elf *module, const struct ws_surroundings *around,
	struct ws_arena *a, struct ws_symbols *symbols, struct ws_err *err);

/** One finding for each reason, or one that says that all is well. */
const struct ws_finding *ws_symbols_findings(
	const struct ws_symbols *symbols, struct ws_arena *a, size_t *count);

#endif
