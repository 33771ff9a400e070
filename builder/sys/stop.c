/* stop.c - signalfd. Children have an empty signal mask and process groups of their own
 * (spawn.c), so a Ctrl-C reaches them only through us. */
#include "sys/stop.h"

#include "sys/clock.h"

#include <errno.h>
#include <sys/signalfd.h>

sigset_t
ws_stop_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < WS_LEN(signals); i++) {
		struct sigaction now;
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
			sigaddset(&set, signals[i]);
		}
	}
	return set;
}

bool
ws_stop_open(struct ws_stop *stop, struct ws_err *err)
{
	sigset_t set = ws_stop_signals();
	*stop = (struct ws_stop){.fd = -1};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0
		|| (stop->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot listen for signals");
	}
	return true;
}

bool
ws_stop_asked(struct ws_stop *stop)
{
	if (!stop) {
		return false;
	}
	struct signalfd_siginfo came;
	while (stop->fd >= 0 && read(stop->fd, &came, sizeof(came)) == sizeof(came)) {
		stop->signal = stop->signal ? stop->signal : (int)came.ssi_signo;
		stop->times++;
	}
	if (stop->deadline_ms && ws_clock_ms() >= stop->deadline_ms) {
		stop->late = true;
	}
	return stop->signal != 0 || stop->late;
}

bool
ws_stop_err(const struct ws_stop *stop, struct ws_err *err)
{
	if (stop->signal == SIGINT) {
		ws_err_set(err, WS_ERR_INTERRUPTED, "interrupted");
	} else {
		ws_err_set(err, WS_ERR_STOPPED, stop->signal ? "stopped by a signal" : "out of time");
	}
	return false;
}
