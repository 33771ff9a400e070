/**
 * scope.h - the libraries that may be loaded, and which of them export a wanted name
 *
 * torch's export lists have some hundred thousand names, and modules need a few hundred. So the
 * wanted names are collected first; then each list and each library is read once, and only wanted
 * names are kept. missing_symbols.h decides which libraries one module sees.
 */
#ifndef WS_VERIFY_SCOPE_H
#define WS_VERIFY_SCOPE_H

#include "elf/torch_abi.h"
#include "verify/subject.h"

/** The library names in the lists of Python's names: stable ABI, C API of each version. */
#define WS_SCOPE_STABLE_ABI "python3"
#define WS_SCOPE_C_API "python"

/** A library that can be loaded, or that others need; a process has two hundred at most. */
struct ws_scope_library {
	const char *name;         /**< as in DT_NEEDED */
	const struct ws_elf *elf; /**< NULL: in a list, or only needed by others */
	bool listed;              /**< a list has its exports */
	bool loaded;              /**< `import torch`, or the interpreter, has it in the process */
	bool global;              /**< loaded, and every module sees its exports */
	bool aside;               /**< only a run path leads to it, not its name */
	const struct ws_subject_module *sibling; /**< of the subject; NULL: it is not */
	bool versioned;                          /**< defines versions */
	WS_VEC(const char *) needed;
	WS_VEC(size_t) next;           /**< the number of each of them */
	WS_VEC(const char *) versions; /**< that it defines */
};

/** A library that exports a wanted name. */
struct ws_scope_offer {
	size_t library;
	const char *version; /**< NULL: none */
	bool tls, hidden;
	const struct ws_scope_offer *next;
};

struct ws_scope_name;

/** Made by ws_scope_read's caller with `a`, `subject` and `place`; the rest is the scope's. */
struct ws_scope {
	struct ws_arena *a;
	const struct ws_subject *subject;
	const struct ws_load_place *place;
	WS_VEC(struct ws_scope_library) libraries;
	WS_VEC(const char *) wanted;
	struct ws_scope_name *names; /**< the wanted ones, sorted */
	size_t name_count;
	uint64_t *filter; /**< a bit for the hash of each name: most exports are not wanted */
	const struct ws_manylinux *floor; /**< policy of place->glibc; NULL: unknown */
	const size_t *own;                /**< the library's number of each module of the subject */
	bool python_listed;               /**< the C API of the place's Python is in a list */
	const char *release;              /**< of the torch that is listed; NULL: no torch */
	enum ws_cxx11abi torch_abi;
};

/** Adds @a name, which is borrowed, to the wanted names. Call it before ws_scope_read. */
void ws_scope_want(struct ws_scope *scope, const char *name);

/** Reads the lists, the subject and the libraries of the place. */
bool ws_scope_read(struct ws_scope *scope, struct ws_err *err);

/** The exporters of a wanted name, the last one read first; NULL: no library exports it. */
const struct ws_scope_offer *ws_scope_offers(const struct ws_scope *scope, const char *name);

/** The oldest glibc that has @a name, if newer than the place's: "2.38"; else NULL. */
const char *ws_scope_newer(const struct ws_scope *scope, const char *name);

/** The number of the library of that name; a new one is added. */
size_t ws_scope_number(struct ws_scope *scope, const char *name);

/**
 * The libraries that a loaded module sees, a mark for each number: global ones, and those along
 * DT_NEEDED from the library @a number, breadth first, as ld.so(8) finds them.
 */
bool *ws_scope_load(const struct ws_scope *scope, size_t number);

/** True when its exports are known. */
bool ws_scope_is_read(const struct ws_scope_library *library);

#endif
