/* peak.c - see peak.h. */
#include "plan/peak.h"

#include <string.h>

#define MOST_JOBS 1024

struct ws_peaks
ws_peaks_make(unsigned jobs, struct ws_arena *a)
{
	struct ws_peaks peaks = {.most = jobs < MOST_JOBS ? jobs : MOST_JOBS};
	peaks.at = WS_NEW_N(a, uint64_t, peaks.most);
	return peaks;
}

static void
insert(struct ws_peaks *peaks, uint64_t rss_bytes)
{
	size_t place = peaks->len;
	while (place > 0 && peaks->at[place - 1] < rss_bytes) {
		place--;
	}
	if (place == peaks->most) {
		return;
	}
	peaks->len += peaks->len < peaks->most;
	memmove(
		&peaks->at[place + 1], &peaks->at[place], (peaks->len - 1 - place) * sizeof(*peaks->at));
	peaks->at[place] = rss_bytes;
}

void
ws_peaks_add(struct ws_peaks *peaks, uint64_t rss_bytes, unsigned count)
{
	for (unsigned i = 0; i < count && i < peaks->most; i++) {
		insert(peaks, rss_bytes);
	}
}

uint64_t
ws_peaks_sum(const struct ws_peaks *peaks, uint64_t memory_bytes)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < peaks->len; i++) {
		bool fits = memory_bytes == 0 || (sum < memory_bytes && peaks->at[i] <= memory_bytes - sum);
		if (i == 0 || fits) {
			sum += peaks->at[i];
		}
	}
	return sum;
}
