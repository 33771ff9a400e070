/**
 * wire.h - single attempts of HTTP requests, many at a time
 *
 * The door to libcurl. A transfer is one request to one URL and one reply. Retries, redirects and
 * time limits are in http.c. A transfer belongs to its caller and must not move from ws_wire_start
 * until it has ended or was cancelled. Not thread-safe: one loop, one wire.
 */
#ifndef WS_NET_WIRE_H
#define WS_NET_WIRE_H

#include "base/err.h"
#include "net/message.h"

struct ws_wire;

/** How a transfer ended. */
enum ws_wire_end {
	WS_WIRE_RUNNING,
	WS_WIRE_COMPLETE,        /**< the reply came whole, whatever its status */
	WS_WIRE_DROPPED,         /**< head() or body() rejected it */
	WS_WIRE_NO_HOST,         /**< the name of the server or proxy is unknown */
	WS_WIRE_NO_CONNECTION,   /**< connection refused or blocked */
	WS_WIRE_CUT,             /**< the connection broke before the reply was whole */
	WS_WIRE_BAD_CERTIFICATE, /**< TLS: the certificate is not trusted, or has another name */
	WS_WIRE_BAD_CA,          /**< ca_path cannot be read */
	WS_WIRE_BAD_PROXY,       /**< the proxy refuses the connection */
	WS_WIRE_NO_PROXY,        /**< the value of https_proxy is not the URL of a proxy */
	WS_WIRE_BAD_BODY,        /**< the body cannot be read */
};

enum ws_wire_taken {
	WS_WIRE_TAKEN,
	WS_WIRE_LATER, /**< pause: keep these bytes until ws_wire_resume */
	WS_WIRE_DROP,  /**< ends the transfer */
};

struct ws_transfer {
	/* The request. Borrowed until the end. */
	const char *method;   /**< NULL: GET */
	const char *url;      /**< without user and password */
	const char *user;     /**< NULL: netrc decides */
	const char *password; /**< never NULL when user is not */
	const char *signing; /**< "aws:amz:us-east-1:s3": user and password sign (SigV4); NULL: basic */
	const struct ws_body *sends; /**< NULL: nothing */
	const char *const *headers;  /**< "Name: value" */
	size_t header_count;
	bool compressed; /**< ask for gzip and undo it: for texts. Else "identity" is asked for. */
	bool direct;     /**< through no proxy */
	bool alone;      /**< own connection, HTTP/1.1: it can pause without blocking others */

	/** The head is complete; false drops the reply. */
	bool (*head)(struct ws_transfer *t);
	/** The next bytes of the body, at least one. */
	enum ws_wire_taken (*body)(struct ws_transfer *t, const void *bytes, size_t len);

	/* The outcome. */
	struct ws_reply reply;
	uint64_t sent_bytes; /**< of the body, handed to the connection */
	enum ws_wire_end end;
	char fault[256]; /**< after a bad end: libcurl's words, without logins */
	char *location;  /**< absolute URL of a redirect, in arena; NULL: none */
	struct ws_arena *arena;

	struct ws_wire_handle *handle; /**< wire.c's; NULL when not started */
};

/** @a ca_path: bundle or folder of certificates; NULL: libcurl's own choice. @a netrc_path NULL:
 * ~/.netrc. @a connect_ms: for name, connection and TLS together. */
struct ws_wire *ws_wire_open(
	const char *ca_path, const char *netrc_path, unsigned connect_ms, struct ws_err *err);

/** No transfer may be running. NULL is fine. */
void ws_wire_close(struct ws_wire *w);

bool ws_wire_start(struct ws_wire *w, struct ws_transfer *t, struct ws_err *err);

/** Cancels; no callback follows. A transfer that is not running is fine. */
void ws_wire_cancel(struct ws_wire *w, struct ws_transfer *t);

/** Continues after WS_WIRE_LATER; body() may be called from within. */
void ws_wire_resume(struct ws_transfer *t);

/**
 * Transfers bytes; waits at most @a ms for some, or until @a fd (-1: none) is readable. Returns a
 * transfer that has ended, or NULL.
 */
struct ws_transfer *ws_wire_wait(struct ws_wire *w, int fd, unsigned ms);

/** A server with another protocol than HTTP/1. */
struct ws_wire_peer {
	const char *host; /**< an IPv6 address in brackets */
	const char *port;
	const char *proxy; /**< URL of a proxy with CONNECT; "": none; NULL: that of http_proxy */
	unsigned connect_ms;
};

/**
 * Connects to @a peer, over the first of its addresses that answers. Returns a non-blocking socket,
 * which the caller closes; -1 with WS_ERR_FETCH. @a stop_fd: gives up when it is readable; -1:
 * none.
 */
int ws_wire_connect(const struct ws_wire_peer *peer, int stop_fd, struct ws_err *err);

#endif
