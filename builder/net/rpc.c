/* rpc.c - the door to nghttp2: gRPC messages in HTTP/2 streams, retries and timeouts. */
#include "net/rpc.h"

#include "sys/clock.h"

#include <nghttp2/nghttp2.h>

#define PREFIX 5                          /* of a message: compressed or not, length */
#define LONGEST_MESSAGE ((size_t)4 << 20) /* gRPC's default limit */
#define WINDOW (8 << 20)
#define MOST_HEADERS 16
/* Calls without a response so far: servers silently drop streams beyond this number. A call with a
 * deadline has a file open on this host and counts until it ends. */
#define AT_ONCE 200
#define LEAST_OPEN 4
#define CROWDED_MS 30000 /* time until the limit grows again after RESOURCE_EXHAUSTED */
#define QUIET_MS 10000
#define PING_MS 5000
#define TICK_MS 100
#define ATTEMPTS 4
#define ATTEMPTS_AGAIN 6   /* of a server that answered before: it may be restarting */
#define RECONNECT_MS 15000 /* likewise: how long a refused connection is retried */
#define RECONNECT_PAUSE_MS 250
#define REFUSALS 30
#define LONGEST_PAUSE 5 /* as a power of two, of PAUSE_MS */
#define READS 64        /* per turn, so that a fast sender cannot starve the loop */
#define WRITES 32       /* likewise, of PART bytes */
#define PART ((size_t)128 << 10)
#define PAUSE_MS 100 /* before the second attempt, then doubled */
#define BESIDE_MS 20 /* between two calls of while_waiting */

/* An intrusive list link; the head is a link without an owner. */
struct link {
	struct link *prev, *next;
	struct stream *of;
	int64_t at_ms; /* in the list by time */
};

/* A call between its start and its end. */
struct stream {
	struct ws_call *call; /* NULL: the call has ended, nghttp2 still uses this struct */
	struct link place;    /* in fresh, paused (until the next attempt) or open */
	int32_t id;           /* 0: not open */
	int64_t started_ms;   /* of this attempt */
	unsigned attempts, refusals;
	struct ws_buf out; /* the message that is being sent, with its prefix */
	size_t sent;       /* bytes of it */
	bool sending, sent_all;
	/* Received bytes that do not make a whole message yet, and the response headers. */
	struct ws_buf in;
	int http, status;
	bool counts; /* towards AT_ONCE */
	bool is_grpc, enough, too_long;
	bool refused; /* the server did no work: does not count as an attempt */
};

struct ws_rpc {
	struct ws_rpc_config config;
	struct ws_channel *channel;
	nghttp2_session *h2;
	bool understood; /* an HTTP/2 frame was received */
	bool reused;     /* the connection is older than all calls: the server may have closed it */
	bool draining;   /* GOAWAY was received */
	bool answered;   /* some call was answered, on whatever connection */
	char why[200];   /* reason why the last connection ended */
	int64_t received_ms, pinged_ms;
	int64_t lost_ms;    /* since when connecting fails; 0: it does not */
	int64_t connect_ms; /* not before this time */
	int64_t beside_ms;  /* last call of while_waiting */
	struct ws_buf out;  /* frames that are not sent yet */
	size_t out_sent;
	unsigned failures;               /* connections in a row on which no call was answered */
	size_t left;                     /* calls that have not ended */
	struct link fresh, paused, open; /* each stream is in one; paused ones by time */
	size_t open_count, counted;      /* `counted`: those that count towards AT_ONCE */
	size_t most_open;                /* lower after RESOURCE_EXHAUSTED */
	int64_t crowded_ms;              /* when most_open last changed */
	int64_t lowered_ms;              /* when it was last lowered */
	/* A call beside each ping, whatever its response. gRPC servers close a connection after four
	 * pings without data in between, and the response is data, even "unknown method". */
	struct ws_call health_check;
};

/* ---- lists ---- */

static void
init_list(struct link *list)
{
	*list = (struct link){.prev = list, .next = list};
}

static void
unlink_link(struct link *link)
{
	if (link->next) {
		link->prev->next = link->next;
		link->next->prev = link->prev;
		link->prev = link->next = NULL;
	}
}

static void
put_before(struct link *where, struct link *link)
{
	link->prev = where->prev;
	link->next = where;
	where->prev->next = link;
	where->prev = link;
}

/* Appends one list to the other, which becomes empty. */
static void
move_all(struct link *from, struct link *to)
{
	while (from->next != from) {
		struct link *link = from->next;
		unlink_link(link);
		put_before(to, link);
	}
}

/* ---- the end of an attempt ---- */

static void
set_status(struct stream *s, enum ws_rpc_status status, const char *text)
{
	s->call->status = status;
	if (text) {
		snprintf(s->call->text, sizeof(s->call->text), "%s", text);
	}
	s->call->text[strcspn(s->call->text, "\r\n")] = '\0';
}

static void
free_stream(struct stream *s)
{
	unlink_link(&s->place);
	ws_buf_release(&s->in);
	ws_buf_release(&s->out);
	free(s);
}

/* Ends the call. The stream stays until nghttp2 has closed it (on_close). */
static void
end_call(struct ws_rpc *rpc, struct stream *s)
{
	struct ws_call *call = s->call;
	s->call = NULL;
	if (!s->id) {
		free_stream(s);
	}
	rpc->left--;
	call->stream = NULL;
	call->ended = true;
	if (call->end) {
		call->end(call);
	}
}

/* The call waits for its next attempt. Searches its place from the end: nearly always its time is
 * the latest. */
static void
pause_call(struct ws_rpc *rpc, struct stream *s)
{
	unsigned longer = s->attempts + s->refusals / 4;
	struct link *where = &rpc->paused;
	s->place.at_ms =
		ws_clock_ms() + ((int64_t)PAUSE_MS << (longer < LONGEST_PAUSE ? longer : LONGEST_PAUSE));
	while (where->prev != &rpc->paused && where->prev->at_ms > s->place.at_ms) {
		where = where->prev;
	}
	put_before(where, &s->place);
}

/* nghttp2 has closed the stream: its call waits for another attempt, or ends. */
static void
end_attempt(struct ws_rpc *rpc, struct stream *s)
{
	bool too_many = s->call && s->call->status == WS_RPC_EXHAUSTED;
	if (too_many && s->started_ms > rpc->lowered_ms) { /* once for all calls that were open then */
		size_t half = rpc->open_count / 2 > LEAST_OPEN ? rpc->open_count / 2 : LEAST_OPEN;
		rpc->most_open = half < rpc->most_open ? half : rpc->most_open;
		rpc->lowered_ms = rpc->crowded_ms = ws_clock_ms();
	}
	unlink_link(&s->place);
	s->id = 0;
	rpc->open_count--;
	rpc->counted -= s->counts ? 1 : 0;
	if (!s->call) {
		free_stream(s);
		return;
	}
	ws_buf_clear(&s->in);
	if (s->call->received && s->call->deadline_ms == 0 && s->status < 0) {
		s->attempts = 1; /* a call of hours may break often; only a status ends it */
	}
	if ((s->refused || too_many) && s->refusals < REFUSALS) {
		s->refusals++;
		s->attempts--;
	}
	enum ws_rpc_status status = s->call->status;
	bool may_repeat = status == WS_RPC_UNAVAILABLE || status == WS_RPC_EXHAUSTED
		|| status == WS_RPC_ABORTED || (status == WS_RPC_CANCELLED && !s->enough);
	if (may_repeat && !s->call->silent
		&& s->attempts < (rpc->answered ? ATTEMPTS_AGAIN : ATTEMPTS)) {
		pause_call(rpc, s);
	} else {
		end_call(rpc, s);
	}
}

/* Closes the connection. Open calls fail with @a why; @a silent: the server had its time to
 * answer. */
static void
hang_up(struct ws_rpc *rpc, const char *why, bool silent)
{
	struct stream *s;
	nghttp2_session_del(rpc->h2);
	rpc->h2 = NULL;
	ws_channel_close(rpc->channel);
	rpc->channel = NULL;
	rpc->draining = false;
	if (rpc->answered && !silent && rpc->failures > 0) { /* a proxy whose server restarts */
		rpc->connect_ms = ws_clock_ms() + 2L * RECONNECT_PAUSE_MS * rpc->failures;
	}
	snprintf(rpc->why, sizeof(rpc->why), "%s", why ? why : "the server closes every connection");
	ws_buf_clear(&rpc->out);
	rpc->out_sent = 0;
	while ((s = rpc->open.next->of)) {
		if (s->call) {
			s->call->silent = silent && s->call->deadline_ms > 0;
			set_status(s, WS_RPC_UNAVAILABLE, why);
		}
		end_attempt(rpc, s);
	}
}

/* ---- callbacks of nghttp2 ---- */

static ssize_t
send_body(nghttp2_session *h2 WS_UNUSED, int32_t id WS_UNUSED, uint8_t *to, size_t room,
	uint32_t *flags, nghttp2_data_source *source, void *rpc WS_UNUSED)
{
	struct stream *s = source->ptr;
	size_t given = 0;
	while (given < room && s->call && !s->sent_all) {
		if (!s->sending) {
			struct ws_str message = s->call->message;
			s->sending = !s->call->next || s->call->next(s->call, &message);
			s->sent_all = !s->sending;
			s->sent = 0;
			size_t n = message.n;
			const char prefix[PREFIX] = {
				0, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
			ws_buf_clear(&s->out);
			ws_buf_add(&s->out, prefix, PREFIX);
			ws_buf_add(&s->out, message.s, n);
			continue;
		}
		size_t left = s->out.len - s->sent;
		size_t part = left < room - given ? left : room - given;
		memcpy(to + given, s->out.data + s->sent, part);
		s->sent += part;
		given += part;
		if (part == left) {
			s->sending = false;
			s->sent_all = !s->call->next;
		}
	}
	if (s->sent_all) {
		ws_buf_release(&s->out);
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	}
	return s->call ? (ssize_t)given : NGHTTP2_ERR_DEFERRED; /* RST_STREAM is queued */
}

/* grpc-message is percent-encoded. */
static void
decode_percent(const char *from, size_t len, char *to, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < len && n + 1 < room; i++) {
		bool coded = from[i] == '%' && i + 2 < len && ws_hex_digit(from[i + 1]) >= 0
			&& ws_hex_digit(from[i + 2]) >= 0;
		char c =
			coded ? (char)(ws_hex_digit(from[i + 1]) * 16 + ws_hex_digit(from[i + 2])) : from[i];
		to[n++] = (unsigned char)c < ' ' ? ' ' : c;
		i += coded ? 2 : 0;
	}
	to[n] = '\0';
}

static int
on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
	const uint8_t *value, size_t value_len, uint8_t flags WS_UNUSED, void *data)
{
	struct ws_rpc *rpc = data;
	struct stream *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	struct ws_str n = {(const char *)name, name_len}, v = {(const char *)value, value_len};
	uint64_t number;
	if (!s || !s->call) {
		return 0;
	}
	if (s->counts && s->call->deadline_ms == 0) {
		s->counts = false;
		rpc->counted--;
	}
	if (ws_str_is(n, ":status") && ws_str_to_u64(v, &number)) {
		s->http = (int)(number % 1000);
		rpc->answered = true;
	} else if (ws_str_is(n, "content-type")) {
		s->is_grpc = v.n >= 16 && memcmp(v.s, "application/grpc", 16) == 0;
	} else if (ws_str_is(n, "grpc-status") && ws_str_to_u64(v, &number)) {
		s->status = number < 100 ? (int)number : WS_RPC_UNKNOWN;
	} else if (ws_str_is(n, "grpc-message")) {
		decode_percent(v.s, v.n, s->call->text, sizeof(s->call->text));
	}
	return 0;
}

/* Hands over the received messages that are whole. */
static void
hand_over_messages(struct stream *s)
{
	size_t at = 0;
	while (s->call && s->in.len - at >= PREFIX && !s->enough && !s->too_long) {
		const uint8_t *prefix = (const uint8_t *)s->in.data + at;
		size_t len =
			(size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
		s->too_long = prefix[0] != 0 || len > LONGEST_MESSAGE;
		if (s->too_long || s->in.len - at - PREFIX < len) {
			break;
		}
		s->call->received = true;
		if (s->call->take) {
			s->enough = !s->call->take(s->call, (struct ws_str){s->in.data + at + PREFIX, len});
		} else {
			ws_buf_clear(&s->call->reply);
			ws_buf_add(&s->call->reply, s->in.data + at + PREFIX, len);
		}
		at += PREFIX + len;
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	ws_buf_cut(&s->in, s->in.len - at);
}

static int
on_data(nghttp2_session *h2, uint8_t flags WS_UNUSED, int32_t id, const uint8_t *bytes, size_t len,
	void *rpc WS_UNUSED)
{
	struct stream *s = nghttp2_session_get_stream_user_data(h2, id);
	if (!s || !s->call || s->http != 200 || !s->is_grpc || s->enough || s->too_long) {
		return 0;
	}
	ws_buf_add(&s->in, bytes, len);
	hand_over_messages(s);
	if (s->enough || s->too_long) {
		nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
	}
	return 0;
}

static enum ws_rpc_status
status_of_http(int http)
{
	switch (http) {
	case 400:
		return WS_RPC_INTERNAL;
	case 401:
		return WS_RPC_UNAUTHENTICATED;
	case 403:
		return WS_RPC_DENIED;
	case 404:
		return WS_RPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return WS_RPC_UNAVAILABLE;
	default:
		return WS_RPC_UNKNOWN;
	}
}

/* Sets the status of a call whose stream was closed. */
static void
set_final_status(struct stream *s, uint32_t code)
{
	char text[96];
	if (s->enough) {
		set_status(s, WS_RPC_CANCELLED, NULL);
	} else if (s->too_long) {
		set_status(s, WS_RPC_INTERNAL, "it sent a message that is too long, or compressed");
	} else if (s->http && s->http != 200) {
		snprintf(text, sizeof(text), "HTTP status %d", s->http);
		set_status(s, status_of_http(s->http), text);
	} else if (s->http && !s->is_grpc) {
		set_status(s, WS_RPC_UNKNOWN, "it does not speak gRPC");
	} else if (s->status >= 0 && s->in.len > 0) {
		set_status(s, WS_RPC_INTERNAL, "it sent half a message");
	} else if (s->status >= 0) {
		set_status(s, (enum ws_rpc_status)s->status, NULL);
	} else {
		snprintf(text, sizeof(text), "it closed the stream: %s", nghttp2_http2_strerror(code));
		set_status(s, WS_RPC_UNAVAILABLE, text);
	}
}

static int
on_close(nghttp2_session *h2, int32_t id, uint32_t code, void *data)
{
	struct ws_rpc *rpc = data;
	struct stream *s = nghttp2_session_get_stream_user_data(h2, id);
	if (s && s->call) {
		rpc->failures = s->http ? 0 : rpc->failures;
		set_final_status(s, code);
		s->refused = code == NGHTTP2_REFUSED_STREAM && !s->http;
	}
	if (s) {
		end_attempt(rpc, s);
	}
	return 0;
}

static int
on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *data)
{
	struct ws_rpc *rpc = data;
	bool of_call = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
	struct stream *s =
		of_call ? nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id) : NULL;
	rpc->understood = true;
	if (frame->hd.type == NGHTTP2_GOAWAY) {
		rpc->draining = true;
	} else if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) && !s->sent_all) {
		/* The server does not need the rest of the request. */
		nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
	}
	return 0;
}

/* ---- the connection ---- */

static void
start_session(struct ws_rpc *rpc)
{
	nghttp2_session_callbacks *on;
	if (nghttp2_session_callbacks_new(&on) != 0) {
		abort();
	}
	nghttp2_session_callbacks_set_on_header_callback(on, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(on, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(on, on_close);
	nghttp2_session_callbacks_set_on_frame_recv_callback(on, on_frame);
	if (nghttp2_session_client_new(&rpc->h2, on, rpc) != 0) {
		abort();
	}
	nghttp2_session_callbacks_del(on);
	nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}, {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 16}};
	nghttp2_submit_settings(rpc->h2, NGHTTP2_FLAG_NONE, settings, WS_LEN(settings));
	nghttp2_session_set_local_window_size(rpc->h2, NGHTTP2_FLAG_NONE, 0, 2 * WINDOW);
	rpc->understood = rpc->reused = false;
	rpc->received_ms = ws_clock_ms();
	rpc->pinged_ms = 0;
}

/* Connects. A server that never answered must accept at once. A server that answered before
 * may be restarting: retry for RECONNECT_MS. */
static bool
connect_once(struct ws_rpc *rpc, unsigned timeout_ms)
{
	struct ws_err err = {0};
	int64_t left_ms = rpc->connect_ms - ws_clock_ms();
	if (left_ms > 0) {
		unsigned wait_ms = (unsigned)left_ms < timeout_ms ? (unsigned)left_ms : timeout_ms;
		nanosleep(&(struct timespec){.tv_nsec = wait_ms * 1000L * 1000}, NULL);
		return false;
	}
	rpc->channel = rpc->failures < ATTEMPTS ? ws_channel_open(&rpc->config.channel, &err) : NULL;
	int64_t now = ws_clock_ms();
	if (rpc->channel) {
		rpc->failures++; /* until a call is answered */
		rpc->lost_ms = 0;
		start_session(rpc);
		return true;
	}
	rpc->lost_ms = rpc->lost_ms ? rpc->lost_ms : now;
	if (rpc->answered && rpc->failures < ATTEMPTS && now - rpc->lost_ms < RECONNECT_MS) {
		rpc->connect_ms = now + RECONNECT_PAUSE_MS;
		return false;
	}
	rpc->lost_ms = 0;
	rpc->answered = false; /* from now on the server must be there at once */
	struct link waiting;   /* ends of these may start others */
	struct stream *s;
	init_list(&waiting);
	move_all(&rpc->paused, &waiting);
	move_all(&rpc->fresh, &waiting);
	while ((s = waiting.next->of)) {
		s->call->silent = true;
		set_status(s, WS_RPC_UNAVAILABLE, err.text[0] ? err.text : rpc->why);
		end_call(rpc, s);
	}
	return false;
}

/* Collects waiting frames in one buffer and writes it. True: the rest waits until the connection
 * is writable, or there is none. */
static bool
send_some(struct ws_rpc *rpc, struct ws_err *err)
{
	for (int i = 0; i < WRITES; i++) {
		while (rpc->out_sent < rpc->out.len) {
			ptrdiff_t sent = ws_channel_write(
				rpc->channel, rpc->out.data + rpc->out_sent, rpc->out.len - rpc->out_sent, err);
			if (sent <= 0) {
				return sent == 0;
			}
			rpc->out_sent += (size_t)sent;
		}
		ws_buf_clear(&rpc->out);
		rpc->out_sent = 0;
		const uint8_t *frame;
		ssize_t len = 0;
		while (rpc->out.len < PART && (len = nghttp2_session_mem_send(rpc->h2, &frame)) > 0) {
			ws_buf_add(&rpc->out, frame, (size_t)len);
		}
		if (len < 0) {
			return ws_err_set(err, WS_ERR_INTERNAL, "%s", nghttp2_strerror((int)len));
		}
		if (rpc->out.len == 0) {
			return true;
		}
	}
	return true;
}

static bool
receive_some(struct ws_rpc *rpc, struct ws_err *err)
{
	uint8_t bytes[16 << 10];
	ptrdiff_t got;
	for (int i = 0; i < READS; i++) {
		got = ws_channel_read(rpc->channel, bytes, sizeof(bytes), err);
		if (got <= 0) {
			return got == 0;
		}
		ssize_t taken = nghttp2_session_mem_recv(rpc->h2, bytes, (size_t)got);
		if (taken < 0) {
			return ws_err_set(err, WS_ERR_FETCH, "%s", nghttp2_strerror((int)taken));
		}
		rpc->received_ms = ws_clock_ms();
		rpc->pinged_ms = 0;
	}
	return true;
}

/* ---- calls ---- */

static nghttp2_nv
make_header(const char *name, const char *value, uint8_t flags)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
		strlen(value), flags};
}

static void
start_stream(struct ws_rpc *rpc, struct stream *s)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_call *call = s->call;
	unlink_link(&s->place);
	*s = (struct stream){.call = call,
		.place.of = s,
		.started_ms = ws_clock_ms(),
		.attempts = s->attempts + 1,
		.refusals = s->refusals,
		.in = s->in,
		.out = s->out,
		.counts = true,
		.status = -1};
	call->text[0] = '\0';
	call->silent = call->received = false;
	ws_buf_clear(&call->reply);
	if (call->begin) {
		call->begin(call);
	}
	put_before(&rpc->open, &s->place);
	rpc->open_count++;
	rpc->counted++;
	const struct ws_channel_config *channel = &rpc->config.channel;
	nghttp2_nv all[8 + MOST_HEADERS];
	size_t count = 0;
	all[count++] = make_header(":method", "POST", 0);
	all[count++] = make_header(":scheme", channel->tls ? "https" : "http", 0);
	all[count++] = make_header(":path", call->method, 0);
	all[count++] = make_header(
		":authority", ws_arena_printf(a, "%s:%s", channel->peer.host, channel->peer.port), 0);
	all[count++] = make_header("te", "trailers", 0);
	all[count++] = make_header("content-type", "application/grpc", 0);
	all[count++] = make_header("user-agent", "wheelsmith/" WS_VERSION, 0);
	if (call->deadline_ms > 0) {
		all[count++] = make_header(
			"grpc-timeout", ws_arena_printf(a, "%um", call->deadline_ms % 100000000), 0);
	}
	for (size_t i = 0; i < rpc->config.header_count && i < MOST_HEADERS; i++) {
		struct ws_str value = ws_str_of(rpc->config.headers[i]);
		struct ws_str name = ws_str_cut(&value, ':');
		all[count++] = make_header(ws_lower_all(ws_str_copy(ws_str_trim(name), a)),
			ws_str_copy(ws_str_trim(value), a), NGHTTP2_NV_FLAG_NO_INDEX);
	}
	nghttp2_data_provider body = {.source.ptr = s, .read_callback = send_body};
	s->id = nghttp2_submit_request(rpc->h2, NULL, all, count, &body, s);
	if (s->id < 0) {
		set_status(s, WS_RPC_INTERNAL, nghttp2_strerror(s->id));
		end_attempt(rpc, s);
	}
}

static void
start_due(struct ws_rpc *rpc)
{
	struct stream *s;
	int64_t now = ws_clock_ms();
	size_t most =
		nghttp2_session_get_remote_settings(rpc->h2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
	if (rpc->most_open < most && now - rpc->crowded_ms > CROWDED_MS) {
		rpc->most_open += rpc->most_open / 4;
		rpc->crowded_ms = now;
	}
	most = most < rpc->most_open ? most : rpc->most_open;
	while (!rpc->draining && rpc->open_count < most && rpc->counted < AT_ONCE) {
		const struct link *first = rpc->paused.next;
		s = first->of && first->at_ms <= now ? first->of : rpc->fresh.next->of;
		if (!s) {
			return;
		}
		start_stream(rpc, s);
	}
}

/* Ends an open call. nghttp2 closes the stream once it has sent the reset. */
static void
reset_stream(struct ws_rpc *rpc, struct stream *s, enum ws_rpc_status status, const char *why)
{
	set_status(s, status, why);
	if (s->id && rpc->h2) {
		nghttp2_submit_rst_stream(rpc->h2, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
	}
	end_call(rpc, s);
}

static void
check_timeouts(struct ws_rpc *rpc)
{
	int64_t now = ws_clock_ms();
	unsigned quiet_ms = rpc->config.quiet_ms ? rpc->config.quiet_ms : QUIET_MS;
	for (struct link *link = rpc->open.next, *next; link->of; link = next) {
		struct ws_call *call = link->of->call;
		next = link->next;
		if (call && call->deadline_ms && now - link->of->started_ms >= call->deadline_ms) {
			call->silent = true;
			reset_stream(rpc, link->of, WS_RPC_DEADLINE, "no answer in time");
		}
	}
	bool is_mute = !rpc->understood && rpc->open_count > 0 && now - rpc->received_ms > PING_MS;
	if (is_mute) {
		hang_up(rpc, "no answer in time", !rpc->reused);
	} else if (rpc->pinged_ms && now - rpc->pinged_ms > PING_MS) {
		hang_up(rpc, "no answer, not even to a ping", !rpc->reused);
	} else if (rpc->open_count > 0 && !rpc->pinged_ms && now - rpc->received_ms > quiet_ms) {
		nghttp2_submit_ping(rpc->h2, NGHTTP2_FLAG_NONE, NULL);
		rpc->pinged_ms = now;
		if (!rpc->health_check.stream) {
			ws_rpc_start(rpc, &rpc->health_check);
		}
	}
}

/* Sends and receives over the open connection. */
static void
exchange_frames(struct ws_rpc *rpc, unsigned timeout_ms)
{
	struct ws_err err = {0};
	start_due(rpc);
	if (rpc->draining && rpc->open_count == 0) {
		hang_up(rpc, NULL, false);
		return;
	}
	if (send_some(rpc, &err) && timeout_ms > 0) {
		ws_channel_wait(
			rpc->channel, rpc->out.len > 0, timeout_ms < TICK_MS ? timeout_ms : TICK_MS);
	}
	if (err.kind == WS_ERR_NONE && receive_some(rpc, &err)) {
		start_due(rpc);
		send_some(rpc, &err);
	}
	if (err.kind == WS_ERR_NONE && !nghttp2_session_want_read(rpc->h2)
		&& !nghttp2_session_want_write(rpc->h2)) {
		ws_err_set(&err, WS_ERR_FETCH, "nghttp2 has ended the session");
	}
	if (err.kind != WS_ERR_NONE) {
		ws_err_wrap(&err, "'%s:%s' %s HTTP/2", rpc->config.channel.peer.host,
			rpc->config.channel.peer.port, rpc->understood ? "broke off its" : "does not speak");
		hang_up(rpc, err.text, false);
	} else {
		check_timeouts(rpc);
	}
}

/* True without calls of the caller. */
static bool
is_idle(const struct ws_rpc *rpc)
{
	return rpc->left == (rpc->health_check.stream ? 1 : 0);
}

void
ws_rpc_start(struct ws_rpc *rpc, struct ws_call *call)
{
	struct stream *s = calloc(1, sizeof(*s));
	if (!s) {
		abort();
	}
	if (is_idle(rpc)) {
		rpc->failures = 0;
		rpc->lost_ms = 0; /* a cancelled call may have left it */
		rpc->received_ms = ws_clock_ms();
		rpc->pinged_ms = 0;
		rpc->reused = rpc->h2 != NULL;
	}
	s->call = call;
	s->place.of = s;
	call->stream = s;
	call->ended = false;
	put_before(&rpc->fresh, &s->place);
	rpc->left++;
}

void
ws_rpc_turn(struct ws_rpc *rpc, unsigned timeout_ms)
{
	if (rpc->h2 || (!is_idle(rpc) && connect_once(rpc, timeout_ms))) {
		exchange_frames(rpc, timeout_ms);
	}
}

int
ws_rpc_fd(const struct ws_rpc *rpc)
{
	return rpc->channel ? ws_channel_fd(rpc->channel) : -1;
}

void
ws_rpc_cancel(struct ws_rpc *rpc, struct ws_call *call)
{
	if (call->stream) {
		reset_stream(rpc, call->stream, WS_RPC_CANCELLED, "it was cancelled");
	}
}

bool
ws_rpc_run(struct ws_rpc *rpc, struct ws_call *const *calls, size_t count)
{
	size_t ended = 0;
	for (size_t i = 0; i < count; i++) {
		ws_rpc_start(rpc, calls[i]);
	}
	while (ended < count && !ws_stop_asked(rpc->config.channel.stop)) {
		ws_rpc_turn(rpc, TICK_MS);
		while (ended < count && calls[ended]->ended) {
			ended++;
		}
		int64_t now = ws_clock_ms();
		if (rpc->config.while_waiting && now - rpc->beside_ms >= BESIDE_MS) {
			rpc->beside_ms = now;
			rpc->config.while_waiting(rpc->config.waiting_for);
		}
	}
	for (size_t i = ended; i < count; i++) {
		ws_rpc_cancel(rpc, calls[i]);
	}
	return ended == count;
}

struct ws_rpc *
ws_rpc_open(const struct ws_rpc_config *config)
{
	struct ws_rpc *rpc = calloc(1, sizeof(*rpc));
	if (!rpc) {
		abort();
	}
	rpc->config = *config;
	rpc->most_open = SIZE_MAX / 2;
	rpc->health_check =
		(struct ws_call){.method = "/grpc.health.v1.Health/Check", .deadline_ms = PING_MS};
	init_list(&rpc->fresh);
	init_list(&rpc->paused);
	init_list(&rpc->open);
	return rpc;
}

void
ws_rpc_close(struct ws_rpc *rpc)
{
	struct stream *s;
	if (!rpc) {
		return;
	}
	move_all(&rpc->paused, &rpc->fresh);
	move_all(&rpc->open, &rpc->fresh);
	nghttp2_session_del(rpc->h2);
	ws_channel_close(rpc->channel);
	while ((s = rpc->fresh.next->of)) {
		free_stream(s);
	}
	ws_buf_release(&rpc->out);
	ws_buf_release(&rpc->health_check.reply);
	free(rpc);
}
