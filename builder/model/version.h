/**
 * version.h - versions and version specifiers of Python packages
 *
 * All of PEP 440: epochs, pre-, post- and development releases, local labels. A text is parsed
 * where it enters; the parsed version travels. The reference is the `packaging` library
 * (tests/support/version_oracle.py).
 */
#ifndef WS_MODEL_VERSION_H
#define WS_MODEL_VERSION_H

#include "base/arena.h"

enum ws_version_pre {
	WS_PRE_NONE,
	WS_PRE_A,
	WS_PRE_B,
	WS_PRE_RC,
};

/** One parsed version. Lives in the arena of ws_version_parse. */
struct ws_version {
	const char *text;           /**< normalised: "1.0.post1+cu.12.4" */
	const char *public_text;    /**< without the local label: "1.0.post1" */
	const char *local;          /**< normalised local label without '+'; NULL when there is none */
	const char *const *release; /**< decimal digits of each number, no leading zeros */
	size_t release_count;       /**< at least 1 */
	unsigned major, minor; /**< the first two numbers; a missing one is 0, a huge one UINT_MAX */
	const char *epoch;     /**< decimal digits; "0" when not written */
	enum ws_version_pre pre;
	const char *pre_number;  /**< digits; NULL when pre is WS_PRE_NONE */
	const char *post_number; /**< digits; NULL when this is not a post-release */
	const char *dev_number;  /**< digits; NULL when this is not a development release */
};

/**
 * False when @a text is not a version. Accepts what PEP 440's appendix B accepts ("v1.0-1", " 1.0
 * "); white space is ASCII's.
 */
bool ws_version_parse(const char *text, struct ws_arena *a, struct ws_version *version);

/** <0, 0, >0, local labels included. */
int ws_version_cmp(const struct ws_version *x, const struct ws_version *y);

/** As ws_version_cmp, but "2.5.1+cu121" equals "2.5.1". */
int ws_version_cmp_public(const struct ws_version *x, const struct ws_version *y);

/**
 * True when @a version has the epoch and the first @a count release numbers of @a of: 2.5.1 is in
 * the series of 2.5.0 for counts 1 and 2. A missing number is 0.
 */
bool ws_version_in_series(
	const struct ws_version *version, const struct ws_version *of, size_t count);

/** "2.5" of 2.5.1, "2.0" of 2: the first two numbers. */
const char *ws_version_minor(const struct ws_version *version, struct ws_arena *a);

bool ws_version_is_prerelease(const struct ws_version *version);

/** A set of clauses that must all hold, like ">=2.3,<2.6". */
struct ws_specifiers;

/**
 * NULL when @a text is not a specifier set, or has more than 256 clauses. "" is the empty set,
 * which holds for every version that is not a pre-release. "===" compares the normalised text,
 * letter case ignored.
 */
const struct ws_specifiers *ws_specifiers_parse(const char *text, struct ws_arena *a);

/**
 * As packaging's SpecifierSet.contains(version, prereleases=...): with true when @a prereleases is,
 * else with the value of SpecifierSet.prereleases, so that a pre-release is in the set only when a
 * clause names one. "!=" and "==1.*" do not count as naming one.
 */
bool ws_specifiers_contain(
	const struct ws_specifiers *set, const struct ws_version *version, bool prereleases);

/** As packaging writes the set: clauses without white space, sorted, each once. Owned by @a set. */
const char *ws_specifiers_text(const struct ws_specifiers *set);

#endif
