/**
 * known_bad.h - combinations that are wrong although they compile, or although they are published
 *
 * Recipes have rules of their own. Rules that many packages share, and rules about wheels of others
 * by their labels, are facts: matrix/facts/known-bad.json, each with its source.
 */
#ifndef WS_MODEL_KNOWN_BAD_H
#define WS_MODEL_KNOWN_BAD_H

#include "model/condition.h"
#include "model/tag.h"

/** A point that is known to be wrong although it compiles, or a host compiler that is there. */
struct ws_known_bad {
	struct ws_condition when; /**< naming archs: those leave the set; else the cell is excluded */
	unsigned gcc;             /**< not 0: neither; only this major of gcc is not chosen there */
	const char *why;          /**< one line */
	const char *see;          /**< "causal-conv1d#105"; NULL */
};

/** One of the facts. */
struct ws_shared_bad {
	struct ws_known_bad rule;             /**< `see` is a URL */
	const char *package;                  /**< normalised; NULL: all */
	const struct ws_specifiers *versions; /**< of the package, labels aside; NULL: all */
	/** Not NULL: it is about published wheels alone, whose local label (lower case) this glob
	 * matches. */
	const char *label;
};

/** Whether the rule is about this version of this package. */
bool ws_shared_bad_concerns(
	const struct ws_shared_bad *bad, const char *package, const struct ws_version *version);

/**
 * The first of @a rules by which a wheel of this name is known not to serve at @a point, whatever
 * is in it; NULL: none. Rules about a package are about its wheels too; those about a compiler are
 * not.
 */
const struct ws_shared_bad *ws_shared_bad_wheel(const struct ws_shared_bad *rules, size_t count,
	const struct ws_wheel_name *name, const struct ws_point_view *point);

#endif
