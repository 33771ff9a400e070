/**
 * http_error.h - messages and cures for failed requests
 *
 * One table of statuses and one of broken connections. Cures are for mirrors, proxies and logins.
 */
#ifndef WS_NET_HTTP_ERROR_H
#define WS_NET_HTTP_ERROR_H

#include "net/wire.h"

struct ws_http_error {
	const char *subject; /**< a file name, or a URL without its login */
	const char *host;    /**< the last host */
	bool had_login;      /**< a known login was sent, not one of netrc */
	bool sending;        /**< the request was to change something, not to fetch */
	bool offline;        /**< no request was sent */
	unsigned attempts;
	const struct ws_transfer *transfer; /**< the last attempt; NULL when offline */
};

/** Sets a WS_ERR_FETCH error. Returns false. */
bool ws_http_error_explain(const struct ws_http_error *e, struct ws_err *err);

#endif
