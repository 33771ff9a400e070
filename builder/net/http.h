/**
 * http.h - a session of HTTP requests, with retries, redirects, time limits and logins
 *
 * Repeats requests after broken connections, 408, 429 and 5xx, with pauses; a Retry-After above two
 * minutes is an error. Follows ten redirects, but never from https to http, and sends a login only
 * to its own host. Gives up on stalled transfers and stops when the run is to stop. Files and small
 * texts: download.h; parts of files: range_source.h. Logins come from the URL or from netrc and are
 * in no message; a login of a URL serves all later requests to the same scheme, host and port.
 *
 * Redirects are followed here and not by libcurl, which up to 8.11 may send a login of netrc to the
 * next host (CVE-2024-11053, CVE-2025-0167) and does not know our logins of that host.
 *
 * Proxies are libcurl's: https_proxy, http_proxy, all_proxy, no_proxy. One session has one pool of
 * connections. Not thread-safe.
 */
#ifndef WS_NET_HTTP_H
#define WS_NET_HTTP_H

#include "base/event.h"
#include "net/message.h"
#include "sys/stop.h"

/** One transfer of any protocol as events: started, progress (at most ten a second), done. */
struct ws_progress {
	const struct ws_events *events; /**< NULL: no events */
	const char *subject;            /**< the file */
	const char *from;               /**< the host; NULL: not known */
	uint64_t total_bytes;           /**< 0: not known */
	int64_t began_ms, reported_ms;
	bool is_begun;
};

/** Emits the start event on the first call. */
void ws_progress_begin(struct ws_progress *p, uint64_t total_bytes);

/** Reports that @a done_bytes of the file are there. */
void ws_progress_move(struct ws_progress *p, uint64_t done_bytes);

/** Emits the end event, if there was a start; @a wire_bytes were received for the file. */
void ws_progress_end(struct ws_progress *p, uint64_t wire_bytes);

struct ws_http;

/** Zero selects the default. Texts are copied; stop and events are borrowed. */
struct ws_http_config {
	const char *ca_path;    /**< certificates to trust, file or folder; see index_config.h */
	const char *netrc_path; /**< NULL: ~/.netrc */
	bool offline;           /**< every request fails with the name of the missing file */
	unsigned at_once;       /**< concurrent requests of a batch; 6 */
	unsigned first_byte_ms; /**< from the start to the first byte of the reply; 60 000 */
	unsigned stall_ms;      /**< fewer than stall_bytes in this time: a stall; 30 000 */
	unsigned stall_bytes;   /**< 30 KiB */
	unsigned retries;       /**< after the first attempt, without progress between; 4 */
	unsigned pause_ms;      /**< before the first retry, then doubled, at most 30 s; 500 */
	/** After a server did not answer, all later requests to it fail at once. */
	bool impatient;
	struct ws_stop *stop;           /**< NULL: cannot be stopped */
	const struct ws_events *events; /**< NULL: no events */
};

/** NULL on failure. */
struct ws_http *ws_http_open(const struct ws_http_config *config, struct ws_err *err);

/** NULL is fine. */
void ws_http_close(struct ws_http *http);

/**
 * Uses this user and password for later requests to the scheme, host and port of the URL. For
 * logins that must not be in a URL, where other users could read them.
 */
bool ws_http_login(struct ws_http *http, const char *url, const char *user, const char *password,
	struct ws_err *err);

/** The server of @a url did not answer an impatient session. */
bool ws_http_is_silent(const struct ws_http *http, const char *url);

/** The events of this session for a file at @a url; borrows @a subject. */
struct ws_progress ws_http_progress(
	const struct ws_http *http, const char *url, const char *subject, struct ws_arena *a);

/** Result of ws_request.begin. */
enum ws_begin {
	WS_BEGIN_GO,
	WS_BEGIN_LATER, /**< another process works on it: call begin again shortly */
	WS_BEGIN_DONE,  /**< no request is needed */
	WS_BEGIN_FAIL,  /**< err is set */
};

/** Result of ws_request.head and end. */
enum ws_answer {
	WS_ANSWER_GOOD,
	WS_ANSWER_ANEW, /**< repeat the request: the file changed */
	WS_ANSWER_FAIL, /**< err is set */
};

#define WS_REQUEST_HEADERS 5

/** A request: first member of its owner's struct. Callbacks may be NULL, except body. */
struct ws_request {
	const char *url;     /**< may contain user:password@ */
	const char *subject; /**< for messages: a file name; NULL: the URL */
	const char *accept;  /**< NULL: anything */
	bool compressed;     /**< a text: accepts gzip and decodes it; without ranges */
	const char *method;  /**< NULL: GET. With a method or signing, a redirect is an error. */
	const char *signing; /**< "aws:amz:REGION:s3": signed, not basic (wire.h); NULL: basic */
	const struct ws_body *sends; /**< NULL: nothing */
	const char *const *headers;  /**< additional ones, at most WS_REQUEST_HEADERS */
	size_t header_count;
	bool direct;            /**< never through a proxy */
	bool once;              /**< a failure is final */
	struct ws_buf *refusal; /**< gets the first 4 KiB of a reply that is not 2xx; may be NULL */
	char range[48];         /**< "0-99", "100-", "-65536"; "": the whole */
	char if_range[208];     /**< only if this validator still matches; "": unconditional */
	/** Before each attempt: sets range and if_range. */
	enum ws_begin (*begin)(struct ws_request *request, struct ws_err *err);
	/** The head of a 2xx, or of a 416 (the range is not there). */
	enum ws_answer (*head)(
		struct ws_request *request, const struct ws_reply *reply, struct ws_err *err);
	/** The next bytes of a 2xx body; false ends the batch. */
	bool (*body)(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err);
	/** The body is complete. */
	enum ws_answer (*end)(struct ws_request *request, struct ws_err *err);
	uint64_t kept_bytes; /**< set by the owner: bytes that the next attempt does not request */
	struct ws_arena *final_in; /**< arena of final_url; NULL: not wanted */
	const char *final_url;     /**< after redirects, without user and password */
	struct ws_err *failure;    /**< gets the failure, in a batch of `each`; may be NULL */
	struct ws_reply reply;     /**< of the last attempt */
	uint64_t wire_bytes;       /**< body bytes received over all attempts */
	unsigned attempts;         /**< that contacted a server */
};

/** Requests that run together. */
struct ws_batch {
	struct ws_request *const *requests;
	size_t count;
	unsigned at_once; /**< 0: the session's */
	/**
	 * Bodies are delivered one after the other in the given order; later requests wait with open
	 * connections and at most one buffer (64 KiB) each.
	 */
	bool in_order;
	bool each; /**< a failure ends only its own request; not with in_order */
};

/**
 * Runs all requests. The first failure cancels the others. Failures are WS_ERR_FETCH and name the
 * request; reply.status is its status, 0 without a reply.
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
