/* watchdog.c - a handler installed with SA_RESTART disturbs nothing; when it is time it installs
 * itself anew without, and from the next tick on waiting calls fail. Everything in the handler is
 * on the list of signal-safety(7). */
#include "fetch/watchdog.h"

#include "sys/clock.h"

#include <errno.h>
#include <poll.h>

#define TICK_MS 250

static void tick(int signal, siginfo_t *info, void *context);

static void
install(int flags, struct sigaction *before)
{
	struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | flags};
	sigaction(SIGALRM, &action, before);
}

static bool
wants_to_stop(const struct ws_stop *stop, int64_t now_ms)
{
	if (!stop) {
		return false;
	}
	struct pollfd asked = {.fd = stop->fd, .events = POLLIN};
	return stop->signal || (stop->fd >= 0 && poll(&asked, 1, 0) > 0)
		|| (stop->deadline_ms && now_ms >= stop->deadline_ms);
}

static void
tick(int signal WS_UNUSED, siginfo_t *info, void *context WS_UNUSED)
{
	struct ws_watchdog *w = info->si_value.sival_ptr;
	int code = errno;
	int64_t now_ms = ws_clock_ms();
	if (!w->bit && (wants_to_stop(w->stop, now_ms) || now_ms - w->fed_ms > w->patience_ms)) {
		w->bit = 1;
		install(0, NULL);
	}
	errno = code;
}

bool
ws_watchdog_start(
	struct ws_watchdog *w, struct ws_stop *stop, unsigned patience_ms, struct ws_err *err)
{
	*w = (struct ws_watchdog){.stop = stop, .patience_ms = patience_ms, .fed_ms = ws_clock_ms()};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM, .sigev_value.sival_ptr = w};
	if (timer_create(CLOCK_MONOTONIC, &event, &w->timer) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a timer");
	}
	install(SA_RESTART, &w->before);
	struct timespec period = {.tv_nsec = TICK_MS * 1000000L};
	struct itimerspec pace = {.it_interval = period, .it_value = period};
	timer_settime(w->timer, 0, &pace, NULL);
	w->is_on = true;
	return true;
}

void
ws_watchdog_feed(struct ws_watchdog *w)
{
	w->fed_ms = ws_clock_ms();
}

void
ws_watchdog_end(struct ws_watchdog *w)
{
	if (w->is_on) {
		timer_delete(w->timer);
		sigaction(SIGALRM, &w->before, NULL);
		w->is_on = false;
	}
}
