/**
 * module_promise.h - what the tags of a wheel promise of its modules, and which modules break it
 *
 * A file name says for which machine, glibc and Python; a module may say otherwise.
 */
#ifndef WS_INSPECT_MODULE_PROMISE_H
#define WS_INSPECT_MODULE_PROMISE_H

#include "inspect/facts.h"

/** The platform tag that all modules together allow; NULL: there is none for x86-64. */
const char *ws_module_platform(
	const struct ws_module_facts *modules, size_t count, struct ws_arena *a);

/** Adds a problem for each promise that is broken. */
void ws_module_promises(struct ws_wheel_problems *problems, const struct ws_wheel_facts *facts);

#endif
