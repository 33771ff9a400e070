/* open.c - what a compiler is made of. Its parts are asked from itself (GCC manual, "Developer
 * Options": -print-prog-name, -dumpspecs; "Overall Options": -v) and hashed through the ledger's file
 * cache. Headers and what is linked are not here: actions name those files themselves. */
#include "base/fs.h"
#include "base/map.h"
#include "kit/hostcc/hostcc.h"
#include "sys/capture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Actions see no other PATH, so a program without a folder means one of these. */
static const char *const plain_path[] = {"/usr/bin", "/bin"};
static const char *const plain[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};

/* A compiler being opened. */
struct opening {
	struct ws_hostcc *cc;
	struct ws_ledger *ledger;
	struct ws_hasher *hasher;
	struct ws_arena *a;
};

static bool
ask(const struct opening *o, const char *const *argv, bool with_stderr, struct ws_buf *answer,
	struct ws_err *err)
{
	struct ws_capture command = {.argv = argv, .env = plain, .with_stderr = with_stderr};
	return ws_capture_run(&command, answer, err)
		|| ws_err_wrap(err, "asking compiler '%s' about itself", o->cc->path);
}

/* One part of the fingerprint: what it is called, and its contents. */
static bool
add_file(const struct opening *o, const char *name, const char *path, struct ws_err *err)
{
	struct ws_digest digest;
	if (!ws_ledger_file_digest(o->ledger, path, &digest)) {
		return ws_err_set(err, WS_ERR_BUILD, "cannot read '%s', the %s of compiler '%s'", path,
			name, o->cc->path);
	}
	ws_hasher_add_field(o->hasher, name);
	ws_hasher_add_field(o->hasher, digest.hex);
	return true;
}

/* The driver itself, links followed: the ledger then names one file however it is reached. */
static char *
real_path(const char *path, struct ws_arena *a)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	return ws_arena_strdup(a, real ? real : path);
}

static const char *
find_program(const char *name, struct ws_arena *a)
{
	for (size_t i = 0; name[0] != '/' && i < WS_LEN(plain_path); i++) {
		const char *path = ws_path_join(a, plain_path[i], name, NULL);
		if (ws_fs_exists(path)) {
			return path;
		}
	}
	return name;
}

static bool
add_program(const struct opening *o, const char *name, struct ws_err *err)
{
	const char *option = ws_arena_printf(o->a, "-print-prog-name=%s", name);
	const char *const argv[] = {o->cc->path, option, NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(o, argv, false, &answer, err)) {
		return false;
	}
	const char *said = ws_str_copy(ws_str_trim(ws_buf_str(&answer)), o->a);
	const char *path = find_program(said, o->a);
	if (path[0] != '/') {
		ws_err_set(err, WS_ERR_BUILD, "compiler '%s' has no %s", o->cc->path, name);
		return ws_err_cure(err, "install the rest of it (as and ld are in the package binutils)");
	}
	return add_file(o, name, path, err);
}

static bool
add_specs(const struct opening *o, struct ws_err *err)
{
	const char *const argv[] = {o->cc->path, "-dumpspecs", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(o, argv, false, &answer, err)) {
		return false;
	}
	ws_hasher_add_field(o->hasher, "specs");
	ws_hasher_add_field(o->hasher, ws_buf_text(&answer));
	return true;
}

/* The lines of "-E -v": search folders between two known lines, and files that change the driver. */
static bool
read_verbose(const struct opening *o, struct ws_str rest, struct ws_err *err)
{
	WS_VEC(const char *) folders = {0};
	bool inside = false;
	while (rest.s) {
		const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), o->a);
		if (strcmp(line, "End of search list.") == 0) {
			inside = false;
		} else if (inside && line[0] == ' ') {
			*ws_vec_push(&folders, o->a) = ws_path_normal(o->a, line + 1);
		} else if (strcmp(line, "#include <...> search starts here:") == 0) {
			inside = true;
		} else if (ws_starts_with(line, "Reading specs from ")
			&& !add_file(o, "specs file", line + strlen("Reading specs from "), err)) {
			return false;
		} else if (ws_starts_with(line, "Configuration file: ")
			&& !add_file(o, "configuration file", line + strlen("Configuration file: "), err)) {
			return false;
		}
	}
	o->cc->search = folders.at;
	o->cc->search_count = folders.len;
	return folders.len > 0
		|| ws_err_set(err, WS_ERR_BUILD, "compiler '%s' does not say where it looks for headers",
			o->cc->path);
}

static bool
add_verbose(const struct opening *o, struct ws_err *err)
{
	const char *const argv[] = {
		o->cc->path, "-E", "-v", "-x", "c++", "/dev/null", "-o", "/dev/null", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	return ask(o, argv, true, &answer, err) && read_verbose(o, ws_buf_str(&answer), err);
}

/* A distribution's clang is a small driver over shared libraries. They stand in the lib folder beside
 * it, named by version: libclang-cpp.so.14, libLLVM-14.so.1, libLLVM.so.18.1. */
static bool
is_llvm_library(const char *name, const char *major)
{
	return (ws_starts_with(name, "libclang-cpp.so") || ws_starts_with(name, "libLLVM"))
		&& strstr(name, major) != NULL;
}

static bool
add_libraries(const struct opening *o, const char *folder, struct ws_err *err)
{
	const char *major = ws_arena_printf(o->a, "%u", o->cc->major);
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (is_llvm_library(entry->d_name, major)) {
			*ws_vec_push(&names, o->a) = ws_arena_strdup(o->a, entry->d_name);
		}
	}
	if (names.len > 1) {
		qsort(names.at, names.len, sizeof(*names.at), ws_cmp_strings);
	}
	struct ws_map seen = {0}; /* several names of one file */
	for (size_t i = 0; i < names.len; i++) {
		const char *path = real_path(ws_path_join(o->a, folder, names.at[i], NULL), o->a);
		if (ws_map_add(&seen, path, o->a) && !add_file(o, "library", path, err)) {
			return false;
		}
	}
	return true;
}

static bool
add_parts(const struct opening *o, struct ws_err *err)
{
	const char *driver = real_path(o->cc->path, o->a);
	if (!add_file(o, "driver", driver, err) || !add_program(o, "ld", err)) {
		return false;
	}
	if (o->cc->kind == WS_HOSTCC_GCC) {
		return add_program(o, "cc1plus", err) && add_program(o, "as", err)
			&& add_program(o, "collect2", err) && add_specs(o, err) && add_verbose(o, err);
	}
	const char *prefix = ws_path_dir(o->a, ws_path_dir(o->a, driver));
	return add_libraries(o, ws_path_join(o->a, prefix, "lib", NULL), err)
		&& add_libraries(o, ws_path_join(o->a, prefix, "lib64", NULL), err) && add_verbose(o, err);
}

bool
ws_hostcc_open(
	struct ws_hostcc *cc, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	struct opening o = {.cc = cc, .ledger = ledger, .hasher = ws_hasher_make(), .a = a};
	ws_hasher_add_field(o.hasher, "wheelsmith.hostcc/1");
	ws_hasher_add_field(o.hasher, cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang");
	ws_hasher_add_field(o.hasher, cc->version);
	ws_hasher_add_field(o.hasher, cc->machine);
	bool complete = add_parts(&o, err);
	struct ws_digest digest = ws_hasher_finish(o.hasher);
	cc->fingerprint = complete ? ws_arena_strdup(a, digest.hex) : NULL;
	return complete;
}
