/**
 * http_error.h - messages and cures for failed requests
 *
 * One table of statuses and one of broken connections. Cures are for mirrors, proxies and logins.
 */
#ifndef WS_NET_HTTP_ERROR_H
#define WS_NET_HTTP_ERROR_H

#include "net/http.h"
#include "net/wire.h"

/** The request is to change something, not to fetch. GET as its method only forbids redirects. */
bool ws_request_is_sending(const struct ws_request *request);

/**
 * Sets a WS_ERR_FETCH error and returns false. @a subject: a file name, or a URL without its login.
 * @a host: the last one. @a t: the last attempt; NULL: no request was sent, the run is offline.
 */
bool ws_http_error_explain(const struct ws_request *request, const char *subject, const char *host,
	const struct ws_transfer *t, struct ws_err *err);

#endif
