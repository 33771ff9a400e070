/**
 * stop.h - being asked to stop
 *
 * SIGINT, SIGTERM, SIGHUP and --timeout, as something that a loop can poll and ask. Nothing
 * happens in a signal handler; the signals are blocked and read from a descriptor.
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
 * Blocks the signals and opens the descriptor. A pipe without a reader and a file that reached the
 * largest size (SIGPIPE, SIGXFSZ) are errors of a write from then on, not the end of the process.
 */
bool ws_stop_open(struct ws_stop *stop, struct ws_err *err);

/** Reads what came; true once anything asked us to stop. @a stop may be NULL: never. */
bool ws_stop_asked(struct ws_stop *stop);

/** The error that says so: WS_ERR_INTERRUPTED or WS_ERR_STOPPED. Returns false. */
bool ws_stop_err(const struct ws_stop *stop, struct ws_err *err);

/** While a child runs: the signals wait, and are left for who reads them next. */
struct ws_stop_watch {
	struct ws_stop *stop;
	sigset_t signals, before;
};

/** @a stop may be NULL; its deadline counts too. */
void ws_stop_watch_begin(struct ws_stop_watch *watch, struct ws_stop *stop);

/** False, with the error that says so, once something asks us to stop. */
bool ws_stop_watch_check(const struct ws_stop_watch *watch, struct ws_err *err);

/** A signal that came and that nobody listens for ends us here. */
void ws_stop_watch_end(const struct ws_stop_watch *watch);

#endif
