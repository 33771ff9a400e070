#include "net/http_error.h"

static const struct {
	unsigned status;
	const char *what; /* follows the name of the host */
} statuses[] = {
	{400, "rejected the request"},
	{401, "requires a login"},
	{403, "denies access"},
	{404, "does not have it"},
	{405, "denies access"},
	{407, "is behind a proxy that requires a login"},
	{408, "timed out waiting for the request"},
	{409, "has a file of this name already"},
	{410, "does not have it any more"},
	{413, "does not take a file of this size"},
	{416, "does not have the requested bytes"},
	{429, "reports too many requests"},
	{451, "may not serve it, for legal reasons"},
	{500, "failed"},
	{502, "cannot be reached by its gateway"},
	{503, "is overloaded"},
	{504, "is not answering its gateway"},
	{507, "has no space left"},
};

static void
cure_login(const char *host, bool sending, bool had_login, struct ws_err *err)
{
	if (sending && had_login) {
		ws_err_cure(err, "the user or password that was given is not right");
	} else if (sending) {
		ws_err_cure(err, "give a login for '%s', by netrc, environment or file", host);
	} else if (had_login) {
		ws_err_cure(err, "the user or password in the URL is not (or no longer) right");
	} else {
		ws_err_cure(err, "put it into ~/.netrc:  machine %s login NAME password SECRET", host);
		ws_err_cure(err,
			"or into the index URL (WHEELSMITH_INDEX, PIP_INDEX_URL):  "
			"https://NAME:SECRET@%s/...",
			host);
	}
}

/* The server is at fault. */
static void
cure_later(bool sending, struct ws_err *err)
{
	if (sending) {
		ws_err_cure(err, "run this again later; what arrived is not sent again");
		return;
	}
	ws_err_cure(err, "run this again later, or from another server");
	ws_err_cure_code(err, WS_CURE_INDEX, NULL);
}

static void
cure_status(const struct ws_transfer *t, const char *host, bool sending, struct ws_err *err)
{
	const struct ws_reply *reply = &t->reply;
	if (reply->status == 401 || (reply->status == 403 && sending)) {
		/* known to us, not one of netrc */
		cure_login(host, sending, t->user != NULL, err);
	} else if (reply->status == 403) {
		ws_err_cure(err,
			reply->with_login ? "it may not read this, or it has expired: give another, in the URL "
								"or by netrc"
							  : "a login that may read it is missing, or it is not there: some "
								"servers answer 403 for that");
	} else if (reply->status == 404 || reply->status == 410) {
		if (!sending) {
			ws_err_cure_code(err, WS_CURE_INDEX, NULL);
		}
	} else if (reply->status == 407) {
		ws_err_cure(
			err, "put the login into the proxy's URL:  https_proxy=http://NAME:SECRET@HOST:PORT");
	} else if (reply->retry_after_s > 0) {
		ws_err_cure(err, "the server asks for a retry after %u s", reply->retry_after_s);
	} else if (reply->status >= 500) {
		cure_later(sending, err);
	}
}

#define UNFINISHED "did not finish the transfer"
#define NETWORK "is there a network? behind a proxy, set https_proxy=http://HOST:PORT"

static const struct {
	const char *words; /* follow the name of the host */
	const char *cure;  /* NULL: none */
} ends[] = {
	[WS_WIRE_RUNNING] = {UNFINISHED, NULL},
	[WS_WIRE_COMPLETE] = {UNFINISHED, NULL},
	[WS_WIRE_DROPPED] = {UNFINISHED, NULL},
	[WS_WIRE_NO_HOST] = {"cannot be resolved", NETWORK},
	[WS_WIRE_NO_CONNECTION] = {"cannot be reached", NETWORK},
	[WS_WIRE_CUT] = {UNFINISHED, NULL},
	[WS_WIRE_BAD_CERTIFICATE] = {"has a certificate that is not trusted",
		"where a proxy re-signs traffic, name its certificates: "
		"SSL_CERT_FILE=/path/to/bundle.pem"},
	[WS_WIRE_BAD_CA] = {"cannot be trusted",
		"PIP_CERT, REQUESTS_CA_BUNDLE, SSL_CERT_FILE, CURL_CA_BUNDLE or pip's 'cert' "
		"names a file that cannot be read"},
	[WS_WIRE_BAD_PROXY] = {"cannot be reached: the proxy refused",
		"look at https_proxy and no_proxy; a login goes into the URL:  "
		"https_proxy=http://NAME:SECRET@HOST:PORT"},
	[WS_WIRE_NO_PROXY] = {"cannot be reached",
		"look at https_proxy, http_proxy and all_proxy; in a password ':', '/', '#', '?' and "
		"'@' are written %3A, %2F, %23, %3F and %40"},
	[WS_WIRE_BAD_BODY] = {"lost the upload: the file changed or became unreadable", NULL},
};

bool
ws_request_is_sending(const struct ws_request *request)
{
	return request->method && strcmp(request->method, "GET") != 0;
}

bool
ws_http_error_explain(const struct ws_request *request, const char *subject, const char *host,
	const struct ws_transfer *t, struct ws_err *err)
{
	bool sending = ws_request_is_sending(request);
	const char *verb = sending ? "upload" : "fetch";
	if (!t) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' is missing, and this run is offline", subject);
		return ws_err_cure_code(err, WS_CURE_FETCH, NULL);
	}
	const struct ws_reply *reply = &t->reply;
	if (t->end == WS_WIRE_COMPLETE || (t->end == WS_WIRE_DROPPED && reply->complete)) {
		const char *words = "sent an unusable response";
		for (size_t i = 0; i < WS_LEN(statuses); i++) {
			words = statuses[i].status == reply->status ? statuses[i].what : words;
		}
		words = reply->status == 401 && t->user         ? "refuses this login"
			: reply->status == 403 && reply->with_login ? "denies access to this login"
														: words;
		ws_err_set(err, WS_ERR_FETCH, "cannot %s '%s': '%s' %s (%u)", verb, subject, host, words,
			reply->status);
		cure_status(t, host, sending, err);
	} else {
		ws_err_set(err, WS_ERR_FETCH, "cannot %s '%s': '%s' %s: %s", verb, subject, host,
			ends[t->end].words, t->fault);
		if (ends[t->end].cure) {
			ws_err_cure(err, "%s", ends[t->end].cure);
		}
		if ((t->end == WS_WIRE_NO_HOST || t->end == WS_WIRE_NO_CONNECTION) && !sending) {
			ws_err_cure_code(err, WS_CURE_INDEX, NULL);
		} else if (t->end == WS_WIRE_DROPPED || t->end == WS_WIRE_CUT) {
			cure_later(sending, err);
		}
	}
	if (request->attempts > 1) {
		ws_err_cure(err, "it was tried %u times", request->attempts);
	}
	return false;
}
