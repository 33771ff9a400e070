/**
 * append.h - the kernels that put new keys and values behind those of a cache
 */
#ifndef WSK_APPEND_H
#define WSK_APPEND_H

/** By type, WSK_FLOAT16 first. */
extern const char *const wsk_append_kernels[2];

#endif
