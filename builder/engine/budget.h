/**
 * budget.h - limits how many jobs run at once
 *
 * Two resources: CPU slots and bytes of memory. A job takes both before it starts and returns
 * both when it has ended. The memory of a job is predicted by store/ledger.h from earlier runs, or
 * by the table of compile/split.c. Does not depend on what or where a job runs; a runner checks the
 * memory of its host. Owner: the engine; lives in its arena. Not thread-safe: one event loop,
 * one budget.
 */
#ifndef WS_ENGINE_BUDGET_H
#define WS_ENGINE_BUDGET_H

#include "base/arena.h"

struct ws_host;

/** The resources of one job. */
struct ws_need {
	unsigned cpus;      /**< whole slots, at least 1 */
	uint64_t rss_bytes; /**< predicted peak, summed over the job's processes */
};

/** Read it; change it only by the functions. */
struct ws_budget {
	unsigned cpus, cpus_taken;
	uint64_t memory_bytes, memory_taken;
	unsigned jobs;
};

/** A budget from the host's cores and memory; 0 for @a jobs or @a memory_bytes: a default. */
struct ws_budget ws_budget_make(const struct ws_host *host, unsigned jobs, uint64_t memory_bytes);

/** True, and taken, if @a need fits now. A need larger than the whole budget fits when nothing
 * runs. */
bool ws_budget_take(struct ws_budget *b, struct ws_need need);

/** Returns exactly what was taken. */
void ws_budget_give(struct ws_budget *b, struct ws_need need);

/**
 * True if @a host has @a bytes for another job. @a promised_bytes: predicted for the running
 * jobs; @a held_bytes: what they hold now. The difference must stay available.
 */
bool ws_budget_host_has(
	const struct ws_host *host, uint64_t bytes, uint64_t promised_bytes, uint64_t held_bytes);

#endif
