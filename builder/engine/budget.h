/**
 * budget.h - who may run now
 *
 * Two kinds of tokens: CPU slots and bytes of memory. A job asks for both before it starts and
 * gives them back when it is reaped. Knows nothing about what a job does, nor about where it runs:
 * that the host has the memory, its runner sees to. Owner: the engine; lives in its arena. Not
 * thread-safe: one loop, one budget.
 */
#ifndef WS_ENGINE_BUDGET_H
#define WS_ENGINE_BUDGET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct ws_host;

/** What one job needs while it runs. */
struct ws_need {
	unsigned cpus;      /**< whole slots, at least 1 */
	uint64_t rss_bytes; /**< predicted peak, summed over the job's processes */
};

/** What is given out; read it, change it only through the functions. */
struct ws_budget {
	unsigned cpus, cpus_taken;
	uint64_t memory_bytes, memory_taken;
	unsigned jobs;
};

/** Sizes a budget from cores and memory limits; 0 for @a jobs or @a memory_bytes means "decide". */
struct ws_budget ws_budget_make(const struct ws_host *host, unsigned jobs, uint64_t memory_bytes);

/** True and taken if @a need fits now. A need larger than everything fits only when nothing
 * runs. */
bool ws_budget_take(struct ws_budget *b, struct ws_need need);

/** Gives back exactly what was taken. */
void ws_budget_give(struct ws_budget *b, struct ws_need need);

/**
 * @a host has @a bytes for one more job. @a promised_bytes is what the jobs there may hold in all,
 * @a held_bytes what they hold now: the rest must still be had from the host's free memory.
 */
bool ws_budget_host_has(
	const struct ws_host *host, uint64_t bytes, uint64_t promised_bytes, uint64_t held_bytes);

#endif
