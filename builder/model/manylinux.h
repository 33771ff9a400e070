/**
 * manylinux.h - which versions of glibc's and gcc's libraries a platform tag promises
 *
 * The policies of PEP 600 as auditwheel has them, oldest first, for each machine. They are read in
 * two directions: what symbol versions ask for gives a tag (verify/manylinux_tag.h), and a glibc
 * that was asked for gives the versions that a link may use (kit/floor/floor.h).
 */
#ifndef WS_MODEL_MANYLINUX_H
#define WS_MODEL_MANYLINUX_H

#include "model/machine.h"

#include <stdbool.h>

struct ws_arena;

/** Whose symbol versions are counted. */
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
const char *ws_floor_kind_name(enum ws_floor_kind kind);

/** The policies of @a machine, oldest first. */
const struct ws_manylinux *ws_manylinux_list(const struct ws_machine *machine, size_t *count);

/** The one whose glibc is @a glibc, "2.28"; NULL: no policy has that one. */
const struct ws_manylinux *ws_manylinux_of_glibc(
	const struct ws_machine *machine, const char *glibc);

/**
 * The platform tags of a wheel that measures as the policy @a tag and was linked for @a glibc
 * ("2.28"; NULL: for nothing older than this host): both, and manylinux2014 beside 2_17, with dots
 * between. Installers that are told one platform by name take that name alone. @a tag itself where
 * it is no policy's.
 */
const char *ws_manylinux_tags(const char *tag, const char *glibc, struct ws_arena *a);

/** What says "this host's own libraries" where a glibc is named. */
#define WS_GLIBC_HOST "host"

/** May wheels be made for @a text, "2.28" or WS_GLIBC_HOST? */
bool ws_glibc_is_floor(const char *text);

/** Those that may be named: "2.17, 2.24, ... or host". */
const char *ws_glibc_floors(struct ws_arena *a);

/** The newest of them that is not newer than @a text, a version of glibc: what is made for it runs
 * there. NULL: none is, or @a text is something else. */
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
