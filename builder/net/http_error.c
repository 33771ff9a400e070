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

static const char *
words_for(unsigned status)
{
	for (size_t i = 0; i < WS_LEN(statuses); i++) {
		if (statuses[i].status == status) {
			return statuses[i].what;
		}
	}
	return "sent an unusable response";
}

/* "fetch" or "upload". */
static const char *
verb_of(const struct ws_http_error *e)
{
	return e->sending ? "upload" : "fetch";
}

static void
cure_login(const struct ws_http_error *e, struct ws_err *err)
{
	if (e->sending) {
		ws_err_cure(err,
			e->had_login ? "the user or password that was given is not right"
						 : "give a login for '%s', by netrc, environment or file",
			e->host);
		return;
	}
	if (e->had_login) {
		ws_err_cure(err, "the user or password in the URL is not (or no longer) right");
		return;
	}
	ws_err_cure(err, "put it into ~/.netrc:  machine %s login NAME password SECRET", e->host);
	ws_err_cure(err,
		"or into the index URL (WHEELSMITH_INDEX, PIP_INDEX_URL):  "
		"https://NAME:SECRET@%s/...",
		e->host);
}

/* The server is at fault. */
static void
cure_later(const struct ws_http_error *e, struct ws_err *err)
{
	if (e->sending) {
		ws_err_cure(err, "run this again later; what arrived is not sent again");
		return;
	}
	ws_err_cure(err, "run this again later, or from another server");
	ws_err_cure_code(err, WS_CURE_INDEX, NULL);
}

static void
cure_status(const struct ws_http_error *e, struct ws_err *err)
{
	const struct ws_reply *reply = &e->transfer->reply;
	switch (reply->status) {
	case 401:
		cure_login(e, err);
		break;
	case 403:
		if (e->sending) {
			cure_login(e, err);
			break;
		}
		ws_err_cure(err,
			reply->with_login ? "it may not read this, or it has expired: give another, in the URL "
								"or by netrc"
							  : "a login that may read it is missing, or it is not there: some "
								"servers answer 403 for that");
		break;
	case 404:
	case 410:
		if (!e->sending) {
			ws_err_cure_code(err, WS_CURE_INDEX, NULL);
		}
		break;
	case 407:
		ws_err_cure(
			err, "put the login into the proxy's URL:  https_proxy=http://NAME:SECRET@HOST:PORT");
		break;
	default:
		if (reply->retry_after_s > 0) {
			ws_err_cure(err, "the server asks for a retry after %u s", reply->retry_after_s);
		} else if (reply->status >= 500) {
			cure_later(e, err);
		}
		break;
	}
}

static bool
explain_status(const struct ws_http_error *e, struct ws_err *err)
{
	const struct ws_reply *reply = &e->transfer->reply;
	ws_err_set(err, WS_ERR_FETCH, "cannot %s '%s': '%s' %s (%u)", verb_of(e), e->subject, e->host,
		reply->status == 401 && e->had_login            ? "refuses this login"
			: reply->status == 403 && reply->with_login ? "denies access to this login"
														: words_for(reply->status),
		reply->status);
	cure_status(e, err);
	return false;
}

static void
cure_wire(const struct ws_http_error *e, struct ws_err *err)
{
	switch (e->transfer->end) {
	case WS_WIRE_NO_HOST:
	case WS_WIRE_NO_CONNECTION:
		ws_err_cure(err, "is there a network? behind a proxy, set https_proxy=http://HOST:PORT");
		if (!e->sending) {
			ws_err_cure_code(err, WS_CURE_INDEX, NULL);
		}
		break;
	case WS_WIRE_BAD_CERTIFICATE:
		ws_err_cure(err,
			"where a proxy re-signs traffic, name its certificates: "
			"SSL_CERT_FILE=/path/to/bundle.pem");
		break;
	case WS_WIRE_BAD_CA:
		ws_err_cure(err,
			"PIP_CERT, REQUESTS_CA_BUNDLE, SSL_CERT_FILE, CURL_CA_BUNDLE or pip's 'cert' "
			"names a file that cannot be read");
		break;
	case WS_WIRE_BAD_PROXY:
		ws_err_cure(err,
			"look at https_proxy and no_proxy; a login goes into the URL:  "
			"https_proxy=http://NAME:SECRET@HOST:PORT");
		break;
	case WS_WIRE_NO_PROXY:
		ws_err_cure(err,
			"look at https_proxy, http_proxy and all_proxy; in a password ':', '/', '#', '?' and "
			"'@' "
			"are written %%3A, %%2F, %%23, %%3F and %%40");
		break;
	case WS_WIRE_DROPPED:
	case WS_WIRE_CUT:
		cure_later(e, err);
		break;
	case WS_WIRE_RUNNING:
	case WS_WIRE_COMPLETE:
	case WS_WIRE_BAD_BODY:
		break;
	}
}

static bool
explain_wire(const struct ws_http_error *e, struct ws_err *err)
{
	static const char *const words[] = {
		[WS_WIRE_RUNNING] = "did not finish the transfer",
		[WS_WIRE_COMPLETE] = "did not finish the transfer",
		[WS_WIRE_DROPPED] = "did not finish the transfer",
		[WS_WIRE_NO_HOST] = "cannot be resolved",
		[WS_WIRE_NO_CONNECTION] = "cannot be reached",
		[WS_WIRE_CUT] = "did not finish the transfer",
		[WS_WIRE_BAD_CERTIFICATE] = "has a certificate that is not trusted",
		[WS_WIRE_BAD_CA] = "cannot be trusted",
		[WS_WIRE_BAD_PROXY] = "cannot be reached: the proxy refused",
		[WS_WIRE_NO_PROXY] = "cannot be reached",
		[WS_WIRE_BAD_BODY] = "lost the upload: the file changed or became unreadable",
	};
	const struct ws_transfer *t = e->transfer;
	ws_err_set(err, WS_ERR_FETCH, "cannot %s '%s': '%s' %s: %s", verb_of(e), e->subject, e->host,
		words[t->end], t->fault);
	cure_wire(e, err);
	return false;
}

bool
ws_http_error_explain(const struct ws_http_error *e, struct ws_err *err)
{
	if (e->offline) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' is missing, and this run is offline", e->subject);
		return ws_err_cure_code(err, WS_CURE_FETCH, NULL);
	}
	bool answered = e->transfer->end == WS_WIRE_COMPLETE
		|| (e->transfer->end == WS_WIRE_DROPPED && e->transfer->reply.complete);
	if (answered) {
		explain_status(e, err);
	} else {
		explain_wire(e, err);
	}
	if (e->attempts > 1) {
		ws_err_cure(err, "it was tried %u times", e->attempts);
	}
	return false;
}
