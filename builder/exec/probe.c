/* probe.c - names are looked at as engine/names.h does it at home, compilers as kit/ does. */
#include "exec/probe.h"

#include "base/fs.h"
#include "engine/remote_order.h"
#include "kit/hostcc/told.h"
#include "store/ledger.h"
#include "sys/child.h"

#include <string.h>
#include <sys/stat.h>

/* Nobody tells this program a PATH; that of a login, and of actions. */
#define PATH "/usr/local/bin:/usr/bin:/bin"

static void
look_at(const char *name, struct ws_report *report, struct ws_arena *a)
{
	struct stat status;
	struct ws_digest digest;
	if (lstat(name, &status) == 0 && S_ISDIR(status.st_mode)) {
		*ws_vec_push(&report->reads.folders, a) = name;
	} else if (stat(name, &status) < 0 || !S_ISREG(status.st_mode)) {
		*ws_vec_push(&report->reads.absent, a) = name;
	} else if (ws_digest_file(name, &digest, NULL, NULL)) {
		*ws_vec_push(&report->reads.files, a) = name;
		ws_map_put(&report->outside, name, ws_arena_strdup(a, digest.hex), a);
	}
}

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
		look_at(ws_str_copy(ws_str_cut(&rest, '\n'), a), &report, a);
	}
	ws_report_write(&report, &text);
	return ws_fs_write(WS_REMOTE_REPORT, text.data, text.len, 0644, err);
}

/* The value of a macro among the lines of "-dM"; "" where it is not defined. */
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

/* The headers are what a compilation sees of a glibc. */
static const char *
ask_glibc(const struct ws_hostcc *cc, struct ws_arena *a)
{
	const char *const argv[] = {
		cc->path, "-E", "-dM", "-include", "features.h", "-x", "c", "/dev/null", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_child_ask(&(struct ws_child_order){.argv = argv}, &answer, NULL)) {
		return "";
	}
	struct ws_str major = macro(ws_buf_str(&answer), "__GLIBC__", a);
	struct ws_str minor = macro(ws_buf_str(&answer), "__GLIBC_MINOR__", a);
	return major.n && minor.n
		? ws_arena_printf(a, "%.*s.%.*s", (int)major.n, major.s, (int)minor.n, minor.s)
		: "";
}

static bool
tell_of_compilers(struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_told_host host = {.glibc = ""};
	ws_hostcc_list listed = {0};
	ws_hostcc_list_all(NULL, "", PATH, NULL, a, &listed);
	for (size_t i = 0; i < listed.len; i++) {
		if (ws_hostcc_open(&listed.at[i], NULL, a, NULL)) { /* one that has no ld is none */
			*ws_vec_push(&host.compilers, a) = listed.at[i];
		}
	}
	if (host.compilers.len > 0) {
		host.glibc = ask_glibc(&host.compilers.at[0], a);
	}
	ws_told_host_write(&host, &text);
	return ws_fs_write(WS_REMOTE_HOST, text.data, text.len, 0644, err);
}

bool
ws_exec_probe(bool whole, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return report_names(a, err) && (!whole || tell_of_compilers(a, err));
}
