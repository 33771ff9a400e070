/* http.c - sessions; one request through redirects and repeated attempts; the loop over a batch.
 * Single attempts are in wire.c, messages in http_error.c. */
#include "net/http.h"

#include "net/http_error.h"
#include "net/url.h"
#include "sys/clock.h"

#define TICK_MS 100  /* resolution of stalls and stops */
#define LATER_MS 250 /* pause of a request that another process serves */
#define LONGEST_PAUSE_MS 30000
#define LONGEST_WAIT_S 120 /* of a Retry-After */
#define MOST_REDIRECTS 10
#define MOST_RESTARTS 3           /* a file that changes more often is given up */
#define PROGRESS_MS 100           /* between two events */
#define PROGRESS_BYTES (1u << 20) /* after this much progress earlier failures do not count */
#define REFUSAL_BYTES (4u << 10)
#define DISCARD_BYTES (64u << 10) /* of an error page, to keep its connection in use */

struct login {
	const char *user, *password;
};

struct ws_http {
	struct ws_http_config config; /* with defaults */
	struct ws_wire *wire;
	struct ws_map logins; /* of URLs requested so far: origin (struct ws_url) -> struct login */
	struct ws_map silent; /* origins that did not answer an impatient session */
	struct ws_arena *a;
};

enum state {
	WAITING, /* until due_ms */
	RUNNING,
	HELD, /* connected, waiting for its turn */
	DONE,
};

/* One request over all its attempts. */
struct exchange {
	struct ws_transfer transfer; /* first: wire.c returns it */
	struct run *run;
	struct ws_request *request;
	enum state state;
	struct ws_url hop; /* the current URL, after redirects */
	const char *headers[3 + WS_REQUEST_HEADERS];
	enum ws_answer answer; /* of head() */
	bool failed;           /* a callback has set the error */
	unsigned failures, restarts, redirects;
	uint64_t farthest_bytes; /* kept_bytes when failures was last reset */
	uint64_t received;       /* of this hop's body */
	uint64_t discarded;      /* of an error page */
	uint64_t sent;           /* bytes of the request's body, as last seen */
	int64_t sent_ms;         /* when that last changed */
	int64_t due_ms, started_ms;
	bool timed_out;        /* this host closed the connection */
	int64_t window_ms;     /* start of the time in which a stall is looked for */
	uint64_t window_bytes; /* received before it */
};

/* A batch that runs. */
struct run {
	struct ws_http *http;
	const struct ws_batch *batch;
	struct exchange *exchanges;
	size_t left;             /* not done */
	size_t front;            /* in_order: whose body may come */
	size_t running, at_once; /* how many are under way, and at most */
	bool failed;             /* err is set */
	struct ws_arena *a;
	struct ws_err *err;
};

/* ---- events ---- */

void
ws_progress_begin(struct ws_progress *p, uint64_t total_bytes)
{
	if (p->is_begun) {
		return;
	}
	p->is_begun = true;
	p->total_bytes = total_bytes;
	p->began_ms = ws_clock_ms();
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_STARTED,
		.subject = p->subject,
		.detail = p->from,
		.total = total_bytes,
	};
	ws_events_emit(p->events, &event);
}

void
ws_progress_move(struct ws_progress *p, uint64_t done_bytes)
{
	int64_t now = ws_clock_ms();
	if (now - p->reported_ms < PROGRESS_MS) {
		return;
	}
	p->reported_ms = now;
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_PROGRESS,
		.subject = p->subject,
		.done = done_bytes,
		.total = p->total_bytes,
	};
	ws_events_emit(p->events, &event);
}

void
ws_progress_end(struct ws_progress *p, uint64_t wire_bytes)
{
	if (!p->is_begun) {
		return;
	}
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_DONE,
		.subject = p->subject,
		.done = wire_bytes,
		.wall_ms = (uint64_t)(ws_clock_ms() - p->began_ms),
	};
	ws_events_emit(p->events, &event);
}

/* ---- the session ---- */

struct ws_http *
ws_http_open(const struct ws_http_config *config, struct ws_err *err)
{
	struct ws_http *http = calloc(1, sizeof(*http));
	if (!http) {
		abort();
	}
	struct ws_http_config *c = &http->config;
	*c = *config;
	c->at_once = c->at_once ? c->at_once : 6;
	c->first_byte_ms = c->first_byte_ms ? c->first_byte_ms : 60000;
	c->stall_ms = c->stall_ms ? c->stall_ms : 30000;
	c->stall_bytes = c->stall_bytes ? c->stall_bytes : 30u << 10;
	c->retries = c->retries ? c->retries : 4;
	c->pause_ms = c->pause_ms ? c->pause_ms : 500;
	if (!(http->wire = ws_wire_open(c->ca_path, c->netrc_path, c->first_byte_ms, err))) {
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

struct ws_progress
ws_http_progress(
	const struct ws_http *http, const char *url, const char *subject, struct ws_arena *a)
{
	struct ws_url parsed;
	return (struct ws_progress){.events = http->config.events,
		.subject = subject,
		.from = ws_url_parse(url, a, &parsed, NULL) ? parsed.host : NULL};
}

bool
ws_http_is_silent(const struct ws_http *http, const char *url)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_url parsed;
	return ws_url_parse(url, a, &parsed, NULL) && ws_map_get(&http->silent, parsed.origin);
}

/* ---- one request ---- */

static const char *
subject_of(const struct exchange *x)
{
	return x->request->subject ? x->request->subject : ws_url_shown(x->request->url, x->run->a);
}

static void
explain(const struct exchange *x, struct ws_err *err)
{
	ws_http_error_explain(x->request, subject_of(x), x->hop.host,
		x->run->http->config.offline ? NULL : &x->transfer, err);
}

static void
give_up(struct exchange *x)
{
	explain(x, x->run->err);
	x->run->failed = true;
}

static bool
on_head(struct ws_transfer *t)
{
	struct exchange *x = (struct exchange *)t;
	x->window_ms = ws_clock_ms();
	bool wanted = ws_reply_is_good(&t->reply) || (t->reply.status == 416 && x->request->range[0]);
	if (!wanted || !x->request->head) {
		return true;
	}
	x->answer = x->request->head(x->request, &t->reply, x->run->err);
	x->failed = x->answer == WS_ANSWER_FAIL;
	return x->answer == WS_ANSWER_GOOD;
}

static enum ws_wire_taken
on_body(struct ws_transfer *t, const void *bytes, size_t len)
{
	struct exchange *x = (struct exchange *)t;
	if (!ws_reply_is_good(&t->reply)) {
		struct ws_buf *to = x->request->refusal;
		size_t room = to ? REFUSAL_BYTES - to->len : 0;
		if (room > 0) {
			ws_buf_add(to, bytes, len < room ? len : room);
		}
		x->discarded += len;
		return x->discarded > DISCARD_BYTES ? WS_WIRE_DROP : WS_WIRE_TAKEN;
	}
	if (x->run->batch->in_order && x != &x->run->exchanges[x->run->front]) {
		x->state = HELD;
		return WS_WIRE_LATER;
	}
	x->received += len;
	x->request->wire_bytes += len;
	x->failed = !x->request->body(x->request, bytes, len, x->run->err);
	return x->failed ? WS_WIRE_DROP : WS_WIRE_TAKEN;
}

static void
write_headers(struct exchange *x)
{
	struct ws_transfer *t = &x->transfer;
	const struct ws_request *request = x->request;
	t->headers = x->headers;
	t->header_count = 0;
	for (size_t i = 0; i < request->header_count && i < WS_REQUEST_HEADERS; i++) {
		x->headers[t->header_count++] = request->headers[i];
	}
	if (request->accept) {
		x->headers[t->header_count++] = ws_arena_printf(x->run->a, "Accept: %s", request->accept);
	}
	if (request->range[0]) {
		x->headers[t->header_count++] =
			ws_arena_printf(x->run->a, "Range: bytes=%s", request->range);
	}
	if (request->range[0] && request->if_range[0]) {
		x->headers[t->header_count++] =
			ws_arena_printf(x->run->a, "If-Range: %s", request->if_range);
	}
}

/* An index whose URL has a login lists files by URLs without one. */
static void
remember_login(struct ws_http *http, const struct ws_url *url)
{
	struct login *login = ws_map_get(&http->logins, url->origin);
	if (!url->user
		|| (login && ws_same(login->user, url->user) && ws_same(login->password, url->password))) {
		return;
	}
	if (!login) {
		login = WS_NEW(http->a, struct login);
		ws_map_put(&http->logins, ws_arena_strdup(http->a, url->origin), login, http->a);
	}
	login->user = ws_arena_strdup(http->a, url->user);
	login->password = ws_arena_strdup(http->a, url->password);
}

bool
ws_http_login(struct ws_http *http, const char *url, const char *user, const char *password,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_url parsed;
	if (!ws_url_parse(url, a, &parsed, err)) {
		return false;
	}
	parsed.user = user;
	parsed.password = password;
	remember_login(http, &parsed);
	return true;
}

static bool
start_hop(struct exchange *x)
{
	struct ws_transfer *t = &x->transfer;
	if (ws_map_get(&x->run->http->silent, x->hop.origin)) {
		t->reply = (struct ws_reply){0};
		t->end = WS_WIRE_NO_CONNECTION;
		snprintf(t->fault, sizeof(t->fault), "no response");
		explain(x, x->run->err);
		return false;
	}
	const struct login *login = ws_map_get(&x->run->http->logins, x->hop.origin);
	t->url = x->hop.plain;
	t->method = x->request->method;
	t->signing = x->request->signing;
	t->sends = x->request->sends;
	t->direct = x->request->direct;
	t->user = login ? login->user : NULL;
	t->password = login ? login->password : NULL;
	t->compressed = x->request->compressed;
	t->alone = x->run->batch->in_order || x->failures > 0; /* a repeated attempt avoids HTTP/2 */
	t->head = on_head;
	t->body = on_body;
	t->arena = x->run->a;
	write_headers(x);
	x->answer = WS_ANSWER_GOOD;
	x->received = x->window_bytes = x->discarded = x->sent = 0;
	x->started_ms = x->sent_ms = x->window_ms = ws_clock_ms();
	if (x->request->refusal) {
		ws_buf_clear(x->request->refusal);
	}
	x->state = RUNNING;
	bool started = ws_wire_start(x->run->http->wire, t, x->run->err);
	x->run->running += started;
	return started;
}

static void
finish(struct exchange *x)
{
	struct run *run = x->run;
	x->state = DONE;
	run->left--;
	if (!run->batch->in_order || x != &run->exchanges[run->front]) {
		return;
	}
	while (run->front < run->batch->count && run->exchanges[run->front].state == DONE) {
		run->front++;
	}
	struct exchange *next = run->front < run->batch->count ? &run->exchanges[run->front] : NULL;
	if (next && next->state == HELD) {
		next->state = RUNNING;
		next->window_ms = ws_clock_ms();
		ws_wire_resume(&next->transfer);
		run->failed = next->failed; /* libcurl may not report failures within ws_wire_resume */
	}
}

/* Starts the first or next attempt; false: failed. */
static bool
start(struct exchange *x)
{
	struct ws_request *request = x->request;
	struct run *run = x->run;
	switch (request->begin ? request->begin(request, run->err) : WS_BEGIN_GO) {
	case WS_BEGIN_FAIL:
		return false;
	case WS_BEGIN_DONE:
		finish(x);
		return true;
	case WS_BEGIN_LATER:
		x->due_ms = ws_clock_ms() + LATER_MS;
		return true;
	case WS_BEGIN_GO:
		break;
	}
	if (!ws_url_parse(request->url, run->a, &x->hop, run->err)) {
		if (run->err && run->batch->each) {
			run->err->kind = WS_ERR_FETCH; /* of this request alone */
		}
		return false;
	}
	remember_login(run->http, &x->hop);
	if (run->http->config.offline) {
		explain(x, run->err);
		return false;
	}
	x->redirects = 0;
	request->attempts++;
	return start_hop(x);
}

/* Schedules another attempt, or gives up after too many. */
static void
retry(struct exchange *x)
{
	const struct ws_http_config *config = &x->run->http->config;
	if (x->request->kept_bytes >= x->farthest_bytes + PROGRESS_BYTES) {
		x->farthest_bytes = x->request->kept_bytes;
		x->failures = 0;
	}
	/* A connection that the server closed is tried once more: it may have reloaded. */
	bool was_closed = x->transfer.end == WS_WIRE_CUT && !x->timed_out && x->failures == 0;
	if (config->impatient && !x->transfer.reply.complete && !was_closed) {
		struct ws_http *http = x->run->http;
		struct ws_url first; /* a server that redirects to a silent one counts as silent */
		ws_map_add(&http->silent, ws_arena_strdup(http->a, x->hop.origin), http->a);
		if (ws_url_parse(x->request->url, http->a, &first, NULL)) {
			ws_map_add(&http->silent, first.origin, http->a);
		}
		give_up(x);
		return;
	}
	uint64_t asked_ms = (uint64_t)x->transfer.reply.retry_after_s * 1000;
	x->failures++;
	if (x->request->once || x->failures > config->retries
		|| asked_ms > (uint64_t)LONGEST_WAIT_S * 1000) {
		give_up(x);
		return;
	}
	unsigned doublings = x->failures - 1 < 8 ? x->failures - 1 : 8;
	uint64_t pause_ms = (uint64_t)config->pause_ms << doublings;
	pause_ms = pause_ms > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause_ms;
	pause_ms = pause_ms < asked_ms ? asked_ms : pause_ms;
	x->due_ms = ws_clock_ms() + (int64_t)pause_ms;
	x->state = WAITING;
	if (pause_ms >= 2000) {
		struct ws_err why;
		explain(x, &why);
		ws_events_note(
			config->events, "%s; trying again in %u s", why.text, (unsigned)(pause_ms / 1000));
	}
}

static void
restart(struct exchange *x)
{
	if (++x->restarts > MOST_RESTARTS) {
		ws_err_set(x->run->err, WS_ERR_FETCH,
			"cannot fetch '%s': '%s' sent a different file each time", subject_of(x), x->hop.host);
		x->run->failed = true;
		return;
	}
	x->due_ms = 0;
	x->state = WAITING;
}

static bool
follow_redirect(struct exchange *x)
{
	struct run *run = x->run;
	struct ws_url next;
	const char *verb = ws_request_is_sending(x->request) ? "upload" : "fetch";
	if (++x->redirects > MOST_REDIRECTS) {
		return ws_err_set(run->err, WS_ERR_FETCH, "cannot %s '%s': '%s' redirects too often", verb,
			subject_of(x), x->hop.host);
	}
	if (!ws_url_parse(x->transfer.location, run->a, &next, NULL)) {
		return ws_err_set(run->err, WS_ERR_FETCH,
			"cannot %s '%s': '%s' redirects to '%s', which is not an http(s) URL", verb,
			subject_of(x), x->hop.host, ws_url_shown(x->transfer.location, run->a));
	}
	bool bare = x->request->method || x->request->signing; /* headers may contain a token */
	if (bare || (x->hop.is_https && !next.is_https)) {
		ws_err_set(run->err, WS_ERR_FETCH,
			"cannot %s '%s': '%s' redirects%s, which is not followed", verb, subject_of(x),
			x->hop.host, bare ? "" : " from https to http");
		return ws_err_cure(run->err, "the address it names: %s", ws_url_shown(next.plain, run->a));
	}
	x->hop = next;
	return start_hop(x);
}

static void
decide_status(struct exchange *x)
{
	unsigned status = x->transfer.reply.status;
	bool redirects = x->transfer.location
		&& (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
	if (ws_reply_is_good(&x->transfer.reply)) {
		switch (x->request->end ? x->request->end(x->request, x->run->err) : WS_ANSWER_GOOD) {
		case WS_ANSWER_GOOD:
			finish(x);
			break;
		case WS_ANSWER_ANEW:
			restart(x);
			break;
		case WS_ANSWER_FAIL:
			x->run->failed = true;
			break;
		}
	} else if (redirects) {
		x->run->failed = !follow_redirect(x);
	} else if (status == 408 || status == 429
		|| (status >= 500 && status != 501 && status != 505 && status != 507)) {
		retry(x);
	} else {
		give_up(x);
	}
}

/* The transfer has ended. */
static void
decide(struct exchange *x)
{
	x->run->running--;
	x->request->reply = x->transfer.reply;
	if (x->request->final_in) {
		x->request->final_url = ws_arena_strdup(x->request->final_in, x->hop.plain);
	}
	if (x->failed) {
		x->run->failed = true;
		return;
	}
	if (x->answer == WS_ANSWER_ANEW) {
		restart(x);
		return;
	}
	if (x->transfer.end == WS_WIRE_DROPPED && ws_reply_is_good(&x->transfer.reply)) {
		x->transfer.end = WS_WIRE_CUT; /* the server cut it */
	}
	if (x->transfer.end == WS_WIRE_CUT && x->request->sends && x->transfer.reply.status >= 400) {
		x->transfer.end = WS_WIRE_COMPLETE; /* refused before all of the body was sent */
	}
	switch (x->transfer.end) {
	case WS_WIRE_COMPLETE:
	case WS_WIRE_DROPPED:
		decide_status(x);
		break;
	case WS_WIRE_RUNNING:
	case WS_WIRE_NO_HOST:
	case WS_WIRE_NO_CONNECTION:
	case WS_WIRE_CUT:
		retry(x);
		break;
	case WS_WIRE_BAD_CERTIFICATE:
	case WS_WIRE_BAD_CA:
	case WS_WIRE_BAD_PROXY:
	case WS_WIRE_NO_PROXY:
	case WS_WIRE_BAD_BODY:
		give_up(x);
		break;
	}
}

/* ---- the batch ---- */

/* The caller has set transfer.fault. */
static void
hang_up(struct exchange *x)
{
	ws_wire_cancel(x->run->http->wire, &x->transfer);
	x->transfer.end = WS_WIRE_CUT;
	x->timed_out = true;
	decide(x);
}

static void
watch_pace(struct exchange *x, int64_t now)
{
	const struct ws_http_config *config = &x->run->http->config;
	struct ws_transfer *t = &x->transfer;
	if (x->state != RUNNING) {
		return;
	}
	if (x->transfer.sent_bytes != x->sent) {
		x->sent = x->transfer.sent_bytes;
		x->sent_ms = now;
	}
	bool sending = x->sent > 0 && x->sent < x->request->sends->length_bytes;
	if (!x->transfer.reply.complete && !sending) {
		if (now - (x->sent_ms > x->started_ms ? x->sent_ms : x->started_ms)
			> config->first_byte_ms) {
			snprintf(t->fault, sizeof(t->fault), "no answer for %u s",
				(config->first_byte_ms + 999) / 1000);
			hang_up(x);
		}
		return;
	}
	if (now - x->window_ms < config->stall_ms) {
		return;
	}
	uint64_t moved = x->received + x->sent;
	if (moved - x->window_bytes < config->stall_bytes) {
		snprintf(t->fault, sizeof(t->fault), "too slow: %llu bytes in %u s",
			(unsigned long long)(moved - x->window_bytes), (config->stall_ms + 999) / 1000);
		hang_up(x);
		return;
	}
	x->window_ms = now;
	x->window_bytes = moved;
}

/* In a batch of independent requests a failure of the network ends only its own request. */
static void
contain_failure(struct exchange *x)
{
	struct run *run = x->run;
	const struct ws_err *err = run->err;
	bool own = run->failed && run->batch->each;
	if (own && x->request->failure && err) {
		*x->request->failure = *err;
		own = err->kind == WS_ERR_FETCH; /* a full disk ends the batch */
	}
	if (own) {
		run->failed = false;
		ws_wire_cancel(run->http->wire, &x->transfer);
		finish(x);
	}
}

static void
turn(struct run *run)
{
	const struct ws_http_config *config = &run->http->config;
	int64_t now = ws_clock_ms();
	size_t end = run->batch->count;
	if (run->batch->in_order && end - run->front > run->at_once) {
		end = run->front
			+ run->at_once; /* else waiting requests would use the slot of the front one */
	}
	for (size_t i = 0; i < end && run->running < run->at_once && !run->failed; i++) {
		struct exchange *x = &run->exchanges[i];
		if (x->state == WAITING && x->due_ms <= now && !start(x)) {
			run->failed = true;
			contain_failure(x);
		}
	}
	struct ws_transfer *t = NULL;
	if (!run->failed && run->left > 0) {
		t = ws_wire_wait(run->http->wire, config->stop ? config->stop->fd : -1, TICK_MS);
	}
	while (t && !run->failed) {
		decide((struct exchange *)t);
		contain_failure((struct exchange *)t);
		t = ws_wire_wait(run->http->wire, -1, 0);
	}
	now = ws_clock_ms();
	for (size_t i = 0; i < run->batch->count && !run->failed; i++) {
		watch_pace(&run->exchanges[i], now);
		contain_failure(&run->exchanges[i]);
	}
}

bool
ws_http_run(struct ws_http *http, const struct ws_batch *batch, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct run run = {.http = http, .batch = batch, .left = batch->count, .a = a, .err = err};
	run.exchanges = WS_NEW_N(a, struct exchange, batch->count);
	run.at_once = batch->at_once ? batch->at_once : http->config.at_once;
	for (size_t i = 0; i < batch->count; i++) {
		run.exchanges[i].run = &run;
		run.exchanges[i].request = batch->requests[i];
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
		ws_wire_cancel(http->wire, &run.exchanges[i].transfer);
	}
	return !run.failed;
}

/* ---- several servers at once ---- */

static bool
stop_reading(struct ws_request *request WS_UNUSED, const void *bytes WS_UNUSED,
	size_t len WS_UNUSED, struct ws_err *err)
{
	/* A server that sends the whole file has answered, too. */
	return ws_err_set(err, WS_ERR_FETCH, "enough");
}

bool
ws_http_preconnect(struct ws_http *http, const char *const *urls, size_t count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_map servers = {0};
	struct ws_request *requests = WS_NEW_N(a, struct ws_request, count + 1);
	struct ws_request **list = WS_NEW_N(a, struct ws_request *, count + 1);
	struct ws_err ignored = {0};
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct ws_url url;
		if (ws_url_parse(urls[i], a, &url, NULL) && ws_map_add(&servers, url.origin, a)) {
			requests[used] =
				(struct ws_request){.url = urls[i], .range = "0-0", .body = stop_reading};
			list[used] = &requests[used];
			used++;
		}
	}
	struct ws_batch batch = {
		.requests = list, .count = used, .at_once = (unsigned)used, .each = true};
	if (used < 2 || ws_http_run(http, &batch, &ignored) || !ws_err_is_stop(&ignored)) {
		return true;
	}
	if (err) {
		*err = ignored;
	}
	return false;
}
