/* cmd_internal.c - wheelsmith internal: work that wheelsmith runs in a child of its own, to limit
 * it or to end it. Not in --help. */
#include "base/fs.h"
#include "cli/session.h"
#include "fetch/git.h"
#include "judge/order.h"
#include "kit/torch/export_lists.h"
#include "make/pack.h"

#include <sys/prctl.h>

static bool
sweep(struct ws_session *s, struct ws_err *err)
{
	if (s->argc != 2) {
		return ws_err_set(err, WS_ERR_USAGE, "internal sweep: DIR is missing");
	}
	ws_sweep_wait(STDIN_FILENO, s->argv[1]);
	return true;
}

/* As order.json in the current folder says (judge/order.h). */
static bool
verify(struct ws_session *s, struct ws_err *err)
{
	return ws_judge_run(&s->out, err);
}

static bool
pack(struct ws_session *s, struct ws_err *err)
{
	return ws_pack_run(&s->env, err);
}

/* VERSION DIR [MACHINE]: makes DIR/torch-VERSION.zst, or DIR/torch-VERSION-MACHINE.zst (./dev
 * exports). */
static bool
exports(struct ws_session *s, struct ws_err *err)
{
	const struct ws_machine *machine = ws_machine_named(s->argc == 4 ? s->argv[3] : "x86_64");
	if ((s->argc != 3 && s->argc != 4) || !machine) {
		return ws_err_set(err, WS_ERR_USAGE, "internal exports: VERSION and DIR are missing");
	}
	struct ws_version version;
	if (!ws_session_open_net(s, NULL, false, err)) {
		return false;
	}
	if (!ws_version_parse(s->argv[1], s->a, &version)) {
		return ws_err_set(err, WS_ERR_USAGE, "internal exports: '%s' is not a version", s->argv[1]);
	}
	WS_AUTO_FREE char *folder = realpath(s->argv[2], NULL);
	const char *path = ws_path_join(
		s->a, folder ? folder : "", ws_torch_exports_name(version.text, machine, s->a), NULL);
	return ws_torch_exports_make(&s->fetch, &s->facts, s->program, &version, machine, path, err);
}

/* The export list of libraries, as order.json says (kit/torch/export_lists.h). */
static bool
names(struct ws_session *s WS_UNUSED, struct ws_err *err)
{
	return ws_exports_child_run(err);
}

/* -- WORDS: completions of the last word, for the scripts in completions/. Each command answers
 * from its own table of options. */
static bool
complete(struct ws_session *s, struct ws_err *err)
{
	static const struct ws_option own[] = {
		{"version", 'V', WS_OPTION_FLAG, NULL, NULL, "the version"},
	};
	const struct ws_usage usage = {
		WS_OPTIONS(own), .synopsis = "", .common = s->common, .common_count = WS_COMMON_OPTIONS};
	s->completes = true;
	for (int i = 2; i + 1 < s->argc; i++) {
		for (size_t k = 0; k < s->command_count; k++) {
			if (strcmp(s->commands[k].name, s->argv[i]) == 0) {
				s->argc -= i;
				s->argv += i;
				return s->commands[k].run(s, err);
			}
		}
	}
	bool names = s->argc > 2 && !ws_options_complete(&usage, s->argc - 1, s->argv + 1, &s->out)
		&& s->argv[s->argc - 1][0] != '-';
	for (size_t k = 0; names && k < s->command_count; k++) {
		if (s->commands[k].help) {
			ws_out_result(&s->out, "%s\t%s\n", s->commands[k].name, s->commands[k].help);
		}
	}
	return true;
}

/* PATH URL COMMIT CA: brings a commit into the repository at PATH (fetch/git_child.c). */
static bool
git(struct ws_session *s, struct ws_err *err)
{
	return s->argc == 5
		? ws_git_child_run(s->argv[1], s->argv[2], s->argv[3], s->argv[4], err)
		: ws_err_set(err, WS_ERR_USAGE, "internal git: PATH, URL, COMMIT and CA are missing");
}

static const struct {
	const char *name;
	ws_command_run_fn run;
} entries[] = {
	{"complete", complete},
	{"exports", exports},
	{"git", git},
	{"names", names},
	{"pack", pack},
	{"sweep", sweep},
	{"verify", verify},
};

bool
ws_cmd_internal(struct ws_session *s, struct ws_err *err)
{
	/* Children end with their parent, except the sweeper, which cleans up after it. */
	if (s->argc > 1 && strcmp(s->argv[1], "sweep") != 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	for (size_t i = 0; s->argc > 1 && i < WS_LEN(entries); i++) {
		if (strcmp(entries[i].name, s->argv[1]) == 0) {
			s->argc--;
			s->argv++;
			return entries[i].run(s, err);
		}
	}
	return ws_err_set(err, WS_ERR_USAGE, "internal: unknown work");
}
