/* cmd_internal.c - what wheelsmith starts itself for: work that must not run in its address space or
 * on its clock. Not for people; not in --help. */
#include "build/judge.h"
#include "build/pack.h"
#include "cli/command.h"
#include "sys/sweep.h"

#include <string.h>
#include <unistd.h>

static bool
sweep(struct ws_session *s WS_UNUSED, int argc, const char *const *argv, struct ws_err *err)
{
	if (argc != 2) {
		return ws_err_set(err, WS_ERR_USAGE, "internal sweep: DIR is missing");
	}
	ws_sweep_wait(STDIN_FILENO, argv[1]);
	return true;
}

static bool
check(
	struct ws_session *s, int argc WS_UNUSED, const char *const *argv WS_UNUSED, struct ws_err *err)
{
	return ws_judge_run(&s->out, err);
}

static bool
pack(struct ws_session *s WS_UNUSED, int argc WS_UNUSED, const char *const *argv WS_UNUSED,
	struct ws_err *err)
{
	return ws_pack_run(err);
}

struct entry {
	const char *name;
	ws_command_run_fn run;
};

static const struct entry entries[] = {
	{"check", check},
	{"pack", pack},
	{"sweep", sweep},
};

bool
ws_cmd_internal(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	for (size_t i = 0; argc > 1 && i < WS_LEN(entries); i++) {
		if (strcmp(entries[i].name, argv[1]) == 0) {
			return entries[i].run(s, argc - 1, argv + 1, err);
		}
	}
	return ws_err_set(err, WS_ERR_USAGE, "internal: no such work");
}
