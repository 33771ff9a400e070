/**
 * wire.h - single attempts of HTTP requests, many at a time
 *
 * The door to libcurl. One transfer is one request to one URL and one reply: nothing is repeated,
 * no redirect is followed, no time limit is kept; that is http.c's. A transfer belongs to its
 * caller and stays where it is from ws_wire_start until it has ended or was cancelled. Not
 * thread-safe: one loop, one wire.
 */
#ifndef WS_NET_WIRE_H
#define WS_NET_WIRE_H

#include "base/arena.h"
#include "base/err.h"
#include "net/message.h"

struct ws_wire;

struct ws_wire_setup {
	const char *ca_path;    /**< bundle or folder of certificates; NULL: libcurl's own choice */
	const char *netrc_path; /**< NULL: ~/.netrc */
	unsigned connect_ms;    /**< name, connection and TLS together */
};

/** How a transfer ended. */
enum ws_wire_end {
	WS_WIRE_RUNNING,
	WS_WIRE_COMPLETE,        /**< the reply came whole, whatever its status */
	WS_WIRE_DROPPED,         /**< head() or body() would not have it */
	WS_WIRE_NO_HOST,         /**< the name of the server or of the proxy is not known */
	WS_WIRE_NO_CONNECTION,   /**< no server listens there, or the way is blocked */
	WS_WIRE_CUT,             /**< the connection broke before the reply was whole */
	WS_WIRE_BAD_CERTIFICATE, /**< TLS: not signed by whom we trust, or for another name */
	WS_WIRE_BAD_CA,          /**< ca_path cannot be read */
	WS_WIRE_BAD_PROXY,       /**< the proxy will not connect us */
	WS_WIRE_NO_PROXY,        /**< what stands in https_proxy is not the URL of a proxy */
	WS_WIRE_BAD_BODY,        /**< what is to be sent cannot be read */
};

enum ws_wire_taken {
	WS_WIRE_TAKEN,
	WS_WIRE_LATER, /**< not yet: keep these bytes, hear nothing until ws_wire_resume */
	WS_WIRE_DROP,  /**< never: ends the transfer */
};

struct ws_transfer {
	/* What is asked. Borrowed until the end. */
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
	bool alone; /**< a connection of its own, HTTP/1.1: it can wait without holding up others */

	/** The head came whole; false drops the reply. */
	bool (*head)(struct ws_transfer *t);
	/** The next bytes of the body, at least one. */
	enum ws_wire_taken (*body)(struct ws_transfer *t, const void *bytes, size_t len);

	/* What became known. */
	struct ws_reply reply;
	uint64_t sent_bytes; /**< of the body, handed to the connection */
	enum ws_wire_end end;
	char fault[256]; /**< after a bad end: libcurl's words, without logins */
	char *location;  /**< where a redirect leads, absolute, in arena; NULL: nowhere */
	struct ws_arena *arena;

	struct ws_wire_handle *handle; /**< wire.c's; NULL when not started */
};

struct ws_wire *ws_wire_open(const struct ws_wire_setup *setup, struct ws_err *err);

/** No transfer may be running. NULL is fine. */
void ws_wire_close(struct ws_wire *w);

bool ws_wire_start(struct ws_wire *w, struct ws_transfer *t, struct ws_err *err);

/** Hangs up; nothing more is heard. A transfer that is not running is fine. */
void ws_wire_cancel(struct ws_wire *w, struct ws_transfer *t);

/** Goes on after WS_WIRE_LATER; body() may be called from within. */
void ws_wire_resume(struct ws_transfer *t);

/**
 * Moves bytes, waiting at most @a ms for some, or until @a fd (-1: none) is readable. Returns a
 * transfer that has ended, NULL when none has.
 */
struct ws_transfer *ws_wire_wait(struct ws_wire *w, int fd, unsigned ms);

/** A server that is spoken to in a protocol of its own. */
struct ws_wire_peer {
	const char *host; /**< an IPv6 address in brackets */
	const char *port;
	const char *proxy; /**< URL of one that connects us (CONNECT); "": none; NULL: http_proxy's */
	unsigned connect_ms;
};

/**
 * Connects to @a peer, over whichever of its addresses answers. Returns a non-blocking socket,
 * which the caller closes; -1 with WS_ERR_FETCH. @a stop_fd: gives up once it is readable; -1:
 * none.
 */
int ws_wire_connect(const struct ws_wire_peer *peer, int stop_fd, struct ws_err *err);

#endif
