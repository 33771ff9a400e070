/**
 * served.h - a real server on loopback for a test: support/fault_server.py
 *
 * A child of the test program, started by the first test that asks; each test finds it empty. Fails
 * the test when it does not start. Takes proxies out of the environment, so that loopback is
 * loopback.
 */
#ifndef WS_TESTS_UNIT_SERVED_H
#define WS_TESTS_UNIT_SERVED_H

#include "net/http.h"

struct ws_served {
	const char *dir;  /**< what is served */
	const char *log;  /**< one JSON line a request */
	const char *cert; /**< PEM that the tls port shows, signed by itself; NULL without TLS */
	unsigned port, other, tls;
	struct ws_arena *a;
};

/** The program's server, as if it were new. */
struct ws_served ws_served_start(struct ws_arena *a);
/** With a third port with TLS for "localhost". */
struct ws_served ws_served_start_tls(struct ws_arena *a);
/** Ends it; the next start makes another one. */
void ws_served_kill(void);

/** "http://127.0.0.1:PORT" and @a path. */
const char *ws_served_url(const struct ws_served *s, const char *path);

/** Puts @a len bytes that follow a pattern at @a path below dir; returns them. */
const char *ws_served_put(const struct ws_served *s, const char *path, size_t len);

/** How many requests have @a text in their log line. */
unsigned ws_served_count(const struct ws_served *s, const char *text);

/** Patient enough for a busy machine; pauses of 10 ms, three retries, no netrc. */
struct ws_http_config ws_served_config(void);
/** The same, but 0.6 s without an answer and 0.4 s without progress are too long. */
struct ws_http_config ws_served_hasty(void);

/** A session with this configuration; NULL: the patient one. */
struct ws_http *ws_served_http(const struct ws_http_config *config);

static inline void
ws_auto_http(struct ws_http *const *http)
{
	ws_http_close(*http);
}

#define WS_AUTO_HTTP __attribute__((cleanup(ws_auto_http)))

#endif
