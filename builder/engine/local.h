/**
 * local.h - runs jobs as children on this host
 *
 * Each in its own process group with its own log. Samples memory ten times a second; ends a job
 * past its deadline by the kill ladder: TERM to the group, grace, KILL.
 */
#ifndef WS_ENGINE_LOCAL_H
#define WS_ENGINE_LOCAL_H

#include "engine/runner.h"

struct ws_stop;

/** @a stop (may be NULL) wakes a wait when a signal comes. Lives in @a a. */
struct ws_runner *ws_local_runner(struct ws_stop *stop, struct ws_arena *a);

#endif
