/* http_cache.c - a cache server of Bazel's HTTP protocol: batches of requests. */
#include "base/crypto.h"
#include "base/fs.h"
#include "remote/server.h"
#include "sys/clock.h"

#include <fcntl.h>

#define LARGEST_MESSAGE ((size_t)1 << 20)
#define LARGEST_ANSWER ((uint64_t)64 << 10) /* limit of a response to a PUT, which is ignored */
#define AT_ONCE 64
#define ASK_FROM 8 /* number of files from which HEAD is worth a round trip: those of a download */
#define FIRST_BYTE_MS 5000
#define STALL_MS 10000
#define MESSAGE_MS 20000 /* limit for a message of some kilobytes that arrives slowly */

struct http_cache {
	struct ws_remote_cache cache; /* first */
	const struct ws_server *server;
	struct ws_http *http;
};

struct exchange {
	struct ws_request request; /* first */
	struct ws_item *item;
	struct ws_err failure;
	int fd; /* of a file that is fetched */
	struct ws_hasher *hasher;
	int64_t until_ms; /* of a message */
	uint64_t got_bytes;
	bool wrong; /* too long, or its digest differs */
	struct ws_body body;
};

static void
prepare_request(struct http_cache *h, struct exchange *x, struct ws_item *item, const char *method,
	const char *folder, struct ws_arena *a)
{
	*x = (struct exchange){.item = item, .fd = -1};
	x->request = (struct ws_request){
		.url = ws_arena_printf(a, "%s/%s/%s", h->server->config.endpoint, folder, item->key),
		.subject = ws_arena_printf(a, "%s/%s", folder, item->key),
		.method = method, /* set, so that redirects are not followed: headers may contain a token */
		.headers = h->server->headers,
		.header_count = h->server->header_count,
		/* Without TLS, headers are for this host only: use no proxy. */
		.direct =
			h->server->header_count > 0 && ws_starts_with(h->server->config.endpoint, "http:"),
		.failure = &x->failure,
	};
}

static bool
run_requests(struct http_cache *h, struct exchange *all, size_t count, struct ws_arena *a)
{
	struct ws_request **requests = WS_NEW_N(a, struct ws_request *, count);
	struct ws_err err = {0};
	for (size_t i = 0; i < count; i++) {
		requests[i] = &all[i].request;
	}
	struct ws_batch batch = {.requests = requests, .count = count, .each = true};
	bool ran = ws_http_run(h->http, &batch, &err);
	for (size_t i = 0; i < count && ran; i++) {
		struct ws_item *item = all[i].item;
		unsigned status = all[i].request.reply.status;
		if (all[i].wrong) {
			item->came = WS_CAME_WRONG;
		} else if (all[i].failure.kind == WS_ERR_NONE) {
			item->came = WS_CAME_WHOLE;
		} else if (!all[i].request.sends && (status == 404 || status == 410)) {
			item->came = WS_CAME_NOT;
		} else {
			bool silent = ws_http_is_silent(h->http, h->server->config.endpoint);
			ws_item_set(item, silent ? WS_CAME_SILENT : WS_CAME_REFUSED, "%s", all[i].failure.text);
		}
	}
	return ran;
}

/* ---- getting ---- */

static enum ws_begin
begin_message(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct exchange *x = (struct exchange *)request;
	ws_buf_clear(&x->item->bytes);
	x->until_ms = x->until_ms ? x->until_ms : ws_clock_ms() + MESSAGE_MS;
	return WS_BEGIN_GO;
}

/* Stops reading a message that is too long. */
static bool
read_message(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	if (len > LARGEST_MESSAGE - x->item->bytes.len) {
		x->wrong = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is too long", request->subject);
	}
	if (ws_clock_ms() > x->until_ms) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' did not arrive within %d s", request->subject,
			MESSAGE_MS / 1000);
	}
	ws_buf_add(&x->item->bytes, bytes, len);
	return true;
}

static bool
get_messages(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct http_cache *h = (struct http_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	for (size_t i = 0; i < count; i++) {
		prepare_request(h, &all[i], &items[i], "GET", "ac", a);
		all[i].request.begin = begin_message;
		all[i].request.body = read_message;
	}
	return run_requests(h, all, count, a);
}

static void
end_file(struct exchange *x)
{
	if (x->fd >= 0) {
		close(ws_take_fd(&x->fd));
	}
	ws_hasher_drop(x->hasher);
	x->hasher = NULL;
}

static enum ws_begin
begin_file(struct ws_request *request, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	end_file(x);
	x->got_bytes = 0;
	x->hasher = ws_hasher_make();
	x->fd = open(x->item->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (x->fd < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", x->item->path);
		return WS_BEGIN_FAIL;
	}
	return WS_BEGIN_GO;
}

static bool
write_file(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	uint64_t most = x->item->size_bytes ? x->item->size_bytes : WS_LARGEST_UNKNOWN;
	if (len > most - x->got_bytes) {
		x->wrong = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is too long", request->subject);
	}
	x->got_bytes += len;
	ws_hasher_add(x->hasher, bytes, len);
	return ws_fs_write_all(x->fd, bytes, len)
		|| ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", x->item->path);
}

static enum ws_answer
finish_file(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct exchange *x = (struct exchange *)request;
	struct ws_digest digest = ws_hasher_finish(x->hasher);
	x->hasher = NULL;
	x->wrong = !ws_digest_is(&digest, x->item->key);
	end_file(x);
	return WS_ANSWER_GOOD;
}

static bool
get_files(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct http_cache *h = (struct http_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	for (size_t i = 0; i < count; i++) {
		prepare_request(h, &all[i], &items[i], "GET", "cas", a);
		all[i].request.begin = begin_file;
		all[i].request.body = write_file;
		all[i].request.end = finish_file;
	}
	bool ran = run_requests(h, all, count, a);
	for (size_t i = 0; i < count; i++) {
		end_file(&all[i]);
	}
	return ran;
}

/* ---- putting ---- */

static bool
ignore(struct ws_request *request, const void *bytes WS_UNUSED, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	x->got_bytes += len;
	return x->got_bytes <= LARGEST_ANSWER
		|| ws_err_set(err, WS_ERR_FETCH, "its response to '%s' does not end", request->subject);
}

/* The server has most files of a downloaded tree: other hosts put them there. If HEAD fails, a file
 * counts as missing. */
static bool
put_files(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct http_cache *h = (struct http_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	bool asks = count >= ASK_FROM;
	size_t missing = 0;
	for (size_t i = 0; i < count && asks; i++) {
		prepare_request(h, &all[i], &items[i], "HEAD", "cas", a);
		all[i].request.body = ignore;
		all[i].request.once = true;
	}
	if (asks && !run_requests(h, all, count, a)) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_item *item = &items[i];
		struct ws_reply reply = all[i].request.reply;
		if (asks && item->came == WS_CAME_WHOLE
			&& (!reply.has_length || reply.length_bytes == item->size_bytes)) {
			continue;
		}
		struct exchange *x = &all[missing++];
		prepare_request(h, x, item, "PUT", "cas", a);
		x->body = (struct ws_body){
			.path = item->path, .length_bytes = item->size_bytes, .sha256 = item->key};
		x->request.sends = &x->body;
		x->request.body = ignore;
	}
	return run_requests(h, all, missing, a);
}

static bool
put_messages(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct http_cache *h = (struct http_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	for (size_t i = 0; i < count; i++) {
		prepare_request(h, &all[i], &items[i], "PUT", "ac", a);
		all[i].body =
			(struct ws_body){.bytes = items[i].bytes.data, .length_bytes = items[i].bytes.len};
		all[i].request.sends = &all[i].body;
		all[i].request.body = ignore;
	}
	return run_requests(h, all, count, a);
}

static void
close_cache(struct ws_remote_cache *self)
{
	ws_http_close(((struct http_cache *)self)->http);
}

struct ws_remote_cache *
ws_http_cache_open(const struct ws_server *server, struct ws_arena *a, struct ws_err *err)
{
	struct http_cache *h = WS_NEW(a, struct http_cache);
	struct ws_http_config http = {
		.ca_path = server->config.ca_path,
		.netrc_path = server->config.netrc_path,
		.at_once = AT_ONCE,
		.first_byte_ms = FIRST_BYTE_MS,
		.stall_ms = STALL_MS,
		.retries = 1,
		.impatient = true,
		.stop = server->config.stop,
	};
	h->cache = (struct ws_remote_cache){
		get_messages, get_files, put_files, put_messages, close_cache, false};
	h->server = server;
	h->http = ws_http_open(&http, err);
	return h->http ? &h->cache : NULL;
}
