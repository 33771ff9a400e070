/* rule_err.c - see rule_err.h. */
#include "archive/rule_err.h"

#include <stdio.h>

static void
make_printable(char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c >= 0x7f) {
			*text = '?';
		}
	}
}

bool
ws_rule_err(struct ws_err *err, const char *archive, const char *what, const char *rule,
	const char *member, const char *format, va_list values)
{
	char detail[400];
	char place[300] = "";
	vsnprintf(detail, sizeof(detail), format, values);
	make_printable(detail);
	if (member) {
		snprintf(place, sizeof(place), " at '%.250s'", member);
		make_printable(place);
	}
	return ws_err_set(err, WS_ERR_FETCH, "'%s' breaks the %s rule '%s'%s: %s", archive, what, rule,
		place, detail);
}
