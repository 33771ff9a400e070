/**
 * wheelsmith - verified wheels of CUDA extensions from a build matrix
 *
 * This file is the map and the table of commands. The folders, in the order of their part in a
 * wheel:
 *
 *   config/    reads what people write into plain structs         model/     those structs
 *   recipe/    a recipe at one point: units, flags, Python files, problems
 *   plan/      multiplies axes, excludes cells with reasons, adds up costs; no I/O
 *   prebuilt/  candidates of indexes and folders: list, rank, try
 *   kit/       compilers, torch, CUDA and Python: on this host or from archives
 *   fetch/     sources; with  net/ (HTTP, indexes, gRPC)  and  archive/ (zip, tar, deb)
 *   make/      resolves a product, makes its actions and its supply
 *   compile/   turns units into actions: torch's flags, nvcc's steps, headers, links
 *   engine/    runs actions: keys, budget, resume; independent of wheels
 *   store/     files by digest, results by key, trees, the ledger
 *   remote/    shared results and build farms              exec/      the program that runs on a worker
 *   elf/ verify/ judge/   needs of a module, verdicts on modules and wheels, facts about a wheel
 *   wheelfile/ reads wheels                                wheel/     writes METADATA, RECORD, a reproducible zip
 *   dist/      the output folder                           produce/   runs one selection from plan to wheels
 *   bundle/    one file with all that a selection needs    report/    plans, failures and progress for people and programs
 *   publish/   package indexes: paths, pages, snapshots, signatures
 *   draft/     proposes a recipe from the text of a setup.py
 *   explain/   causes of known errors                      doctor/    this host and its installed extensions
 *   cli/       one file for each command                   base/ sys/ the ground
 *
 * builder/LAYERS lists which folder may include which; ARCHITECTURE.md explains the design.
 */
#include "cli/selecting.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sys/resource.h>

static const struct ws_command commands[] = {
	{"build", ws_cmd_build, "make the wheels of a matrix, or of one package", true},
	{"plan", ws_cmd_plan, "show what would happen to every cell, why, at what cost", true},
	{"fetch", ws_cmd_fetch, "download everything a build needs into the store", true},
	{"lock", ws_cmd_lock, "pin sources, kits and torch wheels", true},
	{"verify", ws_cmd_verify, "say whether wheels load in a torch, and why not", false},
	{"publish", ws_cmd_publish, "make a package index of wheels, of static files", true},
	{"shell", ws_cmd_shell, "open a shell where a cell's command runs", true},
	{"inspect", ws_cmd_inspect, "show what a wheel is: names, RECORD, ABI, GPU code", false},
	{"doctor", ws_cmd_doctor, "check this host: compilers, CUDA, Pythons, GPUs", false},
	{"explain", ws_cmd_explain, "say what an error means, and what cures it", false},
	{"cache", ws_cmd_cache, "look after the store: sizes, damage, room, sharing", false},
	{"recipe", ws_cmd_recipe, "check recipes, or draft one", false},
	{"internal", ws_cmd_internal, NULL, false},
};

static void
print_help(struct ws_session *s)
{
	struct ws_usage usage = {
		.command = "",
		.synopsis = "COMMAND [options]",
		.summary = "Verified wheels of CUDA extensions from a build matrix.",
		WS_OPTIONS(s->common),
	};
	ws_options_help(&usage, &s->out);
	for (size_t i = 0; i < WS_LEN(commands); i++) {
		if (commands[i].help) {
			ws_out_result(&s->out, "  %-12s %s\n", commands[i].name, commands[i].help);
		}
	}
	ws_out_result(&s->out, "more: wheelsmith COMMAND --help, man wheelsmith\n");
}

static bool
run_command(struct ws_session *s, ws_words words, struct ws_err *err)
{
	/* "help", "help build", "help recipe check": the same as --help. */
	if (strcmp(words.at[0], "help") == 0) {
		if (words.len == 1) {
			print_help(s);
			return true;
		}
		*ws_vec_push(&words, s->a) = "--help";
		words.at++;
		words.len--;
	}
	s->argc = (int)words.len;
	s->argv = words.at;
	const char *name = words.at[0];
	const char *names[WS_LEN(commands)];
	size_t shown = 0;
	for (size_t i = 0; i < WS_LEN(commands); i++) {
		if (strcmp(commands[i].name, name) == 0) {
			if (commands[i].run(s, err)) {
				return true;
			}
			/* A failure after a signal or the deadline is caused by it: a child was ended, a
			 * request cancelled. An error that already names the stop also names the place. */
			bool stopped = ws_stop_asked(&s->stop);
			if (stopped && !ws_err_is_stop(err)) {
				ws_stop_err(&s->stop, err);
			}
			return stopped && commands[i].resumes
				? ws_err_cure(err, "finished work is kept: the same command continues from there")
				: false;
		}
		if (commands[i].help) {
			names[shown++] = commands[i].name;
		}
	}
	ws_err_set(err, WS_ERR_USAGE, "unknown command '%s'", name);
	const char *near = ws_suggest(name, names, shown);
	if (near) {
		ws_err_cure(err, "did you mean `wheelsmith %s`?", near);
	}
	return ws_err_cure(err, "`wheelsmith --help` lists the commands");
}

/* Options before the command are common options. */
static bool
run(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	bool version = false;
	const struct ws_option own[] = {
		{"version", 'V', WS_OPTION_FLAG, &version, NULL, "the version"},
	};
	struct ws_usage usage = {.command = "",
		.synopsis = "COMMAND",
		WS_OPTIONS(own),
		.common = s->common,
		.common_count = WS_COMMON_OPTIONS};
	ws_words words = {0};
	bool parsed = ws_options_parse(&usage, argc, argv, true, s->a, &words, err);
	if (!parsed && err->kind != WS_ERR_NONE) {
		return false;
	}
	if (version) {
		ws_out_result(&s->out, "wheelsmith %s\n", WS_VERSION);
		return true;
	}
	if (words.len == 0) {
		print_help(s);
		return parsed ? ws_err_set(err, WS_ERR_USAGE, "no command given") : false;
	}
	return run_command(s, words, err);
}

static int
start(int argc, char **argv)
{
	char program[PATH_MAX] = "";
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) {
		strncpy(program, argv[0], sizeof(program) - 1);
	}
	struct ws_session session;
	struct ws_err err = {0};
	ws_session_init(&session, program);
	session.commands = commands;
	session.command_count = WS_LEN(commands);
	bool done = run(&session, argc, (const char *const *)argv, &err);
	/* Lost output fails the command, unless it failed already. */
	struct ws_err lost;
	if (!ws_out_flush(&session.out, &lost)) {
		err = done || err.kind == WS_ERR_NONE || err.kind == WS_ERR_NEGATIVE ? lost : err;
		done = false;
	}
	bool reader_left = ferror(session.out.out) && ws_out_is_broken(&session.out);
	if (!done && err.kind != WS_ERR_NONE && err.text[0] && !reader_left) {
		ws_cures_word(&session, &err);
		ws_out_error(&session.out, &err);
	}
	ws_session_close(&session);
	if (reader_left) {
		signal(SIGPIPE, SIG_DFL); /* after cleaning up, end by the signal like other programs */
		raise(SIGPIPE);
	}
	return done ? 0 : ws_err_exit_code(err.kind);
}

int
main(int argc, char **argv)
{
	static const char stack[] = "error: the stack is limited to less than 1 MiB\n"
								"       raise the limit:  ulimit -s 8192\n";
	static const char files[] = "error: open files are limited to fewer than 64\n"
								"       raise the limit:  ulimit -n 4096\n";
	struct ws_str small = {0};
	if (!ws_limit_raise(RLIMIT_STACK, (uint64_t)1 << 20, (uint64_t)8 << 20)) {
		small = (struct ws_str){stack, sizeof(stack) - 1};
	} else if (!ws_limit_raise(RLIMIT_NOFILE, 64, 4096)) {
		small = (struct ws_str){files, sizeof(files) - 1};
	}
	if (small.s) {
		ssize_t written = write(STDERR_FILENO, small.s, small.n);
		return ws_err_exit_code(written < 0 ? WS_ERR_INTERNAL : WS_ERR_IO);
	}
	/* A closed standard stream stays one that cannot be written to: no file may take its number. */
	int fd;
	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	umask(umask(0) | S_IWOTH); /* other users must not be able to change the store */
	/* By default glibc keeps freed blocks up to the size of the largest freed one; return archives
	 * and listings. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	/* Writes fail instead, and the writer reports it. Children get both signals back. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return start(argc, argv);
}
