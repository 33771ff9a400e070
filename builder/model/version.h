/**
 * version.h - versions and specifiers of Python packages
 *
 * PEP 440 complete: epochs, pre-, post- and development releases, local labels. Pure text and
 * numbers; the oracle is the `packaging` library (tests/support/version_oracle.py).
 */
#ifndef WS_MODEL_VERSION_H
#define WS_MODEL_VERSION_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum ws_version_pre {
	WS_PRE_NONE,
	WS_PRE_A,
	WS_PRE_B,
	WS_PRE_RC,
};

/** One parsed version. Lives in the arena it was parsed into. */
struct ws_version {
	const char *text;           /**< normalised: "1.0.post1+cu.12.4" */
	const char *public_text;    /**< without the local label: "1.0.post1" */
	const char *local;          /**< normalised local label without '+'; NULL when there is none */
	const char *const *release; /**< decimal digits of each number, no leading zeros */
	size_t release_count;       /**< at least 1 */
	const char *epoch;          /**< decimal digits; "0" when not written */
	enum ws_version_pre pre;
	const char *pre_number;  /**< digits; NULL when pre is WS_PRE_NONE */
	const char *post_number; /**< digits; NULL when this is no post-release */
	const char *dev_number;  /**< digits; NULL when this is no development release */
};

/** False when @a text is no version. Accepts what PEP 440's appendix B accepts ("v1.0-1", " 1.0 "). */
bool ws_version_parse(const char *text, struct ws_arena *a, struct ws_version *version);

/** <0, 0, >0, local labels included. */
int ws_version_cmp(const struct ws_version *x, const struct ws_version *y);

/** Number @a index of the release, 0 when it is not written or larger than 2^32-1 is saturated. */
unsigned ws_version_number(const struct ws_version *version, size_t index);

/** "2.5" of 2.5.1: the first two numbers. */
const char *ws_version_minor(const struct ws_version *version, struct ws_arena *a);

bool ws_version_is_prerelease(const struct ws_version *version);

/** A set of clauses that must all hold, like ">=2.3,<2.6". */
struct ws_specifiers;

/**
 * NULL when @a text is no specifier set. "" is the empty set, which holds for every version that
 * is no pre-release. "===" compares text.
 */
const struct ws_specifiers *ws_specifiers_parse(const char *text, struct ws_arena *a);

/**
 * As packaging's SpecifierSet.contains: a pre-release is only in the set when a clause names one,
 * or @a prereleases is true.
 */
bool ws_specifiers_contain(
	const struct ws_specifiers *set, const struct ws_version *version, bool prereleases);

/** The set in normal form, clauses sorted as packaging writes them. */
const char *ws_specifiers_text(const struct ws_specifiers *set);

#endif
