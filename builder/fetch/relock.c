/* relock.c - one sentence for everything that is pinned. */
#include "fetch/relock.h"

bool
ws_relock_cure(const struct ws_fetch *fetch, const char *name, struct ws_err *err)
{
	const char *command = fetch && fetch->lock_command ? fetch->lock_command : "wheelsmith lock";
	return ws_err_cure(err, "if that is as it should be:  %s%s%s", command,
		name ? " --update " : "", name ? name : "");
}
