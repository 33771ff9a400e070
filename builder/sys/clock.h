/**
 * clock.h - the clocks
 *
 * Monotonic for durations and deadlines, wall for what a person reads, the files' for comparing
 * with times of files. Everything that must be testable takes a clock as a parameter; these are the
 * real ones.
 */
#ifndef WS_SYS_CLOCK_H
#define WS_SYS_CLOCK_H

#include <stdint.h>

/** Milliseconds on the monotonic clock. */
int64_t ws_clock_ms(void);

/** Microseconds on the same clock. */
int64_t ws_clock_us(void);

/** Seconds since 1970, UTC. */
int64_t ws_clock_wall_s(void);

/** Nanoseconds since 1970 on the clock that the kernel stamps files with: a tick of some ms. */
int64_t ws_clock_file_ns(void);

#endif
