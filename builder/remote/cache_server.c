#include "remote/cache_server.h"

#include <stdarg.h>
#include <stdio.h>

void
ws_item_say(struct ws_item *item, enum ws_came came, const char *format, ...)
{
	va_list values;
	item->came = came;
	va_start(values, format);
	vsnprintf(item->failure, sizeof(item->failure), format, values);
	va_end(values);
	for (char *c = item->failure; *c; c++) {
		*c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c; /* a server's words, for a terminal */
	}
}

bool
ws_cache_put_all(struct ws_remote_cache *cache, struct ws_item *items, size_t count,
	const char *server, struct ws_err *err)
{
	if (!cache->put_files(cache, items, count)) {
		return ws_err_set(err, WS_ERR_FETCH, "%s was not waited for", server);
	}
	for (size_t i = 0; i < count; i++) {
		if (items[i].came != WS_CAME_WHOLE) {
			return ws_err_set(err, WS_ERR_FETCH, "%s did not take a file: %s", server,
				items[i].failure[0] ? items[i].failure : "it gave no reason");
		}
	}
	return true;
}
