/* command.c - what all commands do first. */
#include "cli/command.h"

bool
ws_command_options(struct ws_session *s, struct ws_usage *usage, int argc, const char *const *argv,
	ws_words *words, struct ws_err *err)
{
	usage->common = ws_session_options(s, &usage->common_count);
	if (s->completes) {
		ws_options_complete(usage, argc, argv, &s->out);
		*err = (struct ws_err){0};
		return false;
	}
	switch (ws_options_parse(usage, argc, argv, false, s->a, words, err)) {
	case WS_OPTIONS_OK:
		return true;
	case WS_OPTIONS_HELP:
		ws_options_help(usage, &s->out);
		*err = (struct ws_err){0};
		return false;
	case WS_OPTIONS_ERROR:
		break;
	}
	return false;
}
