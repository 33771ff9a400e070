/* budget.c - two counters, and the free memory of a host. */
#include "engine/budget.h"

#include "sys/host.h"

/* Reserved for the rest of the host: using the last page is slower than waiting. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

struct ws_budget
ws_budget_make(const struct ws_host *host, unsigned jobs, uint64_t memory_bytes)
{
	uint64_t all = host->memory_bytes;
	return (struct ws_budget){
		.cpus = jobs ? jobs : host->cores,
		.memory_bytes = memory_bytes ? memory_bytes : all - all / 16,
	};
}

bool
ws_budget_host_has(
	const struct ws_host *host, uint64_t bytes, uint64_t promised_bytes, uint64_t held_bytes)
{
	uint64_t growth = promised_bytes > held_bytes ? promised_bytes - held_bytes : 0;
	uint64_t free_bytes = ws_host_available_bytes(host);
	return free_bytes > RESERVE_BYTES && growth <= free_bytes - RESERVE_BYTES
		&& bytes <= free_bytes - RESERVE_BYTES - growth;
}

bool
ws_budget_take(struct ws_budget *b, struct ws_need need)
{
	if (b->jobs > 0) {
		if (b->cpus_taken >= b->cpus || need.cpus > b->cpus - b->cpus_taken
			|| b->memory_taken >= b->memory_bytes
			|| need.rss_bytes > b->memory_bytes - b->memory_taken) {
			return false;
		}
	}
	b->jobs++;
	b->cpus_taken += need.cpus;
	b->memory_taken += need.rss_bytes;
	return true;
}

void
ws_budget_give(struct ws_budget *b, struct ws_need need)
{
	b->jobs--;
	b->cpus_taken -= need.cpus;
	b->memory_taken -= need.rss_bytes;
}
