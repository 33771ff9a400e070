/**
 * preconnect.h - finds out at once which of several servers answer
 *
 * For an impatient session (http.h), before its first request: servers without an answer cost its
 * first_byte_ms together, and not each.
 */
#ifndef WS_NET_PRECONNECT_H
#define WS_NET_PRECONNECT_H

#include "net/http.h"

/**
 * Asks the server of each URL for a byte of it, each server once, all at the same time. What they
 * say does not matter; ws_http_is_silent tells who said nothing. One server alone is not asked: its
 * first request will show. False only when the run is to stop.
 */
bool ws_http_preconnect(
	struct ws_http *http, const char *const *urls, size_t count, struct ws_err *err);

#endif
