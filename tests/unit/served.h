/**
 * served.h - a real server on loopback for a test: support/fault_server.py
 *
 * Started as a child, ends with the test or with the program. Fails the test when it does not
 * start. Takes proxies out of the environment, so that loopback is loopback.
 */
#ifndef WS_TESTS_UNIT_SERVED_H
#define WS_TESTS_UNIT_SERVED_H

#include "net/http.h"
#include "sys/spawn.h"

struct ws_served {
	struct ws_child child;
	int hold;         /**< the server's stdin: it ends when this closes */
	const char *dir;  /**< what is served */
	const char *log;  /**< one JSON line a request */
	const char *cert; /**< PEM that the tls port shows, signed by itself; NULL without TLS */
	unsigned port, other, tls;
	struct ws_arena *a;
};

struct ws_served ws_served_start(struct ws_arena *a);
/** With a third port that speaks TLS as "localhost". */
struct ws_served ws_served_start_tls(struct ws_arena *a);
void ws_served_stop(struct ws_served *s);

#define WS_AUTO_SERVED __attribute__((cleanup(ws_served_stop)))

/** "http://127.0.0.1:PORT" and @a path. */
const char *ws_served_url(const struct ws_served *s, const char *path);

/** Puts @a len bytes that follow a pattern at @a path below dir; returns them. */
const char *ws_served_put(const struct ws_served *s, const char *path, size_t len);

/** How many requests have @a text in their log line. */
unsigned ws_served_count(const struct ws_served *s, const char *text);

/** Quick to lose patience: 0.4 s for an answer, stalls after 0.3 s, pauses of 10 ms, no netrc. */
struct ws_http_config ws_served_config(void);

/** A session with that configuration, or one of the test's. */
struct ws_http *ws_served_http(const struct ws_http_config *config);

static inline void
ws_auto_http(struct ws_http *const *http)
{
	ws_http_close(*http);
}

#define WS_AUTO_HTTP __attribute__((cleanup(ws_auto_http)))

#endif
