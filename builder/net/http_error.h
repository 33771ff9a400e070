/**
 * http_error.h - why a request failed, in plain words, and what to do about it
 *
 * One table of statuses and one of broken connections. Decides nothing.
 */
#ifndef WS_NET_HTTP_ERROR_H
#define WS_NET_HTTP_ERROR_H

#include "net/wire.h"

struct ws_http_error {
	const char *subject; /**< what was wanted: a file name or a URL that may be shown */
	const char *host;    /**< who was asked last */
	bool had_login;      /**< a user and password that we know went along, not netrc's */
	bool sending;        /**< something was to be changed there, not fetched */
	bool offline;        /**< no server was asked */
	unsigned attempts;
	const struct ws_transfer *transfer; /**< the last attempt; NULL when offline */
};

/** Sets a WS_ERR_FETCH error. Returns false. */
bool ws_http_error_explain(const struct ws_http_error *e, struct ws_err *err);

#endif
