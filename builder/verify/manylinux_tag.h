/**
 * manylinux_tag.h - the oldest system that a library loads on, and the platform tag that follows
 *
 * Read from the symbol versions that it asks of glibc, libstdc++, libgcc, zlib and libatomic, and
 * held against the policies of its machine (model/machine.h). Libraries that come with torch or
 * CUDA are exempt: they are other wheels' business.
 */
#ifndef WS_VERIFY_MANYLINUX_TAG_H
#define WS_VERIFY_MANYLINUX_TAG_H

#include "elf/elf.h"
#include "model/machine.h"
#include "verify/finding.h"

/** The newest version of one kind that is asked for. */
struct ws_floor_version {
	const char *text;   /**< "2.17"; NULL: none is asked for */
	const char *symbol; /**< one that asks for it: "memcpy"; NULL: none was found */
};

/** What one library, or several together, ask for. Zeroed, it is nothing. */
struct ws_floor {
	const struct ws_machine *machine; /**< of what was added; NULL: nothing yet, or another */
	struct ws_floor_version asked[WS_FLOOR_KINDS];
	bool dt_relr;        /**< packed relocations (GLIBC_ABI_DT_RELR): glibc 2.36 or newer */
	size_t policy;       /**< number of the oldest policy that allows it */
	const char *outside; /**< the library or version that no policy knows; NULL: none */
};

/**
 * Adds what @a elf asks for. @a own are names of libraries that the same wheel carries. Texts live
 * in @a a.
 */
void ws_floor_add(struct ws_floor *floor, const struct ws_elf *elf, const char *const *own,
	size_t own_count, struct ws_arena *a);

/** "manylinux_2_28_x86_64", or "linux_x86_64" when no policy of its machine allows it. */
const char *ws_floor_tag(const struct ws_floor *floor);

/** Does it load where glibc is @a major.@a minor? */
bool ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor);

/**
 * What @a glibc ("2.28") has against it; @a name is the module's. A newer glibc fails. Which
 * libstdc++, libgcc or zlib stands beside a glibc nobody can know; those that the policies pair
 * with it are taken to be there, newer ones are unknown. False: nothing.
 */
bool ws_floor_against(const struct ws_floor *floor, const char *name, const char *glibc,
	struct ws_arena *a, struct ws_finding *finding);

/** The newest version of glibc that one of @a libraries defines: "2.36"; NULL: no libc among
 * them. */
const char *ws_floor_glibc_of(
	const struct ws_elf *const *libraries, size_t count, struct ws_arena *a);

/** "glibc 2.32 or newer: manylinux_2_34_x86_64", and which symbols decided. Always OK. */
struct ws_finding ws_floor_finding(const struct ws_floor *floor, struct ws_arena *a);

/** Do the policies promise the library @a name, or is it the loader itself? */
bool ws_floor_is_system_library(const char *name);

#endif
