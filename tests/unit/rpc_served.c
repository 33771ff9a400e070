#include "rpc_served.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CONNECTIONS 64
#define MOST_CALLS 8192
#define MOST_BYTES 1024

struct connection;

struct served {
	struct connection *of; /* NULL: no caller */
	int32_t id;
	char what[32], status[8];
	uint8_t message[MOST_BYTES];
	size_t len, sent;
	bool is_head_sent, ends; /* after the message */
};

struct connection {
	int fd;
	nghttp2_session *h2;
	bool leaves;
	unsigned strikes;
};

static struct served calls[MOST_CALLS];
static struct connection connections[MOST_CONNECTIONS];
static struct ws_rpc_seen seen;
static unsigned most_streams, tries, bursts;
static bool restarts, has_restarted;

static void
fail(const char *what)
{
	perror(what);
	_exit(1);
}

static uint32_t
count_mute(void)
{
	uint32_t mute = 0;
	for (size_t i = 0; i < MOST_CALLS; i++) {
		mute += calls[i].of && !calls[i].is_head_sent;
	}
	return mute;
}

static nghttp2_nv
pair(const char *name, const char *value)
{
	return (nghttp2_nv){
		(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name), strlen(value), 0};
}

static ssize_t
give(nghttp2_session *h2, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
	nghttp2_data_source *source, void *connection)
{
	struct served *s = source->ptr;
	size_t n = s->len - s->sent < room ? s->len - s->sent : room;
	(void)connection;
	memcpy(to, s->message + s->sent, n);
	s->sent += n;
	if (s->sent < s->len) {
		return (ssize_t)n;
	}
	if (!s->ends) {
		return n > 0 ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
	}
	*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	nghttp2_nv trailers[] = {pair("grpc-status", s->status)};
	nghttp2_submit_trailer(h2, id, trailers, 1);
	return (ssize_t)n;
}

/* Head and message; the trailers when it ends. */
static void
answer(struct served *s, const void *bytes, size_t len)
{
	nghttp2_nv head[] = {pair(":status", "200"), pair("content-type", "application/grpc")};
	nghttp2_data_provider body = {.source.ptr = s, .read_callback = give};
	if (bytes) {
		const uint8_t prefix[5] = {0, 0, 0, (uint8_t)(len >> 8), (uint8_t)len};
		memcpy(s->message, prefix, 5);
		memcpy(s->message + 5, bytes, len);
		s->len = len + 5;
	}
	s->is_head_sent = true;
	nghttp2_submit_response(s->of->h2, s->id, head, 2, &body);
}

static void
release_all(void)
{
	for (size_t i = 0; i < MOST_CALLS; i++) {
		struct served *s = &calls[i];
		if (s->of && (strcmp(s->what, "Hold") == 0 || strcmp(s->what, "Mute") == 0)) {
			s->ends = true;
			if (s->is_head_sent) {
				nghttp2_session_resume_data(s->of->h2, s->id);
			} else {
				answer(s, NULL, 0);
			}
		}
	}
}

/* The request is there. */
static void
serve(struct served *s)
{
	static const char *const known[] = {
		"Echo", "Hold", "Mute", "Release", "Break", "Leave", "Crowd", "Burst", "Restart", "Seen"};
	bool is_known = false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		is_known = is_known || strcmp(s->what, known[i]) == 0;
	}
	bool breaks = strcmp(s->what, "Break") == 0, leaves = strcmp(s->what, "Leave") == 0;
	s->ends = true;
	strcpy(s->status, is_known ? "0" : "12");
	seen.calls++;
	uint32_t mute = count_mute();
	seen.most_mute = mute > seen.most_mute ? mute : seen.most_mute;
	if (strcmp(s->what, "Mute") == 0) {
		return;
	}
	restarts = strcmp(s->what, "Restart") == 0 && !has_restarted;
	if (restarts) {
		return;
	}
	if ((strcmp(s->what, "Crowd") == 0 && seen.open > 10)
		|| (strcmp(s->what, "Burst") == 0 && bursts++ < 100)) {
		strcpy(s->status, "8");
		answer(s, NULL, 0);
	} else if (strcmp(s->what, "Seen") == 0) {
		answer(s, &seen, sizeof(seen));
	} else if (breaks || leaves) {
		s->ends = ++tries % 4 == 0;
		answer(s, "part", 4);
	} else if (strcmp(s->what, "Hold") == 0) {
		s->ends = false;
		answer(s, "held", 4);
	} else {
		answer(s, s->message + 5, s->len > 5 ? s->len - 5 : 0);
		if (strcmp(s->what, "Release") == 0) {
			release_all();
		}
	}
}

/* ---- what nghttp2 tells ---- */

static int
on_begin(nghttp2_session *h2, const nghttp2_frame *frame, void *connection)
{
	for (size_t i = 0; i < MOST_CALLS; i++) {
		if (!calls[i].of) {
			calls[i] = (struct served){.of = connection, .id = frame->hd.stream_id};
			nghttp2_session_set_stream_user_data(h2, frame->hd.stream_id, &calls[i]);
			seen.open++;
			seen.most_open = seen.open > seen.most_open ? seen.open : seen.most_open;
			return 0;
		}
	}
	_exit(1);
}

static int
on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
	const uint8_t *value, size_t value_len, uint8_t flags, void *connection)
{
	struct served *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	(void)flags;
	(void)connection;
	if (s && name_len == 5 && memcmp(name, ":path", 5) == 0) {
		char path[128];
		snprintf(path, sizeof(path), "%.*s", (int)value_len, (const char *)value);
		snprintf(s->what, sizeof(s->what), "%.20s", strrchr(path, '/') + 1);
	}
	return 0;
}

static int
on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *bytes, size_t len,
	void *connection)
{
	struct served *s = nghttp2_session_get_stream_user_data(h2, id);
	(void)flags;
	(void)connection;
	if (s && s->len + len <= MOST_BYTES) {
		memcpy(s->message + s->len, bytes, len);
		s->len += len;
	}
	return 0;
}

static int
on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *connection)
{
	struct served *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	struct connection *c = connection;
	seen.resets += frame->hd.type == NGHTTP2_RST_STREAM;
	if (frame->hd.type == NGHTTP2_PING && ++c->strikes > 3) {
		c->leaves = true;
	}
	if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
		serve(s);
	}
	return 0;
}

static int
on_sent(nghttp2_session *h2, const nghttp2_frame *frame, void *connection)
{
	struct served *s = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	struct connection *c = connection;
	if (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) {
		c->strikes = 0;
	}
	if (s && frame->hd.type == NGHTTP2_DATA && s->sent == s->len && !s->ends) {
		if (strcmp(s->what, "Break") == 0) {
			nghttp2_submit_rst_stream(h2, 0, s->id, NGHTTP2_INTERNAL_ERROR);
		} else if (strcmp(s->what, "Leave") == 0) {
			c->leaves = true;
		}
	}
	return 0;
}

static int
on_close(nghttp2_session *h2, int32_t id, uint32_t code, void *connection)
{
	struct served *s = nghttp2_session_get_stream_user_data(h2, id);
	(void)code;
	(void)connection;
	if (s) {
		s->of = NULL;
		seen.open--;
	}
	return 0;
}

/* ---- connections ---- */

static void
greet(struct connection *c, int fd)
{
	nghttp2_session_callbacks *on;
	nghttp2_session_callbacks_new(&on);
	nghttp2_session_callbacks_set_on_begin_headers_callback(on, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(on, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(on, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(on, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(on, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(on, on_close);
	int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	*c = (struct connection){.fd = fd};
	nghttp2_session_server_new(&c->h2, on, c);
	nghttp2_session_callbacks_del(on);
	nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, most_streams}};
	nghttp2_submit_settings(c->h2, 0, settings, 1);
	seen.connections++;
}

static void
part_from(struct connection *c)
{
	for (size_t i = 0; i < MOST_CALLS; i++) {
		if (calls[i].of == c) {
			calls[i].of = NULL;
			seen.open--;
		}
	}
	nghttp2_session_del(c->h2);
	close(c->fd);
	c->h2 = NULL;
}

/* Sockets of servers may wait here: what they send is small. */
static bool
send_all(struct connection *c)
{
	const uint8_t *frames;
	ssize_t len;
	while ((len = nghttp2_session_mem_send(c->h2, &frames)) > 0) {
		for (ssize_t sent, at = 0; at < len; at += sent) {
			sent = send(c->fd, frames + at, (size_t)(len - at), MSG_NOSIGNAL);
			if (sent <= 0) {
				return false;
			}
		}
	}
	return len == 0 && !c->leaves;
}

static bool
hear(struct connection *c)
{
	uint8_t bytes[65536];
	ssize_t got = recv(c->fd, bytes, sizeof(bytes), 0);
	return got > 0 && nghttp2_session_mem_recv(c->h2, bytes, (size_t)got) >= 0;
}

static int
listen_at(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listener < 0 || bind(listener, (struct sockaddr *)at, len) < 0 || listen(listener, 128) < 0
		|| getsockname(listener, (struct sockaddr *)at, &len) < 0) {
		fail("rpc_served");
	}
	return listener;
}

/* For two seconds every connection is refused. */
static int
restart(int listener)
{
	struct sockaddr_in at;
	socklen_t len = sizeof(at);
	getsockname(listener, (struct sockaddr *)&at, &len);
	close(listener);
	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		if (connections[i].h2) {
			part_from(&connections[i]);
		}
	}
	restarts = false;
	has_restarted = true;
	sleep(2);
	return listen_at(&at);
}

static void
run(int listener)
{
	for (;;) {
		listener = restarts ? restart(listener) : listener;
		struct pollfd fds[MOST_CONNECTIONS + 1] = {{listener, POLLIN, 0}};
		for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
			fds[i + 1] = (struct pollfd){connections[i].h2 ? connections[i].fd : -1, POLLIN, 0};
		}
		poll(fds, MOST_CONNECTIONS + 1, -1);
		for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
			if (fds[0].revents && !connections[i].h2) {
				greet(&connections[i], accept(listener, NULL, NULL));
				fds[0].revents = 0;
			} else if (fds[i + 1].revents && !hear(&connections[i])) {
				part_from(&connections[i]);
			}
		}
		for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
			if (connections[i].h2 && !send_all(&connections[i])) {
				part_from(&connections[i]);
			}
		}
	}
}

unsigned
ws_rpc_serve(unsigned streams)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = listen_at(&at);
	pid_t child = fork();
	if (child < 0) {
		fail("fork");
	} else if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		most_streams = streams;
		run(listener);
	}
	close(listener);
	return ntohs(at.sin_port);
}
