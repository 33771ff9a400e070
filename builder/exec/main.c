/**
 * main.c - wheelsmith-exec: runs one action on a worker of a build farm
 *
 * The Remote Execution API does not provide the folder of a run, and only the worker can find
 * what a compiler read. So this small static program is sent with every action. It compares the
 * compiler's files with their digests, runs the order (engine/remote_order.h) as engine/local.c
 * would, and writes log and report. The inputs are in place already.
 *
 * Exit status: the command's; 128 plus the signal that ended it; 75 if the worker's compiler
 * differs; 70 if the order cannot be run. --probe and --names report about the host instead.
 */
#include "base/fs.h"
#include "compile/header_reads.h"
#include "engine/changed_since.h"
#include "engine/remote_order.h"
#include "kit/hostcc/compiler_list_text.h"
#include "sys/child.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#define OTHER_HOST 75
#define NOT_RUN 70

static bool
print_error(const struct ws_err *err)
{
	fprintf(stderr, "wheelsmith-exec: %s\n", err->text);
	return false;
}

/* Like ws_work_prepare; inputs are in place. */
static bool
prepare_folder(
	const struct ws_action *action, const char *work, struct ws_arena *a, struct ws_err *err)
{
	if (!ws_fs_mkdirs(ws_path_join(a, work, "tmp", NULL), err)) {
		return false;
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		const char *place = ws_path_join(a, work, action->mounts[i].name, NULL);
		if (symlink(action->mounts[i].path, place) < 0 && errno != EEXIST) {
			return ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", place);
		}
	}
	for (size_t i = 0; i < action->output_count; i++) {
		const char *place = ws_path_join(a, work, action->outputs[i], NULL);
		if (!ws_fs_mkdirs(ws_path_dir(a, place), err)) {
			return false;
		}
	}
	return true;
}

static bool
run_command(const struct ws_action *action, const char *work, int log, struct ws_arena *a,
	struct ws_report *report, int64_t *started_file_ns, struct ws_err *err)
{
	struct ws_spawn spawn = {
		.program = ws_action_program(action, work, a),
		.argv = ws_action_words(action, action->argv, work, a),
		.env = ws_action_words(action, action->env, work, a),
		.dir = work,
		.is_in_our_group = true, /* the worker ends this program and its children together */
		.in = -1,
		.out = log,
		.err = log,
	};
	struct ws_child child;
	int64_t began_ms = ws_clock_ms();
	*started_file_ns = ws_clock_file_ns();
	if (!ws_spawn_start(&spawn, &child, err)) {
		return false;
	}
	struct pollfd ended = {.fd = child.pidfd, .events = POLLIN};
	while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
	}
	struct ws_exit end = ws_spawn_reap(&child);
	report->code = end.signal ? 0 : end.code;
	report->signal = end.signal;
	report->wall_ms = (uint64_t)(ws_clock_ms() - began_ms);
	report->cpu_ms = end.cpu_ms;
	report->rss_bytes = end.max_rss_bytes;
	return true;
}

/* Traces what was read, with digests of this host. */
static bool
trace_reads(const struct ws_action *action, const char *work, const char *log,
	int64_t started_file_ns, struct ws_arena *a, struct ws_report *report, struct ws_err *err)
{
	struct ws_reads *reads = &report->reads;
	if (report->code != 0 || report->signal != 0 || action->search_count == 0) {
		return true; /* no search folders: it reads its inputs only */
	}
	if (!ws_headers_reads(action, work, log, a, reads, err)) {
		return false;
	}
	for (size_t i = 0; i < reads->files.len; i++) {
		const char *name = reads->files.at[i];
		struct ws_digest digest;
		if (!ws_names_is_outside(action, name)) {
			continue;
		}
		if (!ws_digest_file(ws_names_path(action, name, a), &digest, NULL, err)) {
			return false;
		}
		ws_map_put(&report->outside, name, ws_arena_strdup(a, digest.hex), a);
	}
	/* The digests were taken after the command: a file that changed since its start may not be
	 * what it read. */
	struct ws_since since = {started_file_ns, started_file_ns};
	report->changed = ws_changed_since(action, reads, &since, a);
	return true;
}

static bool
carry_out(const struct ws_action *action, const char *folder, struct ws_arena *a,
	struct ws_report *report, struct ws_err *err)
{
	const char *work = ws_path_join(a, folder, WS_REMOTE_WORK, NULL);
	const char *log_path = ws_path_join(a, folder, WS_REMOTE_LOG, NULL);
	WS_AUTO_FD int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", log_path);
	}
	for (size_t i = 0; i < action->host_file_count; i++) {
		const struct ws_host_file *file = &action->host_files[i];
		struct ws_digest digest;
		if (!ws_digest_file(file->path, &digest, NULL, NULL)
			|| !ws_digest_is(&digest, file->digest)) {
			report->differs = file->path;
			return true;
		}
	}
	int64_t started_file_ns;
	if (!prepare_folder(action, work, a, err)
		|| !run_command(action, work, log, a, report, &started_file_ns, err)
		|| !trace_reads(action, work, log_path, started_file_ns, a, report, err)) {
		return false;
	}
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(a, work, action->outputs[i], NULL);
		struct ws_digest digest;
		if (access(path, F_OK) < 0) {
			continue; /* the command did not write it */
		}
		if (!ws_digest_file(path, &digest, NULL, err)) {
			return false;
		}
		ws_map_put(&report->made, action->outputs[i], ws_arena_strdup(a, digest.hex), a);
	}
	return true;
}

/* ---- reports about the host ---- */

/* This program gets no PATH: use that of a login, and of actions. */
#define PATH "/usr/local/bin:/usr/bin:/bin"

static bool
report_names(struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf names = {0}, text = {0};
	struct ws_report report = {0};
	if (!ws_fs_read(WS_REMOTE_NAMES, &names, err)) {
		return false;
	}
	struct ws_str rest = ws_buf_str(&names);
	while (rest.s && rest.n > 0) {
		const char *name = ws_str_copy(ws_str_cut(&rest, '\n'), a);
		struct stat status;
		struct ws_digest digest;
		if (lstat(name, &status) == 0 && S_ISDIR(status.st_mode)) {
			*ws_vec_push(&report.reads.folders, a) = name;
		} else if (stat(name, &status) < 0 || !S_ISREG(status.st_mode)) {
			*ws_vec_push(&report.reads.absent, a) = name;
		} else if (ws_digest_file(name, &digest, NULL, NULL)) {
			*ws_vec_push(&report.reads.files, a) = name;
			ws_map_put(&report.outside, name, ws_arena_strdup(a, digest.hex), a);
		}
	}
	ws_report_write(&report, &text);
	return ws_fs_write(WS_REMOTE_REPORT, text.data, text.len, 0644, err);
}

/* The value of a macro in the output of "-dM"; "": not defined. */
static struct ws_str
macro(struct ws_str lines, const char *name, struct ws_arena *a)
{
	const char *begin = ws_arena_printf(a, "#define %s ", name);
	while (lines.s && lines.n > 0) {
		struct ws_str line = ws_str_cut(&lines, '\n');
		size_t skip = strlen(begin);
		if (line.n > skip && memcmp(line.s, begin, skip) == 0) {
			return ws_str_trim((struct ws_str){line.s + skip, line.n - skip});
		}
	}
	return ws_str_of("");
}

static bool
report_compilers(struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf macros = {0};
	struct ws_compiler_list host = {.glibc = ""};
	ws_hostcc_list listed = {0};
	ws_hostcc_list_all(NULL, "", PATH, NULL, a, &listed);
	for (size_t i = 0; i < listed.len; i++) {
		if (ws_hostcc_open(
				&listed.at[i], NULL, a, NULL)) { /* a compiler without ld is not usable */
			*ws_vec_push(&host.compilers, a) = listed.at[i];
		}
	}
	/* The version of glibc's headers, which compilations see. */
	const char *const argv[] = {host.compilers.len > 0 ? host.compilers.at[0].path : NULL, "-E",
		"-dM", "-include", "features.h", "-x", "c", "/dev/null", NULL};
	if (argv[0] && ws_child_ask(&(struct ws_child_order){.argv = argv}, &macros, NULL)) {
		struct ws_str major = macro(ws_buf_str(&macros), "__GLIBC__", a);
		struct ws_str minor = macro(ws_buf_str(&macros), "__GLIBC_MINOR__", a);
		if (major.n && minor.n) {
			host.glibc = ws_arena_printf(a, "%.*s.%.*s", WS_STR_ARGS(major), WS_STR_ARGS(minor));
		}
	}
	ws_compiler_list_write(&host, &text);
	return ws_fs_write(WS_REMOTE_HOST, text.data, text.len, 0644, err);
}

/* ---- a ledger without memory: the real one would add SQLite to every action ---- */

bool
ws_ledger_file_digest(
	struct ws_ledger *ledger WS_UNUSED, const char *path, struct ws_digest *digest)
{
	return ws_digest_file(path, digest, NULL, NULL);
}

bool
ws_ledger_answer(struct ws_ledger *ledger WS_UNUSED, const char *key WS_UNUSED,
	struct ws_buf *answer WS_UNUSED, struct ws_digest *looks WS_UNUSED)
{
	return false;
}

void
ws_ledger_note_answer(struct ws_ledger *ledger WS_UNUSED, const char *key WS_UNUSED,
	const char *answer WS_UNUSED, const struct ws_digest *looks WS_UNUSED)
{
}

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err = {0};
	if (argc > 1) {
		bool whole = strcmp(argv[1], WS_REMOTE_PROBE) == 0;
		bool reported = report_names(a, &err) && (!whole || report_compilers(a, &err));
		return reported || print_error(&err) ? 0 : NOT_RUN;
	}
	WS_AUTO_BUF struct ws_buf order = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_FREE char *folder = realpath(".", NULL);
	struct ws_report report = {0};
	struct ws_action *action = NULL;
	struct ws_digest digest;
	if (folder && ws_fs_read(WS_REMOTE_ORDER, &order, &err)) {
		digest = ws_digest_bytes(order.data, order.len);
		report.order = digest.hex;
		const char *mounts = ws_path_join(a, folder, WS_REMOTE_MOUNTS, NULL);
		action = ws_order_read(ws_buf_str(&order), mounts, a, &err);
	}
	if (!action || !carry_out(action, folder, a, &report, &err)) {
		print_error(&err);
		return NOT_RUN;
	}
	ws_report_write(&report, &text);
	if (!ws_fs_write(WS_REMOTE_REPORT, text.data, text.len, 0644, &err)) {
		print_error(&err);
		return NOT_RUN;
	}
	return report.differs ? OTHER_HOST : report.signal ? 128 + report.signal : report.code;
}
