#include "cli/command.h"
bool
ws_cmd_doctor(struct ws_session *s WS_UNUSED, int argc WS_UNUSED, const char *const *argv WS_UNUSED,
	struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_USAGE, "later");
}
