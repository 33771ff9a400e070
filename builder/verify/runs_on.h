/**
 * runs_on.h - does a module have code that the GPUs of a place run?
 *
 * Machine code runs on GPUs of its major version and its own or a later minor one; code for an `a`
 * target on that GPU alone, for an `f` target on its family; PTX on every later GPU whose driver
 * reads its version (CUDA C++ Programming Guide, "Compute Capability" and "Family-specific
 * features").
 */
#ifndef WS_VERIFY_RUNS_ON_H
#define WS_VERIFY_RUNS_ON_H

#include "verify/finding.h"
#include "verify/gpu_code.h"
#include "verify/subject.h"

/**
 * One finding for each GPU of place->archs; "X+PTX" asks for PTX of X or older besides. Where only
 * some units of the module serve a GPU, those may be chosen by it when it runs: OK, and said. None
 * where the module has no GPU code, or none is asked for. @a name is the module's.
 */
const struct ws_finding *ws_runs_on(const struct ws_gpu_code *code, const char *name,
	const struct ws_load_place *place, struct ws_arena *a, size_t *count);

#endif
