/* http.c - the session, and the loop over a batch of requests: who starts when, who is too slow,
 * are we to stop. The way of one request is flight.c's. */
#include "net/http.h"

#include "net/flight.h"
#include "sys/clock.h"

#include <stdlib.h>

#define TICK_MS 100 /* stalls and stops are noticed this late */

static unsigned
or_default(unsigned value, unsigned otherwise)
{
	return value ? value : otherwise;
}

struct ws_http *
ws_http_open(const struct ws_http_config *config, struct ws_err *err)
{
	struct ws_http *http = calloc(1, sizeof(*http));
	if (!http) {
		abort();
	}
	struct ws_http_config *c = &http->config;
	*c = *config;
	c->at_once = or_default(c->at_once, 6);
	c->first_byte_ms = or_default(c->first_byte_ms, 60000);
	c->stall_ms = or_default(c->stall_ms, 30000);
	c->stall_bytes = or_default(c->stall_bytes, 30u << 10);
	c->retries = or_default(c->retries, 4);
	c->pause_ms = or_default(c->pause_ms, 500);
	c->longest_wait_s = or_default(c->longest_wait_s, 120);
	c->redirects = or_default(c->redirects, 10);
	struct ws_wire_setup setup = {c->ca_path, c->netrc_path, c->first_byte_ms};
	if (!(http->wire = ws_wire_open(&setup, err))) {
		free(http);
		return NULL;
	}
	c->ca_path = c->netrc_path = NULL; /* the wire has copies */
	http->a = ws_arena_make();
	return http;
}

void
ws_http_close(struct ws_http *http)
{
	if (http) {
		ws_wire_close(http->wire);
		ws_arena_drop(http->a);
		free(http);
	}
}

const struct ws_events *
ws_http_events(const struct ws_http *http)
{
	return http->config.events;
}

WS_PRINTF(2, 3)
static void
hang_up(struct ws_flight *f, const char *format, ...)
{
	struct ws_transfer *t = &f->transfer;
	ws_wire_cancel(f->run->http->wire, t);
	t->end = WS_WIRE_CUT;
	va_list values;
	va_start(values, format);
	vsnprintf(t->fault, sizeof(t->fault), format, values);
	va_end(values);
	ws_flight_settle(f);
}

static void
watch_pace(struct ws_flight *f, int64_t now)
{
	const struct ws_http_config *config = &f->run->http->config;
	if (f->state != WS_FLIGHT_FLIES) {
		return;
	}
	if (!f->transfer.reply.complete) {
		if (now - f->started_ms > config->first_byte_ms) {
			hang_up(f, "no answer for %u s", (config->first_byte_ms + 999) / 1000);
		}
		return;
	}
	if (now - f->window_ms < config->stall_ms) {
		return;
	}
	if (f->received - f->window_bytes < config->stall_bytes) {
		hang_up(f, "too slow: %llu bytes in %u s",
			(unsigned long long)(f->received - f->window_bytes), (config->stall_ms + 999) / 1000);
		return;
	}
	f->window_ms = now;
	f->window_bytes = f->received;
}

static void
launch_due(struct ws_run *run)
{
	int64_t now = ws_clock_ms();
	size_t end = run->batch->count;
	if (run->batch->in_order && end - run->front > run->at_once) {
		end = run->front + run->at_once; /* else those that wait would take the front's place */
	}
	for (size_t i = 0; i < end && run->flying < run->at_once && !run->failed; i++) {
		struct ws_flight *f = &run->flights[i];
		if (f->state == WS_FLIGHT_WAITS && f->due_ms <= now) {
			ws_flight_launch(f);
		}
	}
}

static void
turn(struct ws_run *run)
{
	const struct ws_http_config *config = &run->http->config;
	launch_due(run);
	struct ws_transfer *t = NULL;
	if (!run->failed && run->left > 0) {
		t = ws_wire_wait(run->http->wire, config->stop ? config->stop->fd : -1, TICK_MS);
	}
	while (t && !run->failed) {
		ws_flight_settle((struct ws_flight *)t);
		t = ws_wire_wait(run->http->wire, -1, 0);
	}
	int64_t now = ws_clock_ms();
	for (size_t i = 0; i < run->batch->count && !run->failed; i++) {
		watch_pace(&run->flights[i], now);
	}
}

bool
ws_http_run(struct ws_http *http, const struct ws_batch *batch, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_run run = {.http = http, .batch = batch, .left = batch->count, .a = a, .err = err};
	run.flights = WS_NEW_N(a, struct ws_flight, batch->count);
	run.at_once = batch->at_once ? batch->at_once : http->config.at_once;
	for (size_t i = 0; i < batch->count; i++) {
		run.flights[i].run = &run;
		run.flights[i].number = i;
		run.flights[i].request = batch->requests[i];
	}
	while (run.left > 0 && !run.failed) {
		if (ws_stop_asked(http->config.stop)) {
			run.failed = true;
			ws_stop_err(http->config.stop, err);
			break;
		}
		turn(&run);
	}
	for (size_t i = 0; i < batch->count; i++) {
		ws_wire_cancel(http->wire, &run.flights[i].transfer);
	}
	return !run.failed;
}
