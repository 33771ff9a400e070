/**
 * machine.h - target machines, and their manylinux policies
 *
 * A machine is one word in tags ("x86_64"), another in Debian's folders ("x86_64-linux-gnu"), a
 * number in ELF. One table has them all.
 */
#ifndef WS_MODEL_MACHINE_H
#define WS_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

struct ws_machine {
	const char *name;      /**< in tags: "x86_64" */
	const char *multiarch; /**< "x86_64-linux-gnu" */
	const char *debian;    /**< architecture of packages: "amd64" */
	const char *loader;    /**< "ld-linux-x86-64.so.2" */
	unsigned elf;          /**< e_machine */
	const char *mark;      /**< behind names that mean x86-64 where it is missing: "/aarch64"; "" */
	const char *floors;    /**< exports of its glibc releases, a file of the facts */
};

/** "x86_64", "aarch64"; NULL: no wheels are made for it. NULL-safe. */
const struct ws_machine *ws_machine_named(const char *name);

/** By ELF's number; NULL as above. */
const struct ws_machine *ws_machine_of_elf(unsigned elf);

/** All of them, for messages: "x86_64 or aarch64". */
#define WS_MACHINES "x86_64 or aarch64"

/** The machine of this program. */
const struct ws_machine *ws_machine_host(void);

struct ws_arena;

/** Libraries whose symbol versions count. */
enum ws_floor_kind {
	WS_FLOOR_GLIBC,     /**< GLIBC_2.17 */
	WS_FLOOR_GLIBCXX,   /**< GLIBCXX_3.4.29 */
	WS_FLOOR_CXXABI,    /**< CXXABI_1.3.13 */
	WS_FLOOR_GCC,       /**< GCC_4.8.0, of libgcc_s */
	WS_FLOOR_ZLIB,      /**< ZLIB_1.2.9 */
	WS_FLOOR_LIBATOMIC, /**< LIBATOMIC_1.2 */
	WS_FLOOR_KINDS,     /**< how many there are */
};

struct ws_manylinux {
	const char *tag;                  /**< "manylinux_2_17_x86_64" */
	const char *most[WS_FLOOR_KINDS]; /**< newest version allowed, "2.17"; NULL: none at all */
	const char *words;                /**< versions that are not numbers, between spaces */
};

/** "GLIBC", "GLIBCXX", ... */
extern const char *const ws_floor_kind_words[WS_FLOOR_KINDS];

/** The policies of @a machine, oldest first. */
const struct ws_manylinux *ws_manylinux_list(const struct ws_machine *machine, size_t *count);

/** The one whose glibc is @a glibc, "2.28"; NULL: no policy has that one. */
const struct ws_manylinux *ws_manylinux_of_glibc(
	const struct ws_machine *machine, const char *glibc);

/**
 * The platform tags of a wheel that measures as the policy @a tag and was linked for @a glibc
 * ("2.28"; NULL: for nothing older than this host): both, and manylinux2014 beside 2_17, with dots
 * between. `pip --platform` matches a name literally. @a tag itself if it is not a policy's.
 */
const char *ws_manylinux_tags(const char *tag, const char *glibc, struct ws_arena *a);

/** In place of a glibc version: this host's own libraries. */
#define WS_GLIBC_HOST "host"

/** May wheels be made for @a text, "2.28" or WS_GLIBC_HOST? */
bool ws_glibc_is_floor(const char *text);

/** The allowed values: "2.17, 2.24, ... or host". */
const char *ws_glibc_floors(struct ws_arena *a);

/** The newest allowed version up to the glibc @a text, for wheels that must run there. NULL: all
 * are newer, or @a text is not a version. */
const char *ws_glibc_floor_below(const char *text);

/** The glibc of the oldest policy that promises the version @a name, "2.31" for GLIBCXX_3.4.26;
 * NULL: none. */
const char *ws_manylinux_since(const struct ws_machine *machine, const char *name);

/** Does it promise the version @a name, "GLIBC_2.14"? Not one of a kind that is not counted. */
bool ws_manylinux_allows(const struct ws_manylinux *policy, const char *name);

/** Splits "GLIBC_2.17" into its kind and "2.17". False for versions that are not counted. */
bool ws_floor_version_split(const char *name, enum ws_floor_kind *kind, const char **rest);

/** False of "TM_1", as in CXXABI_TM_1. */
bool ws_floor_version_is_number(const char *text);

/** Numbers between dots; a missing one is 0. */
int ws_floor_version_cmp(const char *x, const char *y);

#endif
