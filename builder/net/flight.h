/**
 * flight.h - one request on its way, over all its attempts
 *
 * http.c's other half: the way of a single request, from begin() through redirects and repeated
 * attempts until it has landed or failed. When it is launched, and whether it is too slow, is
 * http.c's to say. Included by these two files only.
 */
#ifndef WS_NET_FLIGHT_H
#define WS_NET_FLIGHT_H

#include "base/vec.h"
#include "net/http.h"
#include "net/url.h"
#include "net/wire.h"

/** Who we are at one server. */
struct ws_login {
	const char *origin; /**< as in struct ws_url */
	const char *user, *password;
};

struct ws_http {
	struct ws_http_config config; /**< defaults filled in */
	struct ws_wire *wire;
	WS_VEC(struct ws_login) logins; /**< of URLs that were asked so far, one an origin */
	struct ws_arena *a;
};

struct ws_run;

enum ws_flight_state {
	WS_FLIGHT_WAITS, /**< until due_ms */
	WS_FLIGHT_FLIES,
	WS_FLIGHT_HELD, /**< connected, but its turn has not come */
	WS_FLIGHT_LANDED,
};

struct ws_flight {
	struct ws_transfer transfer; /**< first: what the wire hands back */
	struct ws_run *run;
	struct ws_request *request;
	size_t number; /**< in the batch */
	enum ws_flight_state state;
	struct ws_url hop; /**< where redirects have led */
	char range[64], if_range[224];
	const char *headers[3];
	enum ws_answer answer; /**< of head() */
	bool failed;           /**< a callback has set the error */
	unsigned failures, renewals, redirects;
	uint64_t farthest_bytes; /**< kept_bytes when failures were last forgotten */
	uint64_t received;       /**< of this hop's body */
	uint64_t discarded;      /**< of an error page */
	int64_t due_ms, started_ms;
	int64_t window_ms;     /**< start of the time in which a stall is looked for */
	uint64_t window_bytes; /**< received before it */
};

/** A batch that runs. */
struct ws_run {
	struct ws_http *http;
	const struct ws_batch *batch;
	struct ws_flight *flights;
	size_t left;  /**< not landed */
	size_t front; /**< in_order: whose body may come */
	size_t flying, at_once;
	bool failed; /**< err is set */
	struct ws_arena *a;
	struct ws_err *err;
};

/** The first attempt, or the next; sets run->failed when it cannot begin. */
void ws_flight_launch(struct ws_flight *f);

/** Its transfer has ended: lands, follows, waits for another attempt, or sets run->failed. */
void ws_flight_settle(struct ws_flight *f);

#endif
