/**
 * attr.h - the compiler attributes and cleanup attributes that every file may use
 *
 * gcc and clang only. The WS_AUTO_* attributes release an operating-system handle or a
 * buffer when its variable leaves scope; memory otherwise belongs to an arena.
 */
#ifndef WS_BASE_ATTR_H
#define WS_BASE_ATTR_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Arguments are checked like printf's: format at @a f, first value at @a v, both from 1. */
#define WS_PRINTF(f, v) __attribute__((format(printf, f, v)))

/** A parameter that this implementation ignores. */
#define WS_UNUSED __attribute__((unused))

/** Number of elements of an array (not of a pointer). */
#define WS_LEN(array) (sizeof(array) / sizeof((array)[0]))

static inline void
ws_auto_close(const int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

/** Defines the function of a cleanup attribute: `release(*held)`, unless it is NULL. */
#define WS_RELEASED_BY(name, type, release) \
	static inline void name(type *const *held) \
	{ \
		if (*held) { \
			release(*held); \
		} \
	}

WS_RELEASED_BY(ws_auto_fclose, FILE, fclose)
WS_RELEASED_BY(ws_auto_closedir, DIR, closedir)

static inline void
ws_auto_free(void *memory)
{
	free(*(void **)memory);
}

/** `WS_AUTO_FD int fd = open(...)`: closed at the end of the scope unless it is -1. */
#define WS_AUTO_FD __attribute__((cleanup(ws_auto_close)))
/** `WS_AUTO_FILE FILE *f = fopen(...)`. */
#define WS_AUTO_FILE __attribute__((cleanup(ws_auto_fclose)))
/** `WS_AUTO_DIR DIR *d = opendir(...)`. */
#define WS_AUTO_DIR __attribute__((cleanup(ws_auto_closedir)))
/** `WS_AUTO_FREE char *p`: for pointers that come from a library's malloc. */
#define WS_AUTO_FREE __attribute__((cleanup(ws_auto_free)))

/** Moves a descriptor out of a WS_AUTO_FD: returns it and leaves -1. */
static inline int
ws_take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

#endif
