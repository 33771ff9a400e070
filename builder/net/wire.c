/* wire.c - the door to libcurl: its multi interface, and its URL parser for url.h. Its errors
 * become an enum ws_wire_end and a text. Retries and time limits are in http.c. */
#include "net/wire.h"

#include "base/fs.h"
#include "net/url.h"

#include <curl/curl.h>

#include <fcntl.h>

#define RECEIVE_BYTES (64L << 10)

struct ws_wire {
	CURLM *multi;
	char *ca_path, *netrc_path;
	bool ca_is_folder;
	long connect_ms;
};

struct ws_wire_handle {
	CURL *easy;
	struct curl_slist *headers;
	struct ws_body_reader reader; /* of what is sent */
	bool with_login;
	char fault[CURL_ERROR_SIZE];
};

struct ws_wire *
ws_wire_open(const char *ca_path, const char *netrc_path, unsigned connect_ms, struct ws_err *err)
{
	struct ws_wire *w = calloc(1, sizeof(*w));
	if (!w || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(w);
		ws_err_set(err, WS_ERR_INTERNAL, "libcurl does not start");
		return NULL;
	}
	if (!(w->multi = curl_multi_init())) {
		abort();
	}
	w->connect_ms = (long)connect_ms;
	w->netrc_path = netrc_path ? strdup(netrc_path) : NULL;
	w->ca_path = ca_path ? strdup(ca_path) : NULL;
	w->ca_is_folder = ca_path && ws_fs_is_dir(ca_path);
	return w;
}

void
ws_wire_close(struct ws_wire *w)
{
	if (!w) {
		return;
	}
	curl_multi_cleanup(w->multi);
	free(w->ca_path);
	free(w->netrc_path);
	free(w);
	curl_global_cleanup();
}

static size_t
on_head(char *line, size_t size WS_UNUSED, size_t len, void *transfer)
{
	struct ws_transfer *t = transfer;
	struct ws_str text = ws_str_trim((struct ws_str){line, len});
	if (t->reply.complete && !ws_starts_with(line, "HTTP/")) {
		return len; /* trailers, after the body */
	}
	if (text.n > 0) {
		ws_reply_add(&t->reply, text);
		return len;
	}
	if (t->reply.status >= 100 && t->reply.status < 200) {
		return len; /* the real head follows */
	}
	t->reply.complete = true;
	return t->head(t) ? len : CURL_WRITEFUNC_ERROR;
}

static size_t
on_body(char *bytes, size_t size WS_UNUSED, size_t len, void *transfer)
{
	struct ws_transfer *t = transfer;
	switch (t->body(t, bytes, len)) {
	case WS_WIRE_TAKEN:
		return len;
	case WS_WIRE_LATER:
		return CURL_WRITEFUNC_PAUSE;
	case WS_WIRE_DROP:
		break;
	}
	return CURL_WRITEFUNC_ERROR;
}

/* ---- what is sent ---- */

static size_t
give_body(char *to, size_t size, size_t count, void *transfer)
{
	struct ws_transfer *t = transfer;
	ptrdiff_t got = ws_body_read(&t->handle->reader, to, size * count);
	t->sent_bytes += got > 0 ? (uint64_t)got : 0;
	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* libcurl repeats the body when a kept connection was closed. */
static int
seek_body(void *transfer, curl_off_t offset, int origin)
{
	struct ws_transfer *t = transfer;
	if (offset != 0 || origin != SEEK_SET) {
		return CURL_SEEKFUNC_CANTSEEK;
	}
	ws_body_rewind(&t->handle->reader);
	t->sent_bytes = 0;
	return CURL_SEEKFUNC_OK;
}

/* Values that libcurl copies, and constants. */
static void
set_up(const struct ws_wire *w, struct ws_transfer *t, CURL *easy)
{
	if (t->method) {
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, t->method);
		curl_easy_setopt(easy, CURLOPT_NOBODY, (long)ws_same(t->method, "HEAD"));
	}
	t->handle->reader = (struct ws_body_reader){.body = t->sends, .fd = -1};
	if (t->sends) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->sends->length_bytes);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
		curl_easy_setopt(easy, CURLOPT_READDATA, t);
		curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_body);
		curl_easy_setopt(easy, CURLOPT_SEEKDATA, t);
	}
	if (t->signing) {
		curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, t->signing);
	}
	curl_easy_setopt(easy, CURLOPT_URL, t->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "wheelsmith/" WS_VERSION);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* libcurl before 8 loses an answer that comes before the body is sent, when HTTP/2 resets the
	 * stream. */
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		t->alone || t->sends ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
	if (t->direct) {
		curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
	}
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, w->connect_ms);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* hanging up does not wait for a name server */
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
	if (w->ca_path) {
		curl_easy_setopt(easy, w->ca_is_folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, w->ca_path);
	}
	if (t->compressed) {
		curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	}
	curl_easy_setopt(
		easy, CURLOPT_HTTPAUTH, (long)(t->signing ? CURLAUTH_AWS_SIGV4 : CURLAUTH_BASIC));
	if (t->user) {
		curl_easy_setopt(easy, CURLOPT_USERNAME, t->user);
		curl_easy_setopt(easy, CURLOPT_PASSWORD, t->password);
	} else {
		curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		curl_easy_setopt(easy, CURLOPT_NETRC_FILE, w->netrc_path);
	}
}

/* libcurl reads netrc and does not report whether it had a login for this host. */
static int
on_trace(CURL *easy WS_UNUSED, curl_infotype type, char *text, size_t len, void *self)
{
	static const char sign[] = "\r\nAuthorization:";
	struct ws_wire_handle *handle = self;
	if (type == CURLINFO_HEADER_OUT && memmem(text, len, sign, sizeof(sign) - 1)) {
		handle->with_login = true;
	}
	return 0;
}

bool
ws_wire_start(struct ws_wire *w, struct ws_transfer *t, struct ws_err *err)
{
	struct ws_wire_handle *handle = calloc(1, sizeof(*handle));
	if (!handle || !(handle->easy = curl_easy_init())) {
		abort();
	}
	t->handle = handle;
	t->reply = (struct ws_reply){0};
	t->sent_bytes = 0;
	t->end = WS_WIRE_RUNNING;
	t->fault[0] = '\0';
	t->location = NULL;
	for (size_t i = 0; i < t->header_count; i++) {
		handle->headers = curl_slist_append(handle->headers, t->headers[i]);
	}
	if (!t->compressed) {
		handle->headers = curl_slist_append(handle->headers, "Accept-Encoding: identity");
	}
	CURL *easy = handle->easy;
	set_up(w, t, easy);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, handle->headers);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle->fault);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_trace);
	curl_easy_setopt(easy, CURLOPT_DEBUGDATA, handle);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	CURLMcode code = curl_multi_add_handle(w->multi, easy);
	if (code != CURLM_OK) {
		ws_wire_cancel(w, t);
		return ws_err_set(err, WS_ERR_INTERNAL, "libcurl: %s", curl_multi_strerror(code));
	}
	return true;
}

void
ws_wire_cancel(struct ws_wire *w, struct ws_transfer *t)
{
	struct ws_wire_handle *handle = t->handle;
	if (!handle) {
		return;
	}
	curl_multi_remove_handle(w->multi, handle->easy);
	curl_easy_cleanup(handle->easy);
	curl_slist_free_all(handle->headers);
	ws_body_rewind(&handle->reader);
	free(handle);
	t->handle = NULL;
}

void
ws_wire_resume(struct ws_transfer *t)
{
	if (t->handle) {
		curl_easy_pause(t->handle->easy, CURLPAUSE_CONT);
	}
}

static enum ws_wire_end
end_of(CURLcode code)
{
	switch ((int)code) {
	case CURLE_OK:
		return WS_WIRE_COMPLETE;
	case CURLE_WRITE_ERROR:
		return WS_WIRE_DROPPED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return WS_WIRE_NO_HOST;
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
		return WS_WIRE_NO_CONNECTION;
	case CURLE_PEER_FAILED_VERIFICATION:
		return WS_WIRE_BAD_CERTIFICATE;
	case CURLE_SSL_CACERT_BADFILE:
		return WS_WIRE_BAD_CA;
	case CURLE_ABORTED_BY_CALLBACK:
	case CURLE_READ_ERROR:
		return WS_WIRE_BAD_BODY;
	default:
		return WS_WIRE_CUT;
	}
}

/* libcurl quotes the URL of a proxy that it cannot use, login and all. */
static bool
is_about_proxy_url(const char *fault)
{
	return ws_starts_with(fault, "Unsupported proxy"); /* lib/url.c of 7.88, three messages */
}

static const char *
words_of(const struct ws_wire_handle *handle, CURLcode code)
{
	if (is_about_proxy_url(handle->fault)) {
		return "the URL of the proxy cannot be used";
	}
	bool safe = handle->fault[0] && !strchr(handle->fault, '@');
	return safe ? handle->fault : curl_easy_strerror(code);
}

/* A transfer that has ended, with its outcome; NULL: none. */
static struct ws_transfer *
next_ended(struct ws_wire *w)
{
	int left;
	const CURLMsg *message = curl_multi_info_read(w->multi, &left);
	if (!message) {
		return NULL;
	}
	CURL *easy = message->easy_handle;
	CURLcode code = message->data.result;
	char *private = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	struct ws_transfer *t = (void *)private;
	const char *fault = words_of(t->handle, code);
	snprintf(t->fault, sizeof(t->fault), "%.*s", (int)strcspn(fault, "\r\n"), fault);
	t->end = end_of(code);
	long refused = 0;
	curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &refused);
	if (code != CURLE_OK && refused >= 400) {
		t->end = WS_WIRE_BAD_PROXY;
	} else if (code != CURLE_OK && is_about_proxy_url(t->handle->fault)) {
		t->end = WS_WIRE_NO_PROXY;
	}
	t->reply.with_login = t->handle->with_login;
	curl_off_t wait_s = 0;
	if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait_s) == CURLE_OK && wait_s > 0) {
		t->reply.retry_after_s = wait_s > 1000000 ? 1000000 : (unsigned)wait_s;
	}
	const char *location = NULL;
	if (curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &location) == CURLE_OK && location) {
		t->location = ws_arena_strdup(t->arena, location);
	}
	ws_wire_cancel(w, t);
	return t;
}

struct ws_transfer *
ws_wire_wait(struct ws_wire *w, int fd, unsigned ms)
{
	int running;
	struct ws_transfer *ended = next_ended(w);
	if (ended) {
		return ended;
	}
	curl_multi_perform(w->multi, &running);
	if ((ended = next_ended(w))) {
		return ended;
	}
	struct curl_waitfd also = {.fd = fd, .events = CURL_WAIT_POLLIN};
	curl_multi_poll(w->multi, &also, fd >= 0, (int)ms, NULL);
	curl_multi_perform(w->multi, &running);
	return next_ended(w);
}

/* ---- a bare connection ---- */

/* Until it is connected, failed, or to stop; what became of it. */
static CURLcode
connect_peer(CURLM *multi, int stop_fd)
{
	struct curl_waitfd stop = {.fd = stop_fd, .events = CURL_WAIT_POLLIN};
	for (;;) {
		int running, left;
		curl_multi_perform(multi, &running);
		const CURLMsg *message = curl_multi_info_read(multi, &left);
		if (message && message->msg == CURLMSG_DONE) {
			return message->data.result;
		}
		curl_multi_poll(multi, &stop, stop_fd >= 0, 1000, NULL);
		if (stop.revents) {
			return CURLE_ABORTED_BY_CALLBACK;
		}
	}
}

int
ws_wire_connect(const struct ws_wire_peer *peer, int stop_fd, struct ws_err *err)
{
	struct ws_wire_handle handle = {0};
	int fd = -1;
	if (peer->proxy && ws_starts_with(peer->proxy, "https:")) {
		ws_err_set(err, WS_ERR_FETCH, "a proxy with an https URL is not supported here");
		return -1;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	CURLM *multi = curl_multi_init();
	CURL *easy = handle.easy = curl_easy_init();
	CURLU *url = curl_url();
	if (!multi || !easy || !url) {
		abort();
	}
	curl_url_set(url, CURLUPART_SCHEME, "http", 0);
	curl_url_set(url, CURLUPART_HOST, peer->host, 0);
	curl_url_set(url, CURLUPART_PORT, peer->port, 0);
	curl_easy_setopt(easy, CURLOPT_CURLU, url);
	curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, peer->proxy);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)peer->connect_ms);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "wheelsmith/" WS_VERSION);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle.fault);
	curl_multi_add_handle(multi, easy);
	CURLcode code = connect_peer(multi, stop_fd);
	curl_socket_t socket = CURL_SOCKET_BAD;
	if (code == CURLE_OK) {
		curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
		fd = fcntl(socket, F_DUPFD_CLOEXEC, 3); /* libcurl closes its own */
	}
	if (fd < 0) {
		ws_err_set(err, WS_ERR_FETCH, "'%s:%s' cannot be reached: %s", peer->host, peer->port,
			words_of(&handle, code));
	}
	curl_multi_remove_handle(multi, easy);
	curl_easy_cleanup(easy);
	curl_url_cleanup(url);
	curl_multi_cleanup(multi);
	curl_global_cleanup();
	return fd;
}

/* ---- URLs ---- */

/* A part of a URL as a text in @a a; NULL when it is not there or cannot be decoded. */
static char *
part_of(CURLU *handle, CURLUPart part, unsigned flags, struct ws_arena *a)
{
	char *text = NULL;
	if (curl_url_get(handle, part, &text, flags) != CURLUE_OK) {
		return NULL;
	}
	char *copy = ws_arena_strdup(a, text);
	curl_free(text);
	return copy;
}

static bool
is_web(const char *scheme)
{
	return scheme && (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0);
}

static bool
split(CURLU *handle, struct ws_arena *a, struct ws_url *url)
{
	char *scheme = part_of(handle, CURLUPART_SCHEME, 0, a);
	char *host = part_of(handle, CURLUPART_HOST, 0, a);
	char *port = part_of(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT, a);
	if (!scheme || !is_web(ws_lower_all(scheme)) || !host || !port) {
		return false;
	}
	*url = (struct ws_url){.host = ws_lower_all(host), .is_https = strcmp(scheme, "https") == 0};
	url->origin = ws_arena_printf(a, "%s://%s:%s", scheme, host, port);
	url->user = part_of(handle, CURLUPART_USER, CURLU_URLDECODE, a);
	url->password = part_of(handle, CURLUPART_PASSWORD, CURLU_URLDECODE, a);
	if ((!url->user && part_of(handle, CURLUPART_USER, 0, a))
		|| (!url->password && part_of(handle, CURLUPART_PASSWORD, 0, a))) {
		return false; /* it is there but cannot be decoded, as %00 */
	}
	url->password = url->user && !url->password ? "" : url->password;
	curl_url_set(handle, CURLUPART_USER, NULL, 0);
	curl_url_set(handle, CURLUPART_PASSWORD, NULL, 0);
	curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0);
	return (url->plain = part_of(handle, CURLUPART_URL, 0, a));
}

bool
ws_url_parse(const char *text, struct ws_arena *a, struct ws_url *url, struct ws_err *err)
{
	CURLU *handle = curl_url();
	bool ok = handle && curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK
		&& split(handle, a, url);
	curl_url_cleanup(handle);
	if (!ok) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is not an http or https URL", ws_url_shown(text, a));
	}
	return true;
}

char *
ws_url_join(const char *base, const char *reference, struct ws_arena *a)
{
	CURLU *handle = curl_url();
	char *joined = NULL;
	if (handle && curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK
		&& curl_url_set(handle, CURLUPART_URL, reference, CURLU_URLENCODE) == CURLUE_OK
		&& is_web(part_of(handle, CURLUPART_SCHEME, 0, a))) {
		joined = part_of(handle, CURLUPART_URL, 0, a);
	}
	curl_url_cleanup(handle);
	return joined;
}
