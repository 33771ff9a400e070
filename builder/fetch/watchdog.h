/**
 * watchdog.h - ends a wait of somebody else's code
 *
 * libgit2 before 1.7 waits for a silent server for ever, and while it does nobody hears Ctrl-C.
 * While a watchdog is on, a timer looks four times a second: once a stop was asked for, or nothing
 * was fed for too long, system calls that wait return EINTR, and the library gives up by itself.
 * Uses SIGALRM, which nothing else here does; one at a time.
 */
#ifndef WS_FETCH_WATCHDOG_H
#define WS_FETCH_WATCHDOG_H

#include "sys/stop.h"

#include <signal.h>
#include <time.h>

struct ws_watchdog {
	struct ws_stop *stop;      /**< borrowed; NULL: nobody can ask */
	int64_t patience_ms;       /**< silence that is bearable */
	volatile int64_t fed_ms;   /**< monotonic: the last sign of life */
	volatile sig_atomic_t bit; /**< it has begun to interrupt */
	timer_t timer;
	struct sigaction before;
	bool is_on;
};

bool ws_watchdog_start(
	struct ws_watchdog *w, struct ws_stop *stop, unsigned patience_ms, struct ws_err *err);

/** Something moved. */
void ws_watchdog_feed(struct ws_watchdog *w);

/** Twice is fine. */
void ws_watchdog_end(struct ws_watchdog *w);

#endif
