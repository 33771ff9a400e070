/* preconnect.c - one request of a byte for each server, in one batch. */
#include "net/preconnect.h"

#include "base/arena.h"
#include "net/url.h"

static bool
ignore(struct ws_request *request WS_UNUSED, const void *bytes WS_UNUSED, size_t len WS_UNUSED,
	struct ws_err *err)
{
	/* A server that sends the whole has answered as well. */
	return ws_err_set(err, WS_ERR_FETCH, "enough");
}

bool
ws_http_preconnect(struct ws_http *http, const char *const *urls, size_t count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_map servers = {0};
	struct ws_request *requests = WS_NEW_N(a, struct ws_request, count + 1);
	struct ws_request **list = WS_NEW_N(a, struct ws_request *, count + 1);
	struct ws_err ignored = {0};
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct ws_url url;
		if (ws_url_parse(urls[i], a, &url, NULL) && ws_map_add(&servers, url.origin, a)) {
			requests[used] = (struct ws_request){.url = urls[i], .range = "0-0", .body = ignore};
			list[used] = &requests[used];
			used++;
		}
	}
	struct ws_batch batch = {
		.requests = list, .count = used, .at_once = (unsigned)used, .each = true};
	if (used < 2 || ws_http_run(http, &batch, &ignored) || !ws_err_is_stop(&ignored)) {
		return true;
	}
	if (err) {
		*err = ignored;
	}
	return false;
}
