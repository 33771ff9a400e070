/**
 * condition.h - "when" of recipes and "exclude" of matrices
 *
 * A condition is a conjunction over axes: {"torch": ">=2.6", "cuda": "12.*", "arch": "10.3"}. An
 * axis that is not named does not matter; one that is named but that the cell lacks is not met.
 * `torch`, `cuda` and `python` take version specifiers (pre-releases count), `arch` one
 * architecture or a list of them (any of the cell's), `cxx11abi` 0 or 1, `platform` a machine.
 */
#ifndef WS_MODEL_CONDITION_H
#define WS_MODEL_CONDITION_H

#include "model/wheel_name.h"

/** Where in a person's text a value stands, for errors found later. */
struct ws_place {
	size_t offset, len;
};

struct ws_condition {
	const struct ws_specifiers *torch;  /**< NULL: any */
	const struct ws_specifiers *cuda;   /**< NULL: any */
	const struct ws_specifiers *python; /**< NULL: any; "3.13t" is tested as 3.13 */
	const struct ws_machine *machine;   /**< NULL: any */
	/** Count 0: any; else true when the cell has one of them. "9.0" means 9.0+PTX too, not 9.0a. */
	struct ws_arch_set archs;
	int cxx11abi;      /**< 0, 1, or -1: any */
	int free_threaded; /**< 0, 1, or -1: any */
};

/** A point as conditions test it. Members are NULL or -1 when the cell has no such axis. */
struct ws_point_view {
	const struct ws_version *torch;
	const struct ws_version *cuda;
	const struct ws_version *python;
	const struct ws_machine *machine;
	bool free_threaded;
	struct ws_arch_set archs;
	int cxx11abi;
};

bool ws_condition_holds(const struct ws_condition *when, const struct ws_point_view *point);

/** True when it names no axis: it always holds. */
bool ws_condition_is_empty(const struct ws_condition *when);

/** A point that is known to be wrong although it compiles, or a host compiler that is there. */
struct ws_known_bad {
	struct ws_condition when; /**< naming archs: those leave the set; else the cell is excluded */
	unsigned gcc;             /**< not 0: neither; only this major of gcc is not chosen there */
	const char *why;          /**< one line */
	const char *see;          /**< "causal-conv1d#105"; NULL */
};

/** A rule of the facts. */
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
