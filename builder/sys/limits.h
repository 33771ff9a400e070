/**
 * limits.h - what a child of ours may use while it reads files of unknown origin
 *
 * A crafted file can ask for gigabytes or for years: a symbol name of a hundred bytes expands to
 * either. For the process that reads it, itself; limits are never lifted again.
 * And what this process cannot do without: a stack.
 */
#ifndef WS_SYS_LIMITS_H
#define WS_SYS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Bounds this process: at most @a data_bytes of memory of its own (files that are mapped to be read
 * do not count), beyond which allocations fail, and @a cpu_s seconds of CPU, after which SIGXCPU
 * ends it. Under a sanitizer, which has memory of its own, only the second holds.
 */
void ws_limit_self(uint64_t data_bytes, unsigned cpu_s);

/**
 * Lets the stack of this process, and of its children, grow to @a wanted bytes, or as far as the hard
 * limit goes. False when that is less than @a least. Uses next to no stack itself.
 */
bool ws_limit_stack(uint64_t least, uint64_t wanted);

#endif
