#include "remote/cache.h"

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
