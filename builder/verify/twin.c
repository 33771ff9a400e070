/* twin.c - see twin.h. */
#include "verify/twin.h"

#include "base/buf.h"

#include <string.h>

const char *
ws_twin_text(const char *text, struct ws_arena *a)
{
	static const char *const marks[] = {"__cxx11::", "[abi:cxx11]"};
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*text) {
		size_t skip = 0;
		for (size_t i = 0; i < WS_LEN(marks); i++) {
			skip = ws_starts_with(text, marks[i]) ? strlen(marks[i]) : skip;
		}
		if (skip == 0) {
			ws_buf_putc(&out, *text++);
		}
		text += skip;
	}
	return ws_buf_copy(&out, a);
}

size_t
ws_twin_agreed(const char *name)
{
	static const char *const ends[] = {"NSt7__cxx11", "B5cxx11", "Ss", "E"};
	size_t least = strlen(name);
	for (size_t i = 0; i < WS_LEN(ends); i++) {
		const char *found = strstr(name, ends[i]);
		if (found && (size_t)(found - name) < least) {
			least = (size_t)(found - name);
		}
	}
	return least;
}
