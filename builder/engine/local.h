/**
 * local.h - runs jobs as children on this host
 *
 * Each job has a folder below the run's (work.h), a process group and a log. Memory is sampled
 * ten times a second. A job past its time limit gets SIGTERM, then SIGKILL. There is room for
 * another job while the host has the memory.
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

/** @a stop (may be NULL) ends a wait when a signal arrives. Lives in @a a. */
struct ws_runner *ws_local_runner(const struct ws_work *work, const struct ws_host *host,
	struct ws_stop *stop, struct ws_arena *a);

/** Waits also end, as WS_WAIT_TICK, when @a fd is readable; -1: none. */
void ws_local_waits_for(struct ws_runner *local, int fd);

#endif
