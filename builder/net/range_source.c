#include "net/range_source.h"

#include "net/url.h"

#include <inttypes.h>

#define SPANS_AT_ONCE 3 /* hides the latency of a slow server; each waits with one buffer */

static bool
fail_no_ranges(struct ws_range_source *r, struct ws_err *err)
{
	r->no_ranges = true;
	return ws_err_set(
		err, WS_ERR_FETCH, "the server of '%s' does not support range requests", r->source.name);
}

/* ---- opening ---- */

struct tail {
	struct ws_request request; /* first */
	struct ws_range_source *r;
	uint64_t wanted;
};

static enum ws_begin
tail_begin(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	ws_buf_clear(&((struct tail *)request)->r->tail);
	return WS_BEGIN_GO;
}

static enum ws_answer
tail_head(struct ws_request *request, const struct ws_reply *reply, struct ws_err *err)
{
	struct tail *t = (struct tail *)request;
	struct ws_range_source *r = t->r;
	bool whole = reply->status == 200 && reply->has_length && reply->length_bytes <= t->wanted
		&& !reply->encoding[0];
	bool part = reply->status == 206 && reply->has_range && reply->range_total != UINT64_MAX
		&& reply->range_last - reply->range_first < t->wanted && !reply->encoding[0];
	if (!whole && !part) {
		fail_no_ranges(r, err);
		return WS_ANSWER_FAIL;
	}
	r->source.size = whole ? reply->length_bytes : reply->range_total;
	r->tail_offset = whole ? 0 : reply->range_first;
	uint64_t coming = whole ? reply->length_bytes : reply->range_last - reply->range_first + 1;
	snprintf(r->version, sizeof(r->version), "%s", ws_reply_validator(reply));
	ws_buf_reserve(&r->tail, (size_t)coming);
	return WS_ANSWER_GOOD;
}

static bool
tail_body(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct tail *t = (struct tail *)request;
	if (len > t->wanted - t->r->tail.len) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is longer than announced", request->subject);
	}
	ws_buf_add(&t->r->tail, bytes, len);
	return true;
}

static bool
ask_part(struct tail *t, const char *range, struct ws_err *err)
{
	struct ws_range_source *r = t->r;
	r->no_ranges = false;
	t->request = (struct ws_request){
		.url = r->url,
		.subject = r->source.name,
		.begin = tail_begin,
		.head = tail_head,
		.body = tail_body,
	};
	snprintf(t->request.range, sizeof(t->request.range), "%s", range);
	struct ws_request *const only = &t->request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	bool ok = ws_http_run(r->http, &batch, err);
	r->requests += t->request.attempts;
	r->wire_bytes += t->request.wire_bytes;
	r->status = t->request.reply.status;
	r->is_absent = ws_reply_is_absent(&t->request.reply);
	r->no_ranges = r->no_ranges || t->request.reply.status == 416;
	return ok;
}

static bool read_spans(
	struct ws_byte_source *source, const struct ws_span *spans, size_t count, struct ws_err *err);

enum ws_range_source_result
ws_range_source_open(struct ws_http *http, const char *url, uint64_t tail_bytes, struct ws_arena *a,
	struct ws_range_source *r, struct ws_err *err)
{
	*r = (struct ws_range_source){.http = http, .url = ws_arena_strdup(a, url)};
	const char *name = ws_url_file_name(url, a);
	r->source.name = name[0] ? name : ws_url_shown(url, a);
	r->source.read = read_spans;
	struct tail t = {.r = r, .wanted = tail_bytes};
	char range[48];
	snprintf(range, sizeof(range), "-%" PRIu64, tail_bytes);
	bool ok = ask_part(&t, range, err);
	if (r->no_ranges) {
		/* Some servers do not support "the last N bytes" (object stores behind some mirrors). Then
		 * the length comes from the first byte, and the tail is requested by its offset. */
		t.wanted = 1;
		ok = ask_part(&t, "0-0", err);
		t.wanted = r->source.size < tail_bytes ? r->source.size : tail_bytes;
		snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, r->source.size - t.wanted,
			r->source.size - 1);
		ok = ok && ask_part(&t, range, err);
	}
	uint64_t len = r->source.size < tail_bytes ? r->source.size : tail_bytes;
	if (ok && (r->tail.len != len || r->tail_offset != r->source.size - len)) {
		ok = fail_no_ranges(r, err);
	}
	if (ok) {
		return WS_RANGES_OPEN;
	}
	ws_range_source_close(r);
	return r->no_ranges ? WS_RANGES_NO_RANGES : WS_RANGES_FAILED;
}

void
ws_range_source_close(struct ws_range_source *r)
{
	ws_buf_release(&r->tail);
}

/* ---- reading ---- */

struct reading;

/* The bytes of a span before the tail. */
struct part {
	struct ws_request request; /* first */
	struct reading *reading;
	size_t number; /* of its span */
	uint64_t next; /* offset of the byte that comes next */
	uint64_t end;
};

/* One call of read: its spans in order, from the network or from the tail. */
struct reading {
	struct ws_range_source *r;
	const struct ws_span *spans;
	size_t count;
	size_t delivered; /* spans that are complete */
	struct part *parts;
	size_t part_count;
	uint64_t done_bytes;
	struct ws_progress progress;
};

/* Delivers the spans before @a until, or their ends, from the tail. */
static bool
give_ready(struct reading *g, size_t until, struct ws_err *err)
{
	const struct ws_range_source *r = g->r;
	for (; g->delivered < until; g->delivered++) {
		const struct ws_span *span = &g->spans[g->delivered];
		uint64_t from = span->offset > r->tail_offset ? span->offset : r->tail_offset;
		uint64_t end = span->offset + span->len;
		if (from < end
			&& !span->take(
				span->self, r->tail.data + (from - r->tail_offset), (size_t)(end - from), err)) {
			return false;
		}
	}
	return true;
}

static enum ws_begin
part_begin(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct part *p = (struct part *)request;
	snprintf(request->range, sizeof(request->range), "%" PRIu64 "-%" PRIu64, p->next, p->end - 1);
	return WS_BEGIN_GO;
}

static enum ws_answer
part_head(struct ws_request *request, const struct ws_reply *reply, struct ws_err *err)
{
	struct part *p = (struct part *)request;
	struct ws_range_source *r = p->reading->r;
	/* Tags are compared with tags and dates with dates; a reply with neither is accepted. */
	const char *version = ws_reply_validator(reply);
	bool comparable = version[0] && r->version[0] && (version[0] == '"') == (r->version[0] == '"');
	bool same_length = reply->status == 200
		? !reply->has_length || reply->length_bytes == r->source.size
		: !reply->has_range || reply->range_total == r->source.size;
	if (reply->status == 416 || !same_length || (comparable && strcmp(version, r->version) != 0)) {
		ws_err_set(
			err, WS_ERR_FETCH, "'%s' changed on the server while it was read", r->source.name);
		ws_err_cure(err, "run again to read the new one");
		return WS_ANSWER_FAIL;
	}
	if (!ws_reply_is_range(reply, p->next, p->end - 1, r->source.size) || reply->encoding[0]) {
		fail_no_ranges(r, err);
		return WS_ANSWER_FAIL;
	}
	return WS_ANSWER_GOOD;
}

static bool
part_body(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct part *p = (struct part *)request;
	struct reading *g = p->reading;
	const struct ws_span *span = &g->spans[p->number];
	if (len > p->end - p->next) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s': more bytes came than were asked for", request->subject);
	}
	if (!give_ready(g, p->number, err) || !span->take(span->self, bytes, len, err)) {
		return false;
	}
	p->next += len;
	request->kept_bytes += len;
	g->done_bytes += len;
	ws_progress_move(&g->progress, g->done_bytes);
	return true;
}

static enum ws_answer
part_end(struct ws_request *request, struct ws_err *err)
{
	struct part *p = (struct part *)request;
	if (p->next < p->end) {
		return WS_ANSWER_ANEW; /* continues at the next byte */
	}
	return give_ready(p->reading, p->number + 1, err) ? WS_ANSWER_GOOD : WS_ANSWER_FAIL;
}

/* False when a span leaves the file. */
static bool
plan_parts(struct reading *g, struct ws_err *err)
{
	const struct ws_range_source *r = g->r;
	for (size_t i = 0; i < g->count; i++) {
		const struct ws_span *span = &g->spans[i];
		if (span->offset > r->source.size || span->len > r->source.size - span->offset) {
			return ws_err_set(err, WS_ERR_FETCH, "'%s' has no bytes %" PRIu64 " to %" PRIu64,
				r->source.name, span->offset, span->offset + span->len);
		}
		uint64_t end = span->offset + span->len;
		end = end < r->tail_offset ? end : r->tail_offset;
		if (span->offset >= end) {
			continue;
		}
		struct part *p = &g->parts[g->part_count++];
		*p = (struct part){.reading = g, .number = i, .next = span->offset, .end = end};
		p->request = (struct ws_request){
			.url = r->url,
			.subject = r->source.name,
			.begin = part_begin,
			.head = part_head,
			.body = part_body,
			.end = part_end,
		};
		g->progress.total_bytes += end - p->next;
	}
	return true;
}

static bool
read_spans(
	struct ws_byte_source *source, const struct ws_span *spans, size_t count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_range_source *r = (struct ws_range_source *)source;
	struct reading g = {.r = r, .spans = spans, .count = count};
	g.parts = WS_NEW_N(a, struct part, count);
	g.progress = ws_http_progress(r->http, r->url, source->name, a);
	if (!plan_parts(&g, err)) {
		return false;
	}
	if (g.part_count == 0) {
		return give_ready(&g, count, err);
	}
	struct ws_request **requests = WS_NEW_N(a, struct ws_request *, g.part_count);
	for (size_t i = 0; i < g.part_count; i++) {
		requests[i] = &g.parts[i].request;
	}
	ws_progress_begin(&g.progress, g.progress.total_bytes);
	struct ws_batch batch = {
		.requests = requests,
		.count = g.part_count,
		.at_once = SPANS_AT_ONCE,
		.in_order = true,
	};
	bool ok = ws_http_run(r->http, &batch, err);
	uint64_t before = r->wire_bytes;
	for (size_t i = 0; i < g.part_count; i++) {
		r->requests += g.parts[i].request.attempts;
		r->wire_bytes += g.parts[i].request.wire_bytes;
	}
	if (ok) {
		ws_progress_end(&g.progress, r->wire_bytes - before);
	}
	return ok && give_ready(&g, count, err);
}
