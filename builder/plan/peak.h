/**
 * peak.h - the most memory that units hold together
 *
 * A prediction: as many of the largest as may run at once, as far as they fit beside each other.
 */
#ifndef WS_PLAN_PEAK_H
#define WS_PLAN_PEAK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/** The largest peaks seen, descending. */
struct ws_peaks {
	uint64_t *at;
	size_t len;
	size_t most; /**< as many as run at once */
};

/** @a jobs: how many run at once, at least 1. */
struct ws_peaks ws_peaks_make(unsigned jobs, struct ws_arena *a);

/** Adds @a count units that hold @a rss_bytes each. */
void ws_peaks_add(struct ws_peaks *peaks, uint64_t rss_bytes, unsigned count);

/** @a memory_bytes 0: there is no limit. One unit alone may hold more than the limit. */
uint64_t ws_peaks_sum(const struct ws_peaks *peaks, uint64_t memory_bytes);

#endif
