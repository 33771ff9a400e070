/**
 * loadable.h - does the loader take a file at all, and does Python find the function that starts
 * it?
 *
 * What can be said of a module by itself, before any name is looked for elsewhere.
 */
#ifndef WS_VERIFY_LOADABLE_H
#define WS_VERIFY_LOADABLE_H

#include "verify/finding.h"
#include "verify/subject.h"

/** The findings that speak against it; none when nothing does. */
const struct ws_finding *ws_loadable_findings(const struct ws_subject_module *module,
	const struct ws_load_place *place, struct ws_arena *a, size_t *count);

#endif
