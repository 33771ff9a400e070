/* get.c - one request into one buffer. */
#include "net/get.h"

#include "net/url.h"

struct getting {
	struct ws_request request; /* first */
	struct ws_buf *text;
	size_t limit_bytes;
	bool is_too_long;
};

static enum ws_begin
begin(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	ws_buf_clear(((struct getting *)request)->text);
	return WS_BEGIN_GO;
}

static bool
body(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct getting *g = (struct getting *)request;
	if (len > g->limit_bytes - g->text->len) {
		g->is_too_long = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is longer than %zu bytes, which is unexpected",
			request->subject, g->limit_bytes);
	}
	ws_buf_add(g->text, bytes, len);
	return true;
}

bool
ws_get_text(struct ws_http *http, struct ws_get *get, struct ws_arena *a, struct ws_buf *text,
	struct ws_err *err)
{
	struct getting g = {.text = text, .limit_bytes = get->limit_bytes};
	g.request = (struct ws_request){
		.url = get->url,
		.subject = get->subject ? get->subject : ws_url_shown(get->url, a),
		.accept = get->accept,
		.compressed = true,
		.begin = begin,
		.body = body,
		.final_in = a,
	};
	struct ws_request *const only = &g.request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	bool ok = ws_http_run(http, &batch, err);
	get->is_too_long = g.is_too_long;
	get->reply = g.request.reply;
	get->final_url = g.request.final_url;
	return ok;
}
