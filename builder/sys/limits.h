/**
 * limits.h - what a child of ours may use while it reads files of unknown origin
 *
 * A crafted file can ask for gigabytes or for years: a symbol name of a hundred bytes expands to
 * either. For the process that reads it, itself; limits are never lifted again.
 */
#ifndef WS_SYS_LIMITS_H
#define WS_SYS_LIMITS_H

#include <stdint.h>

/**
 * Bounds this process: at most @a data_bytes of memory of its own (files that are mapped to be read
 * do not count), beyond which allocations fail, and @a cpu_s seconds of CPU, after which SIGXCPU
 * ends it. Under a sanitizer, which has memory of its own, only the second holds.
 */
void ws_limit_self(uint64_t data_bytes, unsigned cpu_s);

#endif
