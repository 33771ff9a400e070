/**
 * capture.h - asking a program a short question
 *
 * For `g++ -dumpfullversion` and the like: runs at once, gathers stdout, waits at most a
 * deadline. Long work is the engine's.
 */
#ifndef WS_SYS_CAPTURE_H
#define WS_SYS_CAPTURE_H

#include "base/buf.h"
#include "base/err.h"

/** What to ask. */
struct ws_capture {
	const char *const *argv; /**< argv[0] is the path of the program; NULL-terminated */
	const char *const *env;  /**< NULL: PATH and LANG=C only */
	const char *dir;         /**< NULL: "/" */
	unsigned timeout_ms;     /**< 0: 20 s */
	bool with_stderr;        /**< stderr joins stdout; else it is dropped */
};

/** True when it ran and exited 0. @a out gets at most 4 MiB of what it printed, also on failure. */
bool ws_capture_run(const struct ws_capture *command, struct ws_buf *out, struct ws_err *err);

#endif
