/**
 * floor_policies.h - the manylinux policies of x86-64 (PEP 600), as data
 *
 * From auditwheel 6.8.2, src/auditwheel/policy/manylinux-policy.json.
 */
#ifndef WS_VERIFY_FLOOR_POLICIES_H
#define WS_VERIFY_FLOOR_POLICIES_H

#include "verify/floor.h"

struct ws_floor_policy {
	const char *tag;                  /**< "manylinux_2_17_x86_64" */
	const char *most[WS_FLOOR_KINDS]; /**< newest version allowed; NULL: none at all */
	const char *words;                /**< versions that are no numbers, between spaces */
};

/** From the oldest to the newest. */
extern const struct ws_floor_policy ws_policies[];
extern const size_t ws_policy_count;

/** Libraries that a policy promises, and the number of the oldest policy that does. */
struct ws_policy_library {
	const char *name;
	size_t since;
};

extern const struct ws_policy_library ws_policy_libraries[];
extern const size_t ws_policy_library_count;

#endif
