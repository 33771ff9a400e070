/* server.c - a URL, a file of headers, a channel. */
#include "remote/server.h"

#include "base/fs.h"
#include "model/git_url.h"
#include "net/url.h"

#define CONNECT_MS 5000

static bool
read_headers(struct ws_server *s, const struct ws_url *url, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *path = s->config.headers;
	if (!path) {
		return true;
	}
	if (!url->is_https && !ws_host_is_loopback(ws_str_of(url->host))) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' is plain http: the headers of '%s' are sent over https only", s->shown, path);
	}
	if (!ws_fs_read_at_most(path, 16384, &text, err)) {
		err->kind = WS_ERR_CONFIG;
		return false;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (line.n == 0) {
			continue;
		}
		bool fits = s->header_count < WS_REQUEST_HEADERS;
		if (!fits || line.s[0] == ':' || !memchr(line.s, ':', line.n)
			|| memchr(line.s, '\0', line.n) || memchr(line.s, '\r', line.n)) {
			return ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a list of at most %d headers, '%s'",
				path, WS_REQUEST_HEADERS, "Name: value");
		}
		s->headers[s->header_count++] = ws_str_copy(line, a);
	}
	return true;
}

struct ws_server *
ws_server_open(const struct ws_server_config *config, struct ws_arena *a, struct ws_err *err)
{
	struct ws_server *s = WS_NEW(a, struct ws_server);
	struct ws_url url;
	s->config = *config;
	s->config.instance = config->instance ? config->instance : "";
	s->shown = ws_url_shown(config->endpoint, a);
	s->is_grpc = ws_starts_with(config->endpoint, "grpc");
	const char *web = s->is_grpc ? ws_arena_printf(a, "http%s", config->endpoint + strlen("grpc"))
								 : config->endpoint;
	if (strpbrk(config->endpoint, "?#")) {
		ws_err_set(err, WS_ERR_CONFIG,
			"'%s' cannot be the 'endpoint' of 'remote': /ac/ and /cas/ are appended to it",
			s->shown);
		return NULL;
	}
	if (!ws_url_parse(web, a, &url, err) || !read_headers(s, &url, a, err)) {
		return NULL;
	}
	bool loopback = ws_host_is_loopback(ws_str_of(url.host));
	s->rpc.headers = s->headers;
	s->rpc.header_count = s->header_count;
	s->rpc.channel = (struct ws_channel_config){
		.tls = url.is_https,
		.ca_path = config->ca_path,
		.cert_path = config->certificate,
		.key_path = config->certificate_key,
		.stop = config->stop,
		.peer = {.host = url.host,
			.port = strrchr(url.origin, ':') + 1,
			.proxy = loopback && !url.is_https ? ""
				: !url.is_https                ? NULL
				: config->https_proxy          ? config->https_proxy
											   : "",
			.connect_ms = CONNECT_MS},
	};
	return s;
}

/* ---- items of a cache server ---- */

void
ws_item_set(struct ws_item *item, enum ws_came came, const char *format, ...)
{
	va_list values;
	item->came = came;
	va_start(values, format);
	vsnprintf(item->failure, sizeof(item->failure), format, values);
	va_end(values);
	for (char *c = item->failure; *c; c++) {
		*c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c; /* a server's text, for a terminal */
	}
}

bool
ws_cache_put_all(struct ws_remote_cache *cache, struct ws_item *items, size_t count,
	const char *server, struct ws_err *err)
{
	if (!cache->put_files(cache, items, count)) {
		return ws_err_set(err, WS_ERR_FETCH, "the request to %s was cancelled", server);
	}
	for (size_t i = 0; i < count; i++) {
		if (items[i].came != WS_CAME_WHOLE) {
			return ws_err_set(err, WS_ERR_FETCH, "%s refused a file: %s", server,
				items[i].failure[0] ? items[i].failure : "it gave no reason");
		}
	}
	return true;
}
