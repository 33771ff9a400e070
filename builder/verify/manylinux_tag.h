/**
 * manylinux_tag.h - the oldest system that a library loads on, and the platform tag that follows
 *
 * The symbol versions that a library needs of glibc, libstdc++, libgcc, zlib and libatomic are
 * compared with the policies of its machine (model/machine.h). Libraries that come with torch or
 * CUDA are exempt, because other wheels have them.
 */
#ifndef WS_VERIFY_MANYLINUX_TAG_H
#define WS_VERIFY_MANYLINUX_TAG_H

#include "verify/subject.h"

/** The newest needed version of one kind. */
struct ws_floor_version {
	const char *text;   /**< "2.17"; NULL: no version is needed */
	const char *symbol; /**< a symbol that needs it: "memcpy"; NULL: unknown */
};

/** The needs of one library, or of several together. Zeroed: no needs. */
struct ws_floor {
	const struct ws_machine *machine; /**< of the libraries; NULL: none yet, or not known */
	struct ws_floor_version asked[WS_FLOOR_KINDS];
	bool dt_relr;        /**< packed relocations (GLIBC_ABI_DT_RELR): glibc 2.36 or newer */
	size_t policy;       /**< number of the oldest policy that allows it */
	const char *outside; /**< the library or version that no policy knows; NULL: none */
};

/**
 * Adds the needs of @a elf. @a own are names of libraries that the same wheel carries. Texts live
 * in @a a.
 */
void ws_floor_add(struct ws_floor *floor, const struct ws_elf *elf, const char *const *own,
	size_t own_count, struct ws_arena *a);

/** "manylinux_2_28_x86_64", or "linux_x86_64" when no policy of its machine allows it. */
const char *ws_floor_tag(const struct ws_floor *floor);

/** True if glibc @a major.@a minor is new enough. */
bool ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor);

/**
 * The finding against @a floor on a system with @a glibc ("2.28"); @a name is the module's. The
 * need of a newer glibc fails. The versions of libstdc++, libgcc and zlib of that system are
 * unknown: those that the policies pair with its glibc are assumed, newer ones are unknown. False:
 * none.
 */
bool ws_floor_against(const struct ws_floor *floor, const char *name, const char *glibc,
	struct ws_arena *a, struct ws_finding *finding);

/** The newest version of glibc that one of @a libraries defines: "2.36"; NULL: no libc among
 * them. */
const char *ws_floor_glibc_of(
	const struct ws_elf *const *libraries, size_t count, struct ws_arena *a);

/** "glibc 2.32 or newer: manylinux_2_34_x86_64", and which symbols decided. Always OK. */
struct ws_finding ws_floor_finding(const struct ws_floor *floor, struct ws_arena *a);

/** True if the policies promise the library @a name, or it is the loader itself. */
bool ws_floor_is_system_library(const char *name);

#endif
