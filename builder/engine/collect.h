/**
 * collect.h - what a job left in its folder on this host
 *
 * What it read, whether that changed meanwhile, its log and its outputs: the half of a local
 * runner's work that comes after the command. Whether it is kept, the engine decides (record.h).
 */
#ifndef WS_ENGINE_COLLECT_H
#define WS_ENGINE_COLLECT_H

#include "engine/runner.h"
#include "engine/work.h"

/**
 * Fills what @a done lacks; its ids, statuses and costs are there. @a log is the log's file and may
 * be missing.
 * @a started_file_ns: when the command was started.
 */
void ws_collect(const struct ws_work *work, const struct ws_job *job, const char *log,
	int64_t started_file_ns, struct ws_done *done);

#endif
