/**
 * floor.h - the libraries of an older system, to link against
 *
 * A module asks of each symbol of libc and libstdc++ the version that the library had where it
 * was linked. So a link that is to load on glibc 2.28 is given stubs (elf/stub.h) with the names
 * and versions of such a system, from the list that ships (matrix/facts/floors), and behind them an
 * archive of what newer headers call and that system lacks: the bridge, C of ours in floor/,
 * compiled here by the compiler of the wheel. The manylinux policy of that glibc gives the allowed
 * versions.
 */
#ifndef WS_KIT_FLOOR_FLOOR_H
#define WS_KIT_FLOOR_FLOOR_H

#include "kit/hostcc/hostcc.h"
#include "store/tree.h"

struct ws_floor_kit {
	const char *glibc;  /**< "2.28" */
	const char *loader; /**< "ld-linux-x86-64.so.2" */
	const char *list;   /**< path of the list, of all versions */
	/** "libc.so", "libstdc++.so", ..., the loader by its own name, and "libfloor.a", the bridge */
	struct ws_tree tree;
};

/** The requirements for a floor. */
struct ws_floor_wish {
	const char *glibc;                /**< of a policy */
	const struct ws_machine *machine; /**< the target of the compiler */
	const struct ws_hostcc *cxx;      /**< opened */
	const char *facts;                /**< folder of the facts */
	const char *bridge;               /**< folder of the bridge */
};

/** Makes the kit, or finds it in the store. */
bool ws_floor_open(const struct ws_store *store, const struct ws_floor_wish *wish,
	struct ws_arena *a, struct ws_floor_kit *kit, struct ws_err *err);

/**
 * The words that stand behind the objects where the linker finds the tree by a -L, NULL-terminated.
 * Libraries that the driver adds come after them, from the same folder. No words where @a kit is
 * NULL.
 */
const char *const *ws_floor_link_words(
	const struct ws_floor_kit *kit, bool cxx, struct ws_arena *a);

/** Is there a stub of the library @a soname, "libc.so.6"? */
bool ws_floor_has_library(const struct ws_floor_kit *kit, const char *soname);

#endif
