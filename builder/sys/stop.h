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

/** The signals that ask to stop. nohup, and `&` of a shell, ignore some of them; a blocked signal
 * would still come. */
sigset_t ws_stop_signals(void);

#endif
