/**
 * stop.h - stop requests: SIGINT, SIGTERM, SIGHUP and --timeout
 *
 * A loop polls the descriptor and checks. No code runs in a signal handler: the signals are
 * blocked and read from the descriptor.
 */
#ifndef WS_SYS_STOP_H
#define WS_SYS_STOP_H

#include "base/err.h"

#include <signal.h>
#include <stdint.h>

/** One for the process; lives as long as it does. */
struct ws_stop {
	int fd;              /**< readable when a signal came; for poll and curl_multi_poll */
	int signal;          /**< the first signal that came, else 0 */
	unsigned times;      /**< how many came: the second one means "now" */
	int64_t deadline_ms; /**< monotonic; 0: none (--timeout) */
	bool late;           /**< the deadline has passed */
};

/**
 * Blocks the signals and opens the descriptor. From then on a pipe without a reader (SIGPIPE) and
 * a file at its largest size (SIGXFSZ) are write errors, not the end of the process.
 */
bool ws_stop_open(struct ws_stop *stop, struct ws_err *err);

/** Reads the signals that came; true after a stop request. @a stop may be NULL: never. */
bool ws_stop_asked(struct ws_stop *stop);

/** Sets WS_ERR_INTERRUPTED or WS_ERR_STOPPED. Returns false. */
bool ws_stop_err(const struct ws_stop *stop, struct ws_err *err);

/** While a child runs: the signals stay pending for the next reader. */
struct ws_stop_watch {
	struct ws_stop *stop;
	sigset_t signals, before;
};

/** @a stop may be NULL; its deadline counts too. */
void ws_stop_watch_begin(struct ws_stop_watch *watch, struct ws_stop *stop);

/** False, with an error set, after a stop request. */
bool ws_stop_watch_check(const struct ws_stop_watch *watch, struct ws_err *err);

/** A pending signal without a listener ends this process here. */
void ws_stop_watch_end(const struct ws_stop_watch *watch);

#endif
