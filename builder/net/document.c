/* document.c - one request into one buffer. */
#include "net/document.h"

#include "net/url.h"

struct get {
	struct ws_request request; /* first */
	struct ws_buf *text;
	size_t limit_bytes;
	bool is_too_long;
};

static enum ws_begin
begin(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	ws_buf_clear(((struct get *)request)->text);
	return WS_BEGIN_GO;
}

static bool
body(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct get *g = (struct get *)request;
	if (len > g->limit_bytes - g->text->len) {
		g->is_too_long = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is longer than %zu bytes, which is unexpected",
			request->subject, g->limit_bytes);
	}
	ws_buf_add(g->text, bytes, len);
	return true;
}

bool
ws_document_get(struct ws_http *http, struct ws_document *document, struct ws_arena *a,
	struct ws_buf *text, struct ws_err *err)
{
	struct get g = {.text = text, .limit_bytes = document->limit_bytes};
	g.request = (struct ws_request){
		.url = document->url,
		.subject = document->subject ? document->subject : ws_url_shown(document->url, a),
		.accept = document->accept,
		.compressed = true,
		.begin = begin,
		.body = body,
		.final_in = a,
	};
	struct ws_request *const only = &g.request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	bool ok = ws_http_run(http, &batch, err);
	document->is_too_long = g.is_too_long;
	document->reply = g.request.reply;
	document->final_url = g.request.final_url;
	return ok;
}
