/* log_says.c - the phrases. */
#include "compile/log_says.h"

#include <stdbool.h>
#include <string.h>

/* gcc: "Killed signal terminated program cc1plus"; nvcc: "'cicc' died due to signal 9"; a shell:
 * "Killed" alone on a line. */
static bool
says_killed(const char *tail)
{
	return strstr(tail, "Killed signal terminated program") || strstr(tail, "died due to signal 9 ")
		|| strstr(tail, "\nKilled\n") || strncmp(tail, "Killed\n", 7) == 0;
}

/* gcc: "internal compiler error: Segmentation fault"; nvcc: "'cicc' died due to signal 11". */
static bool
says_crashed(const char *tail)
{
	return strstr(tail, "internal compiler error") || strstr(tail, "internal error: assertion")
		|| strstr(tail, "died due to signal");
}

enum ws_log_says
ws_compile_log_says(const char *tail)
{
	if (says_killed(tail)) {
		return WS_LOG_SAYS_KILLED;
	}
	return says_crashed(tail) ? WS_LOG_SAYS_CRASHED : WS_LOG_SAYS_NOTHING;
}
