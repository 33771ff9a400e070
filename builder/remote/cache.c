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
}
