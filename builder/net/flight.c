/* flight.c - what happens to one request. Attempts are wire.c's, wording is fault.c's, the loop is
 * http.c's; what becomes of the bytes is the owner's. */
#include "net/flight.h"

#include "net/fault.h"
#include "sys/clock.h"

#include <string.h>

#define LATER_MS 250 /* between two questions whether another process is done */
#define LONGEST_PAUSE_MS 30000
#define MOST_RENEWALS 3           /* a file that changes more often never settles */
#define PROGRESS_BYTES (1u << 20) /* this much more, and the failures before do not count */
#define DISCARD_BYTES (64u << 10) /* of an error page, to keep its connection in use */

static const char *
subject_of(const struct ws_flight *f)
{
	return f->request->subject ? f->request->subject : ws_url_shown(f->request->url, f->run->a);
}

static void
explain(const struct ws_flight *f, struct ws_err *err)
{
	struct ws_fault fault = {
		.subject = subject_of(f),
		.host = f->hop.host,
		.had_login = f->transfer.user != NULL,
		.offline = f->run->http->config.offline,
		.attempts = f->request->attempts,
		.transfer = &f->transfer,
	};
	ws_fault_explain(&fault, err);
}

static void
give_up(struct ws_flight *f)
{
	explain(f, f->run->err);
	f->run->failed = true;
}

static bool
hear_head(struct ws_transfer *t)
{
	struct ws_flight *f = (struct ws_flight *)t;
	f->window_ms = ws_clock_ms();
	bool wanted = ws_reply_is_good(&t->reply) || (t->reply.status == 416 && f->range[0]);
	if (!wanted || !f->request->head) {
		return true;
	}
	f->answer = f->request->head(f->request, &t->reply, f->run->err);
	f->failed = f->answer == WS_ANSWER_FAIL;
	return f->answer == WS_ANSWER_GOOD;
}

static enum ws_wire_taken
hear_body(struct ws_transfer *t, const void *bytes, size_t len)
{
	struct ws_flight *f = (struct ws_flight *)t;
	if (!ws_reply_is_good(&t->reply)) {
		f->discarded += len;
		return f->discarded > DISCARD_BYTES ? WS_WIRE_DROP : WS_WIRE_TAKEN;
	}
	if (f->run->batch->in_order && f->number != f->run->front) {
		f->state = WS_FLIGHT_HELD;
		return WS_WIRE_LATER;
	}
	f->received += len;
	f->request->wire_bytes += len;
	f->failed = !f->request->body(f->request, bytes, len, f->run->err);
	return f->failed ? WS_WIRE_DROP : WS_WIRE_TAKEN;
}

static void
write_headers(struct ws_flight *f)
{
	struct ws_transfer *t = &f->transfer;
	const struct ws_request *request = f->request;
	t->headers = f->headers;
	t->header_count = 0;
	if (request->accept) {
		f->headers[t->header_count++] = ws_arena_printf(f->run->a, "Accept: %s", request->accept);
	}
	f->range[0] = '\0';
	if (request->range[0]) {
		snprintf(f->range, sizeof(f->range), "Range: bytes=%s", request->range);
		f->headers[t->header_count++] = f->range;
	}
	if (request->range[0] && request->if_range[0]) {
		snprintf(f->if_range, sizeof(f->if_range), "If-Range: %s", request->if_range);
		f->headers[t->header_count++] = f->if_range;
	}
}

static struct ws_login *
find_login(struct ws_http *http, const char *origin)
{
	for (size_t i = 0; i < http->logins.len; i++) {
		if (strcmp(http->logins.at[i].origin, origin) == 0) {
			return &http->logins.at[i];
		}
	}
	return NULL;
}

/* An index whose URL has a login names its files by URLs that have none. */
static void
remember_login(struct ws_http *http, const struct ws_url *url)
{
	if (!url->user) {
		return;
	}
	struct ws_login *login = find_login(http, url->origin);
	if (!login) {
		login = ws_vec_push(&http->logins, http->a);
		login->origin = ws_arena_strdup(http->a, url->origin);
	} else if (ws_same(login->user, url->user) && ws_same(login->password, url->password)) {
		return;
	}
	login->user = ws_arena_strdup(http->a, url->user);
	login->password = ws_arena_strdup(http->a, url->password);
}

static bool
start_hop(struct ws_flight *f)
{
	struct ws_transfer *t = &f->transfer;
	const struct ws_login *login = find_login(f->run->http, f->hop.origin);
	t->url = f->hop.plain;
	t->user = login ? login->user : NULL;
	t->password = login ? login->password : NULL;
	t->compressed = f->request->compressed;
	t->alone = f->run->batch->in_order || f->failures > 0; /* HTTP/2 trouble is not met twice */
	t->head = hear_head;
	t->body = hear_body;
	t->arena = f->run->a;
	write_headers(f);
	f->answer = WS_ANSWER_GOOD;
	f->received = f->window_bytes = f->discarded = 0;
	f->started_ms = f->window_ms = ws_clock_ms();
	f->state = WS_FLIGHT_FLIES;
	f->run->flying++;
	return ws_wire_start(f->run->http->wire, t, f->run->err);
}

static void
land(struct ws_flight *f)
{
	struct ws_run *run = f->run;
	f->state = WS_FLIGHT_LANDED;
	run->left--;
	if (!run->batch->in_order || f->number != run->front) {
		return;
	}
	while (run->front < run->batch->count && run->flights[run->front].state == WS_FLIGHT_LANDED) {
		run->front++;
	}
	struct ws_flight *next = run->front < run->batch->count ? &run->flights[run->front] : NULL;
	if (next && next->state == WS_FLIGHT_HELD) {
		next->state = WS_FLIGHT_FLIES;
		next->window_ms = ws_clock_ms();
		ws_wire_resume(&next->transfer);
		run->failed = next->failed; /* libcurl may not report what fails within the resumption */
	}
}

/* False when there is a reason to fail. */
static bool
launch(struct ws_flight *f)
{
	struct ws_request *request = f->request;
	struct ws_run *run = f->run;
	switch (request->begin ? request->begin(request, run->err) : WS_BEGIN_GO) {
	case WS_BEGIN_FAIL:
		return false;
	case WS_BEGIN_DONE:
		land(f);
		return true;
	case WS_BEGIN_LATER:
		f->due_ms = ws_clock_ms() + LATER_MS;
		return true;
	case WS_BEGIN_GO:
		break;
	}
	if (!ws_url_parse(request->url, run->a, &f->hop, run->err)) {
		return false;
	}
	remember_login(run->http, &f->hop);
	if (run->http->config.offline) {
		explain(f, run->err);
		return false;
	}
	f->redirects = 0;
	request->attempts++;
	return start_hop(f);
}

void
ws_flight_launch(struct ws_flight *f)
{
	if (!launch(f)) {
		f->run->failed = true;
	}
}

/* Waits, then begins again; gives up when that was done often enough. */
static void
again(struct ws_flight *f)
{
	const struct ws_http_config *config = &f->run->http->config;
	if (f->request->kept_bytes >= f->farthest_bytes + PROGRESS_BYTES) {
		f->farthest_bytes = f->request->kept_bytes;
		f->failures = 0;
	}
	uint64_t asked_ms = (uint64_t)f->transfer.reply.retry_after_s * 1000;
	f->failures++;
	if (f->failures > config->retries || asked_ms > (uint64_t)config->longest_wait_s * 1000) {
		give_up(f);
		return;
	}
	unsigned doublings = f->failures - 1 < 8 ? f->failures - 1 : 8;
	uint64_t pause_ms = (uint64_t)config->pause_ms << doublings;
	pause_ms = pause_ms > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause_ms;
	pause_ms = pause_ms < asked_ms ? asked_ms : pause_ms;
	f->due_ms = ws_clock_ms() + (int64_t)pause_ms;
	f->state = WS_FLIGHT_WAITS;
	if (pause_ms >= 2000) {
		struct ws_err why;
		explain(f, &why);
		ws_events_note(
			config->events, "%s; trying again in %u s", why.text, (unsigned)(pause_ms / 1000));
	}
}

static void
renew(struct ws_flight *f)
{
	if (++f->renewals > MOST_RENEWALS) {
		ws_err_set(f->run->err, WS_ERR_FETCH,
			"cannot fetch '%s': '%s' has something else each time", subject_of(f), f->hop.host);
		f->run->failed = true;
		return;
	}
	f->due_ms = 0;
	f->state = WS_FLIGHT_WAITS;
}

static bool
is_redirect(const struct ws_transfer *t)
{
	unsigned status = t->reply.status;
	return t->location
		&& (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}

static bool
follow(struct ws_flight *f)
{
	struct ws_run *run = f->run;
	struct ws_url next;
	if (++f->redirects > run->http->config.redirects) {
		return ws_err_set(run->err, WS_ERR_FETCH, "cannot fetch '%s': '%s' redirects without end",
			subject_of(f), f->hop.host);
	}
	if (!ws_url_parse(f->transfer.location, run->a, &next, NULL)) {
		return ws_err_set(run->err, WS_ERR_FETCH,
			"cannot fetch '%s': '%s' redirects astray, to '%s'", subject_of(f), f->hop.host,
			ws_url_shown(f->transfer.location, run->a));
	}
	if (f->hop.is_https && !next.is_https) {
		ws_err_set(run->err, WS_ERR_FETCH,
			"cannot fetch '%s': '%s' redirects from https to http, which is not followed",
			subject_of(f), f->hop.host);
		return ws_err_cure(run->err, "the address it names: %s", ws_url_shown(next.plain, run->a));
	}
	f->hop = next;
	return start_hop(f);
}

static void
settle_good(struct ws_flight *f)
{
	switch (f->request->end ? f->request->end(f->request, f->run->err) : WS_ANSWER_GOOD) {
	case WS_ANSWER_GOOD:
		land(f);
		break;
	case WS_ANSWER_ANEW:
		renew(f);
		break;
	case WS_ANSWER_FAIL:
		f->run->failed = true;
		break;
	}
}

static void
settle_status(struct ws_flight *f)
{
	unsigned status = f->transfer.reply.status;
	if (ws_reply_is_good(&f->transfer.reply)) {
		settle_good(f);
	} else if (is_redirect(&f->transfer)) {
		f->run->failed = !follow(f);
	} else if (status == 408 || status == 429
		|| (status >= 500 && status != 501 && status != 505)) {
		again(f);
	} else {
		give_up(f);
	}
}

void
ws_flight_settle(struct ws_flight *f)
{
	f->run->flying--;
	f->request->reply = f->transfer.reply;
	if (f->request->final_in) {
		f->request->final_url = ws_arena_strdup(f->request->final_in, f->hop.plain);
	}
	if (f->failed) {
		f->run->failed = true;
		return;
	}
	if (f->answer == WS_ANSWER_ANEW) {
		renew(f);
		return;
	}
	if (f->transfer.end == WS_WIRE_DROPPED && ws_reply_is_good(&f->transfer.reply)) {
		f->transfer.end = WS_WIRE_CUT; /* not by us */
	}
	switch (f->transfer.end) {
	case WS_WIRE_COMPLETE:
	case WS_WIRE_DROPPED:
		settle_status(f);
		break;
	case WS_WIRE_RUNNING:
	case WS_WIRE_NO_HOST:
	case WS_WIRE_NO_CONNECTION:
	case WS_WIRE_CUT:
		again(f);
		break;
	case WS_WIRE_BAD_CERTIFICATE:
	case WS_WIRE_BAD_CA:
	case WS_WIRE_BAD_PROXY:
	case WS_WIRE_NO_PROXY:
		give_up(f);
		break;
	}
}
