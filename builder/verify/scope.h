/**
 * scope.h - the libraries that may be loaded, and which of them export a wanted name
 *
 * Torch's export lists alone hold some hundred thousand names, and modules want a few hundred. So
 * the wanted names are gathered first; then each list and each library is read once, and only what
 * somebody wants is kept. What one module sees of it is symbols.h's question.
 */
#ifndef WS_VERIFY_SCOPE_H
#define WS_VERIFY_SCOPE_H

#include "base/arena.h"
#include "elf/torch_abi.h"
#include "model/machine.h"
#include "verify/subject.h"

/** What the lists of Python's own names call it: the stable ABI, and the C API of each version. */
#define WS_SCOPE_STABLE_ABI "python3"
#define WS_SCOPE_C_API "python"

/** Something that can be loaded, or that others name; a process has two hundred at most. */
struct ws_scope_library {
	const char *name;         /**< as DT_NEEDED says it */
	const struct ws_elf *elf; /**< NULL: of a list, or only named by others */
	bool listed;              /**< a list tells what it exports */
	bool loaded;              /**< `import torch`, or the interpreter, has it in the process */
	bool global;              /**< and everybody sees what it exports */
	bool aside;               /**< only a run path leads to it, not its name */
	const struct ws_subject_module *sibling; /**< of the subject; NULL: it is not */
	bool versioned;                          /**< defines versions */
	WS_VEC(const char *) needed;
	WS_VEC(size_t) next;           /**< the number of the library that each of them is */
	WS_VEC(const char *) versions; /**< those it defines */
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
	WS_VEC(struct ws_scope_name) names; /**< sorted once they are read */
	uint64_t *filter; /**< a bit for each name's mark: most exports are not wanted */
	const struct ws_manylinux *floor; /**< policy of place->glibc; NULL: no policy has that one */
	const size_t *own;                /**< of each module of the subject: its library's number */
	bool python_listed;               /**< the C API of the place's Python is in a list */
	const char *release;              /**< of the torch that is listed; NULL: no torch */
	enum ws_cxx11abi torch_abi;
};

/** Asks for the exporters of @a name, which is borrowed. Before ws_scope_read. */
void ws_scope_want(struct ws_scope *scope, const char *name);

/** Reads the lists, the subject and the libraries of the place. */
bool ws_scope_read(struct ws_scope *scope, struct ws_err *err);

/** Marks what `import torch` loads of what was listed, and what of it only a run path leads to. */
void ws_scope_mark_torch(struct ws_scope *scope);

/** Marks the library and all that it needs as loaded, and as global with @a global. */
void ws_scope_spread(struct ws_scope *scope, size_t number, bool global);

/** Who exports a name that was asked for; NULL: nobody. The last one read is first. */
const struct ws_scope_offer *ws_scope_offers(const struct ws_scope *scope, const char *name);

/** The oldest glibc beside which a list has @a name, where that is newer than the place's: "2.38";
 * or NULL. */
const char *ws_scope_newer(const struct ws_scope *scope, const char *name);

/** The number of the library that is found by that name, which is added when it is new. */
size_t ws_scope_number(struct ws_scope *scope, const char *name);

/**
 * Which libraries a module sees once it is loaded: a mark for each number. What is global, and
 * along DT_NEEDED from the library @a number, breadth first, as ld.so(8) finds them.
 */
bool *ws_scope_load(const struct ws_scope *scope, size_t number);

/** True when its exports are known. */
bool ws_scope_is_read(const struct ws_scope_library *library);

/**
 * Will it be there? True of what was read, of what `import torch` loads, of what every driver has,
 * and where the host was not looked at of what every system has.
 */
bool ws_scope_is_dependency(const struct ws_scope *scope, const struct ws_scope_library *library);

/** Is a library of that name in torch's wheel, or in one that it requires, and nothing loads it? */
bool ws_scope_is_aside(const struct ws_scope *scope, const char *name);

/** What torch needs of the same CUDA library: "libcudart.so.12" for "libcudart.so.13"; or NULL. */
const char *ws_scope_dependency_instead(const struct ws_scope *scope, const char *name);

#endif
