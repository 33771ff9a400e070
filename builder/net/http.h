/**
 * http.h - a session with the world's servers, and requests brought to their end
 *
 * Repeats what is worth repeating (broken connections, 408, 429, 5xx, with pauses), follows
 * redirects without carrying credentials to another host or from https to http, gives up on what
 * stalls, stops when asked. What is asked by whom: get.h, download.h, remote.h. Knows no
 * package index and no file. Credentials come from the URL or from netrc and never reach a message;
 * those of a URL serve for every later request to the same scheme, host and port.
 *
 * Proxies are libcurl's: https_proxy, http_proxy, all_proxy, no_proxy. One session has one pool of
 * connections; not thread-safe.
 */
#ifndef WS_NET_HTTP_H
#define WS_NET_HTTP_H

#include "base/event.h"
#include "base/text.h"
#include "net/message.h"
#include "sys/stop.h"

struct ws_http;

/** Zero stands for the default of each. Texts are copied; stop and events are borrowed. */
struct ws_http_config {
	const char *ca_path;     /**< certificates to trust, file or folder; see index_config.h */
	const char *netrc_path;  /**< NULL: ~/.netrc */
	bool offline;            /**< every request fails and says what is missing */
	unsigned at_once;        /**< requests of a batch under way; 6 */
	unsigned first_byte_ms;  /**< connecting and waiting for an answer, together; 60 000 */
	unsigned stall_ms;       /**< fewer than stall_bytes in this time is a stall; 30 000 */
	unsigned stall_bytes;    /**< 30 KiB */
	unsigned retries;        /**< after the first attempt, without progress between; 4 */
	unsigned pause_ms;       /**< before the first of them, then doubled, at most 30 s; 500 */
	unsigned longest_wait_s; /**< a server that asks (Retry-After) for more is given up; 120 */
	unsigned redirects;      /**< 10 */
	/** A server that gives no answer is not asked again: every later request to it fails at
	 * once. */
	bool impatient;
	struct ws_stop *stop;           /**< NULL: nothing stops us */
	const struct ws_events *events; /**< NULL: none are sent */
};

/** NULL on failure. */
struct ws_http *ws_http_open(const struct ws_http_config *config, struct ws_err *err);

/** NULL is fine. */
void ws_http_close(struct ws_http *http);

const struct ws_events *ws_http_events(const struct ws_http *http);

/**
 * Every later request to the scheme, host and port of @a url has this user and password, as if they
 * stood in the URL. For logins that must not be in a URL, where others can see them.
 */
bool ws_http_login(struct ws_http *http, const char *url, const char *user, const char *password,
	struct ws_err *err);

/** The server of @a url gave no answer to an impatient session. */
bool ws_http_is_silent(const struct ws_http *http, const char *url);

/** What begin() says of the next attempt. */
enum ws_begin {
	WS_BEGIN_GO,
	WS_BEGIN_LATER, /**< another process is at it: ask again shortly */
	WS_BEGIN_DONE,  /**< nothing needs to be asked */
	WS_BEGIN_FAIL,  /**< err is set */
};

/** What head() and end() make of what came. */
enum ws_answer {
	WS_ANSWER_GOOD,
	WS_ANSWER_ANEW, /**< ask once more from the start: what is there has changed */
	WS_ANSWER_FAIL, /**< err is set */
};

#define WS_REQUEST_HEADERS 5

/** A request: first member of its owner's struct. Callbacks may be NULL, except body. */
struct ws_request {
	const char *url;     /**< may hold user:password@ */
	const char *subject; /**< for messages: a file name; NULL: the URL */
	const char *accept;  /**< NULL: anything */
	bool compressed;     /**< a text: ask for gzip and undo it; no ranges then */
	const char *method;  /**< NULL: GET. With a method or signing, a redirect is an error. */
	const char *signing; /**< "aws:amz:REGION:s3": signed, not basic (wire.h); NULL: basic */
	const struct ws_body *sends; /**< NULL: nothing */
	const char *const *headers;  /**< more of them, at most WS_REQUEST_HEADERS */
	size_t header_count;
	bool direct; /**< through no proxy, whatever the environment says */
	struct ws_buf
		*refusal;       /**< gets the first 4 KiB of a reply that is not 2xx; NULL: not wanted */
	char range[48];     /**< "0-99", "100-", "-65536"; "": the whole */
	char if_range[208]; /**< only if this validator still holds; "": whatever is there */
	/** Before each attempt: sets range and if_range. */
	enum ws_begin (*begin)(struct ws_request *request, struct ws_err *err);
	/** The head of a 2xx, or of a 416 (the range is not there). */
	enum ws_answer (*head)(
		struct ws_request *request, const struct ws_reply *reply, struct ws_err *err);
	/** The next bytes of a 2xx; false ends the batch. */
	bool (*body)(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err);
	/** The body came whole. */
	enum ws_answer (*end)(struct ws_request *request, struct ws_err *err);
	uint64_t kept_bytes;       /**< the owner's: what the next attempt does not fetch again */
	struct ws_arena *final_in; /**< where final_url goes; NULL: not wanted */
	const char *final_url;     /**< after redirects, without user and password */
	struct ws_err *failure;    /**< gets it, in a batch of `each`; NULL: not wanted */
	struct ws_reply reply;     /**< of the last attempt */
	uint64_t wire_bytes;       /**< body bytes received over all attempts */
	unsigned attempts;         /**< that reached for a server */
};

/** Requests that run together. */
struct ws_batch {
	struct ws_request *const *requests;
	size_t count;
	unsigned at_once; /**< 0: the session's */
	/** Bodies come one after the other in the order given; later requests wait with open
	 * connections of their own, holding at most one buffer (64 KiB) each. */
	bool in_order;
	bool each; /**< a failure ends its own request and no other; not with in_order */
};

/**
 * Brings all to their end, or the first failure and hangs up on the others. Failures are
 * WS_ERR_FETCH and name the request; its reply.status says which status it was, 0 for none.
 */
bool ws_http_run(struct ws_http *http, const struct ws_batch *batch, struct ws_err *err);

/**
 * For an impatient session, before its first request: requests one byte from the server of each
 * URL, all at the same time, so that the timeouts of silent servers pass together. Results are
 * ignored; see ws_http_is_silent. A single server is not contacted. False only when the run is to
 * stop.
 */
bool ws_http_preconnect(
	struct ws_http *http, const char *const *urls, size_t count, struct ws_err *err);

#endif
