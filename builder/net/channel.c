/* channel.c - the door to libssl. SIGPIPE is ignored by the whole program (sys/stop.h). */
#include "net/channel.h"

#include "base/fs.h"
#include "sys/clock.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

struct ws_channel {
	int fd, stop_fd;
	SSL_CTX *context;
	SSL *ssl;
	short want; /* poll events that TLS waits for */
	char *server;
};

/* ---- TLS ---- */

static const char *
reason(const struct ws_channel *c)
{
	long verified = c->ssl ? SSL_get_verify_result(c->ssl) : X509_V_OK;
	unsigned long code = ERR_get_error();
	ERR_clear_error();
	const char *words = code ? ERR_reason_error_string(code) : NULL;
	return verified != X509_V_OK ? X509_verify_cert_error_string(verified)
		: words                  ? words
								 : "the connection was closed";
}

static bool
set_certificates(struct ws_channel *c, const struct ws_channel_config *config, struct ws_err *err)
{
	bool is_folder = config->ca_path && ws_fs_is_dir(config->ca_path);
	if (!config->ca_path) {
		SSL_CTX_set_default_verify_paths(c->context);
	} else if (SSL_CTX_load_verify_locations(c->context, is_folder ? NULL : config->ca_path,
				   is_folder ? config->ca_path : NULL)
		!= 1) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' has no certificates that can be read: %s",
			config->ca_path, reason(c));
	}
	if (!config->cert_path) {
		return true;
	}
	if (SSL_CTX_use_certificate_chain_file(c->context, config->cert_path) != 1
		|| SSL_CTX_use_PrivateKey_file(c->context, config->key_path, SSL_FILETYPE_PEM) != 1) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"the certificate '%s' and the key '%s' cannot be used: %s", config->cert_path,
			config->key_path, reason(c));
	}
	return true;
}

static bool
start_tls(struct ws_channel *c, const struct ws_channel_config *config, struct ws_err *err)
{
	static const unsigned char protocols[] = "\x02h2";
	size_t len = strlen(config->peer.host);
	bool bracketed = len > 2 && config->peer.host[0] == '[';
	char *host = bracketed ? strndup(config->peer.host + 1, len - 2) : strdup(config->peer.host);
	c->context = SSL_CTX_new(TLS_client_method());
	bool ok = c->context && host && set_certificates(c, config, err);
	if (ok) {
		SSL_CTX_set_min_proto_version(c->context, TLS1_2_VERSION);
		SSL_CTX_set_verify(c->context, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_mode(
			c->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		SSL_CTX_set_alpn_protos(c->context, protocols, 3);
		c->ssl = SSL_new(c->context);
		SSL_set_fd(c->ssl, c->fd);
		if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(c->ssl), host) != 1) {
			ok = SSL_set1_host(c->ssl, host) == 1 && SSL_set_tlsext_host_name(c->ssl, host) == 1;
		}
		ERR_clear_error();
		SSL_set_connect_state(c->ssl);
	}
	free(host);
	return ok
		|| (err->kind == WS_ERR_NONE
			&& ws_err_set(err, WS_ERR_FETCH, "TLS with '%s' cannot begin", c->server));
}

/* The result of a libssl call: 0: try later; -1: the connection is broken. */
static ptrdiff_t
check_tls(struct ws_channel *c, int got, struct ws_err *err)
{
	switch (SSL_get_error(c->ssl, got)) {
	case SSL_ERROR_WANT_READ:
		c->want = POLLIN;
		return 0;
	case SSL_ERROR_WANT_WRITE:
		c->want = POLLOUT;
		return 0;
	default:
		ws_err_set(err, WS_ERR_FETCH, "TLS with '%s' failed: %s", c->server, reason(c));
		return -1;
	}
}

static bool
shake_hands(struct ws_channel *c, unsigned ms, struct ws_err *err)
{
	const unsigned char *chosen = NULL;
	unsigned len = 0;
	int64_t until = ws_clock_ms() + ms;
	for (int got; (got = SSL_do_handshake(c->ssl)) != 1;) {
		if (check_tls(c, got, err) < 0) {
			return false;
		}
		struct pollfd fds[] = {{c->fd, c->want, 0}, {c->stop_fd, POLLIN, 0}};
		int64_t left = until - ws_clock_ms();
		if (left <= 0 || poll(fds, c->stop_fd >= 0 ? 2 : 1, (int)left) == 0 || fds[1].revents) {
			return ws_err_set(
				err, WS_ERR_FETCH, "TLS with '%s' did not begin within %u ms", c->server, ms);
		}
	}
	c->want = 0;
	SSL_get0_alpn_selected(c->ssl, &chosen, &len);
	return (len == 2 && memcmp(chosen, "h2", 2) == 0)
		|| ws_err_set(err, WS_ERR_FETCH, "'%s' does not speak HTTP/2", c->server);
}

/* ---- the channel ---- */

struct ws_channel *
ws_channel_open(const struct ws_channel_config *config, struct ws_err *err)
{
	int one = 1;
	struct ws_channel *c = calloc(1, sizeof(*c));
	if (!c || asprintf(&c->server, "%s:%s", config->peer.host, config->peer.port) < 0) {
		abort();
	}
	c->stop_fd = config->stop ? config->stop->fd : -1;
	c->fd = ws_wire_connect(&config->peer, c->stop_fd, err);
	if (c->fd < 0) {
		ws_channel_close(c);
		return NULL;
	}
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (config->tls
		&& (!start_tls(c, config, err) || !shake_hands(c, config->peer.connect_ms, err))) {
		ws_channel_close(c);
		return NULL;
	}
	return c;
}

void
ws_channel_close(struct ws_channel *c)
{
	if (!c) {
		return;
	}
	SSL_free(c->ssl);
	SSL_CTX_free(c->context);
	if (c->fd >= 0) {
		close(c->fd);
	}
	free(c->server);
	free(c);
}

/* The same of a system call. */
static ptrdiff_t
check_plain(const struct ws_channel *c, ptrdiff_t got, struct ws_err *err)
{
	if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
		return 0;
	}
	ws_err_set(err, WS_ERR_FETCH, "'%s' broke off: %s", c->server,
		got == 0 ? "it closed the connection" : strerror(errno));
	return -1;
}

ptrdiff_t
ws_channel_read(struct ws_channel *c, void *to, size_t room, struct ws_err *err)
{
	if (!c->ssl) {
		ptrdiff_t got = recv(c->fd, to, room, 0);
		return got > 0 ? got : check_plain(c, got, err);
	}
	int got = SSL_read(c->ssl, to, (int)(room < INT32_MAX ? room : INT32_MAX));
	return got > 0 ? got : check_tls(c, got, err);
}

ptrdiff_t
ws_channel_write(struct ws_channel *c, const void *from, size_t len, struct ws_err *err)
{
	if (!c->ssl) {
		ptrdiff_t sent = send(c->fd, from, len, MSG_NOSIGNAL);
		return sent > 0 ? sent : check_plain(c, sent, err);
	}
	int sent = SSL_write(c->ssl, from, (int)(len < INT32_MAX ? len : INT32_MAX));
	return sent > 0 ? sent : check_tls(c, sent, err);
}

int
ws_channel_fd(const struct ws_channel *c)
{
	return c->fd;
}

void
ws_channel_wait(struct ws_channel *c, bool sends, unsigned ms)
{
	struct pollfd fds[] = {
		{c->fd, (short)(POLLIN | (sends ? POLLOUT : 0) | c->want), 0}, {c->stop_fd, POLLIN, 0}};
	c->want = 0;
	if (!c->ssl || SSL_pending(c->ssl) == 0) {
		poll(fds, c->stop_fd >= 0 ? 2 : 1, (int)ms);
	}
}
