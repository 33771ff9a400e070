/**
 * closure.h - which libraries an import sees
 *
 * torch loads its libraries with local scope, so a module finds symbols only in what its own
 * DT_NEEDED reaches, and in what is global: the interpreter and what it and the loader brought.
 * Knows names and edges, no symbols.
 */
#ifndef WS_VERIFY_CLOSURE_H
#define WS_VERIFY_CLOSURE_H

#include "base/vec.h"
#include "elf/elf.h"

struct ws_known_library {
	const char *name;         /**< as DT_NEEDED says it */
	const struct ws_elf *elf; /**< NULL: of the export list, or only named by others */
	bool listed;              /**< the export list tells what it exports */
	bool visible;             /**< the module's symbols are looked for in it */
	WS_VEC(const char *) needed;
};

/** Zeroed, with its arena set, it is empty. */
struct ws_closure {
	struct ws_arena *a;
	WS_VEC(struct ws_known_library) libraries;
};

/** The number of the library of that name, which is added when it is new. @a name is copied. */
size_t ws_closure_library(struct ws_closure *c, const char *name);

/** The number of the library that @a elf is. */
size_t ws_closure_add(struct ws_closure *c, const struct ws_elf *elf);

/** Says that library number @a library needs @a needed. */
void ws_closure_need(struct ws_closure *c, size_t library, const char *needed);

/** Makes the library visible, and all that it needs. */
void ws_closure_show(struct ws_closure *c, const char *name);

/**
 * Will it be there? True of what was given or is listed, of what torch needs under the same name
 * (its wheel requires it), of what every system or driver has.
 */
bool ws_closure_is_brought(const struct ws_closure *c, const struct ws_known_library *library);

/** What torch needs of the same CUDA library: "libcudart.so.12" for "libcudart.so.13"; or NULL. */
const char *ws_closure_brought_instead(const struct ws_closure *c, const char *name);

#endif
