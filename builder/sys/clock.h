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

/** Milliseconds on the monotonic clock. */
static inline int64_t
ws_clock_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** Microseconds on the same clock. */
static inline int64_t
ws_clock_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/** Seconds since 1970, UTC. */
static inline int64_t
ws_clock_wall_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/** Nanoseconds since 1970 on the clock that the kernel stamps files with: a tick of some ms. */
static inline int64_t
ws_clock_file_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
