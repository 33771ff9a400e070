/**
 * local.h - runs jobs as children on this host
 *
 * Each in its own folder below the run's (work.h) and its own process group, with its own log.
 * Samples memory ten times a second; ends a job past its deadline by the kill ladder: TERM to the
 * group, grace, KILL. There is room for one more where the host has the memory. What it left is
 * taken by local.h.
 */
#ifndef WS_ENGINE_LOCAL_H
#define WS_ENGINE_LOCAL_H

#include "engine/runner.h"
#include "engine/work.h"

/**
 * Fills what @a done lacks; its ids, statuses and costs are there. @a log is the log's file and may
 * be missing.
 * @a started_file_ns: when the command was started.
 */
void ws_collect(const struct ws_work *work, const struct ws_job *job, const char *log,
	int64_t started_file_ns, struct ws_done *done);

/* ---- running ---- */

struct ws_host;
struct ws_stop;
struct ws_work;

/** @a stop (may be NULL) wakes a wait when a signal comes. Lives in @a a. */
struct ws_runner *ws_local_runner(const struct ws_work *work, const struct ws_host *host,
	struct ws_stop *stop, struct ws_arena *a);

/** A wait also ends, as WS_WAIT_TICK, when @a fd can be read; -1: it does not. */
void ws_local_waits_for(struct ws_runner *local, int fd);

#endif
