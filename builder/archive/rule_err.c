#include "archive/rule_err.h"

#include "base/text.h"

#include <stdio.h>

bool
ws_rule_err(struct ws_err *err, const char *archive, const char *what, const char *rule,
	const char *member, const char *format, va_list values)
{
	char detail[400];
	char place[300] = "";
	vsnprintf(detail, sizeof(detail), format, values);
	ws_utf8_make_plain(detail, false);
	if (member) {
		snprintf(place, sizeof(place), " at '%.250s'", member);
		ws_utf8_make_plain(place, false);
	}
	return ws_err_set(err, WS_ERR_FETCH, "'%s' breaks the %s rule '%s'%s: %s", archive, what, rule,
		place, detail);
}
