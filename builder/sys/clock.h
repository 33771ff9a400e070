/**
 * clock.h - the clocks
 *
 * Monotonic time for durations and deadlines, wall time for people, the kernel's coarse time for
 * comparing with times of files. Code under test takes a clock as a parameter; these are the real
 * ones.
 */
#ifndef WS_SYS_CLOCK_H
#define WS_SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t
ws_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** Milliseconds on the monotonic clock. */
static inline int64_t
ws_clock_ms(void)
{
	return ws_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/** Seconds since 1970, UTC. */
static inline int64_t
ws_clock_wall_s(void)
{
	return ws_clock_ns(CLOCK_REALTIME) / 1000000000;
}

/** Nanoseconds since 1970 on the clock that the kernel stamps files with: a tick of some ms. */
static inline int64_t
ws_clock_file_ns(void)
{
	return ws_clock_ns(CLOCK_REALTIME_COARSE);
}

#endif
