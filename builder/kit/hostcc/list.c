/* list.c - finds the compilers of a host, and the files of each. A compiler is asked with -v, which
 * prints its kind, version and machine; its parts are asked from itself (GCC manual, "Developer
 * Options": -print-prog-name, -dumpspecs; "Overall Options": -v) and hashed through the file cache
 * of the ledger. Headers and what is linked are not part of it: actions name those files
 * themselves. */
#include "base/event.h"
#include "base/fs.h"
#include "kit/hostcc/hostcc.h"
#include "store/answer_cache.h"

/* ---- listing ---- */

/* A compiler answers in 1 ms (gcc) or 25 ms (clang); on a busy host, from a slow disk, it may take
 * long. A compiler that times out is replaced by another one, and then all units are compiled
 * again. */
#define TIMEOUT_MS 60000

/* "12.2.0 ...", behind the name of the compiler. */
static void
read_version(const char *text, enum ws_hostcc_kind kind, struct ws_hostcc *cc, struct ws_arena *a)
{
	size_t len = strspn(text, "0123456789.");
	struct ws_str version = {text, len};
	uint64_t major;
	cc->kind = kind;
	if (ws_str_to_u64(ws_str_cut(&version, '.'), &major) && major <= 999) {
		cc->major = (unsigned)major;
		cc->version = ws_arena_copy(a, text, len);
	}
}

bool
ws_hostcc_ask(struct ws_ledger *ledger, const char *path, struct ws_arena *a, struct ws_hostcc *cc,
	struct ws_err *err)
{
	const char *const argv[] = {path, "-v", NULL};
	struct ws_child_order command = {
		.argv = argv, .limits.timeout_ms = TIMEOUT_MS, .with_stderr = true};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_answer_cache_ask(ledger, &command, &answer, err)) {
		return ws_err_wrap(err, "asking compiler '%s' what it is", path);
	}
	*cc = (struct ws_hostcc){.path = ws_arena_strdup(a, path)};
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s) {
		/* "gcc version 12.2.0 (Debian ...)", "Ubuntu clang version 14.0.0-1ubuntu1" and "Target:
		 * MACHINE"; "Configured with:" may repeat anything. */
		const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), a);
		const char *clang = strstr(line, "clang version ");
		if (ws_starts_with(line, "Target: ")) {
			cc->machine = ws_str_copy(ws_str_trim(ws_str_of(line + 8)), a);
		} else if (ws_starts_with(line, "gcc version ")) {
			read_version(line + 12, WS_HOSTCC_GCC, cc, a);
		} else if (clang && !ws_starts_with(line, "Configured with:")) {
			read_version(clang + 14, WS_HOSTCC_CLANG, cc, a);
		}
	}
	if (!cc->version || !cc->machine) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' is neither gcc nor clang", path);
	}
	return true;
}

/* The gathering of a list: what was seen, and where the texts go. */
struct search {
	ws_hostcc_list *list;
	const char *prefix; /* of names: "", "aarch64-linux-gnu-" */
	const struct ws_events *events;
	struct ws_ledger *ledger;
	struct ws_map seen; /* real paths */
	struct ws_arena *a;
};

static void
look_at(struct search *s, const char *path)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	if (!real || access(real, X_OK) != 0 || ws_fs_is_dir(real)) {
		return;
	}
	/* A link to ccache or similar: the real compiler is found under its own name. */
	const char *name = ws_path_base(real);
	if (!strstr(name, "g++") && !strstr(name, "clang")) {
		return;
	}
	struct ws_hostcc cc;
	struct ws_err err;
	if (!ws_map_add(&s->seen, ws_arena_strdup(s->a, real), s->a)) {
		return;
	}
	if (ws_hostcc_ask(s->ledger, path, s->a, &cc, &err)) {
		/* gcc before clang, then the larger version; equal ones as they were found. */
		ws_vec_push(s->list, s->a);
		size_t at = s->list->len - 1;
		for (; at > 0; at--) {
			const struct ws_hostcc *before = &s->list->at[at - 1];
			if (cc.kind != before->kind ? cc.kind > before->kind
										: strverscmp(cc.version, before->version) <= 0) {
				break;
			}
			s->list->at[at] = *before;
		}
		s->list->at[at] = cc;
	} else if (!ws_err_is_stop(&err)) {
		ws_events_warn(
			s->events, "compiler '%s' does not answer and is left out: %s", path, err.text);
	}
}

/* Looks for "g++", "clang++", or with a version "g++-12", "g++-4.9", behind the prefix. */
static void
look_in(struct search *s, const char *folder, bool versioned)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (!ws_starts_with(name, s->prefix)) {
			continue;
		}
		name += strlen(s->prefix);
		size_t stem = ws_starts_with(name, "g++") ? 3 : ws_starts_with(name, "clang++") ? 7 : 0;
		const char *version = name + stem;
		bool named = !versioned
			? version[0] == '\0'
			: version[0] == '-' && version[1] && !version[1 + strspn(version + 1, "0123456789.")];
		if (stem > 0 && named) {
			look_at(s, ws_path_join(s->a, folder, entry->d_name, NULL));
		}
	}
}

static void
look_on_path(struct search *s, const char *root, const char *path_variable)
{
	/* Two rounds: "g++-12" still means the same when the default moves on, "g++" does not. */
	for (int versioned = 1; versioned >= 0; versioned--) {
		struct ws_str rest = ws_str_of(path_variable);
		while (rest.s) {
			struct ws_str folder = ws_str_cut(&rest, ':');
			if (folder.n > 0 && folder.s[0] == '/') {
				look_in(s, ws_str_copy(folder, s->a), versioned);
			}
		}
		look_in(s, ws_arena_printf(s->a, "%s/usr/bin", root), versioned);
	}
}

void
ws_hostcc_list_all(struct ws_ledger *ledger, const char *root, const char *path_variable,
	const struct ws_events *events, struct ws_arena *a, ws_hostcc_list *list)
{
	struct search s = {.list = list, .prefix = "", .events = events, .ledger = ledger, .a = a};
	look_on_path(&s, root, path_variable);
	/* Red Hat's Software Collections: /opt/rh/gcc-toolset-13/root/usr/bin, devtoolset-11 before. */
	const char *collections = ws_arena_printf(a, "%s/opt/rh", root);
	WS_AUTO_DIR DIR *dir = opendir(collections);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, "toolset-")) {
			look_in(&s, ws_path_join(a, collections, entry->d_name, "root/usr/bin", NULL), false);
		}
	}
}

void
ws_hostcc_list_cross(struct ws_ledger *ledger, const char *root, const char *path_variable,
	struct ws_arena *a, ws_hostcc_list *list)
{
	const struct ws_machine *const machines[] = {
		ws_machine_named("x86_64"), ws_machine_named("aarch64")};
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		const char *prefix = ws_arena_printf(a, "%s-", machines[i]->multiarch);
		struct search s = {.list = list, .prefix = prefix, .ledger = ledger, .a = a};
		if (machines[i] != ws_machine_host()) {
			look_on_path(&s, root, path_variable);
		}
	}
}

/* "x86_64-linux-gnu", "aarch64-unknown-linux-gnu": the first part is the machine. */
const struct ws_machine *
ws_hostcc_machine(const struct ws_hostcc *cc)
{
	char name[16];
	const char *machine = cc->machine ? cc->machine : "";
	size_t len = strcspn(machine, "-");
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : 0), machine);
	return ws_machine_named(name);
}

/* ---- opening ---- */

/* Actions see no other PATH, so a program without a folder means one of these. */
static const char *const plain_path[] = {"/usr/bin", "/bin"};
static const char *const plain[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};

/* A compiler being opened. */
struct opening {
	struct ws_hostcc *cc;
	struct ws_ledger *ledger;
	struct ws_hasher *hasher;
	struct ws_arena *a;
	WS_VEC(struct ws_host_file) files;
	bool of_c; /* what is asked is the driver for C */
};

static bool
ask(const struct opening *o, const char *const *argv, bool with_stderr, struct ws_buf *answer,
	struct ws_err *err)
{
	struct ws_child_order command = {.argv = argv, .env = plain, .with_stderr = with_stderr};
	return ws_answer_cache_ask(o->ledger, &command, answer, err)
		|| ws_err_wrap(err, "asking compiler '%s' about itself", o->cc->path);
}

/* One part of the fingerprint: what it is called, and its contents. */
static bool
add_file(struct opening *o, const char *name, const char *path, struct ws_err *err)
{
	struct ws_digest digest;
	if (!ws_ledger_file_digest(o->ledger, path, &digest)) {
		return ws_err_set(err, WS_ERR_BUILD, "cannot read '%s', the %s of compiler '%s'", path,
			name, o->cc->path);
	}
	ws_hasher_add_field(o->hasher, name);
	ws_hasher_add_field(o->hasher, digest.hex);
	*ws_vec_push(&o->files, o->a) =
		(struct ws_host_file){ws_arena_strdup(o->a, path), ws_arena_strdup(o->a, digest.hex)};
	return true;
}

/* The driver itself, links followed: the ledger then names one file however it is reached. */
static char *
real_path(const char *path, struct ws_arena *a)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	return ws_arena_strdup(a, real ? real : path);
}

/* Each driver, @a program, has parts of its own. A name without a folder is not there. */
static bool
add_program_of(
	struct opening *o, const char *program, const char *name, bool is_optional, struct ws_err *err)
{
	const char *option = ws_arena_printf(o->a, "-print-prog-name=%s", name);
	const char *const argv[] = {program, option, NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(o, argv, false, &answer, err)) {
		return false;
	}
	const char *found = ws_str_copy(ws_str_trim(ws_buf_str(&answer)), o->a);
	for (size_t i = 0; found[0] != '/' && i < WS_LEN(plain_path); i++) {
		const char *path = ws_path_join(o->a, plain_path[i], found, NULL);
		found = ws_fs_exists(path) ? path : found;
	}
	if (found[0] == '/') {
		return add_file(o, name, found, err);
	}
	if (is_optional) {
		return true;
	}
	ws_err_set(err, WS_ERR_BUILD, "compiler '%s' has no %s", o->cc->path, name);
	return ws_err_cure(err, "install the rest of it (as and ld are in the package binutils)");
}

/* "/usr/lib/gcc/x86_64-linux-gnu/12/:/usr/lib/", some of them more than once. */
static void
fill_libraries(const struct opening *o, struct ws_str rest)
{
	WS_VEC(const char *) folders = {0};
	struct ws_map seen = {0};
	while (rest.s) {
		const char *folder = ws_path_normal(o->a, ws_str_copy(ws_str_cut(&rest, ':'), o->a));
		if (folder[0] == '/' && ws_map_add(&seen, folder, o->a)) {
			*ws_vec_push(&folders, o->a) = folder;
		}
	}
	o->cc->libraries = folders.at;
	o->cc->library_count = folders.len;
}

/* The lines of "-E -v": search folders between two known lines, and files that change the
 * driver. */
static bool
add_verbose(struct opening *o, struct ws_err *err)
{
	const char *const argv[] = {o->of_c ? o->cc->c_path : o->cc->path, "-E", "-v", "-x",
		o->of_c ? "c" : "c++", "/dev/null", "-o", "/dev/null", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(o, argv, true, &answer, err)) {
		return false;
	}
	WS_VEC(const char *) folders = {0};
	struct ws_str rest = ws_buf_str(&answer);
	bool inside = false;
	while (rest.s) {
		const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), o->a);
		if (strcmp(line, "End of search list.") == 0) {
			inside = false;
		} else if (inside && line[0] == ' ') {
			*ws_vec_push(&folders, o->a) = ws_path_normal(o->a, line + 1);
		} else if (strcmp(line, "#include <...> search starts here:") == 0) {
			inside = true;
		} else if (ws_starts_with(line, "LIBRARY_PATH=")) {
			fill_libraries(o, ws_str_of(line + strlen("LIBRARY_PATH=")));
		} else if (ws_starts_with(line, "Reading specs from ")
			&& !add_file(o, "specs file", line + strlen("Reading specs from "), err)) {
			return false;
		} else if (ws_starts_with(line, "Configuration file: ")
			&& !add_file(o, "configuration file", line + strlen("Configuration file: "), err)) {
			return false;
		}
	}
	const char *const **search = o->of_c ? &o->cc->c_search : &o->cc->search;
	*search = folders.at;
	*(o->of_c ? &o->cc->c_search_count : &o->cc->search_count) = folders.len;
	return folders.len > 0
		|| ws_err_set(err, WS_ERR_BUILD, "compiler '%s' does not say where it looks for headers",
			o->cc->path);
}

/* A distribution's clang is a small driver over shared libraries. Their names in the lib folder
 * have the version: libclang-cpp.so.14, libLLVM-14.so.1, libLLVM.so.18.1. */
static bool
add_libraries(struct opening *o, const char *folder, struct ws_err *err)
{
	const char *major = ws_arena_printf(o->a, "%u", o->cc->major);
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		bool llvm = ws_starts_with(name, "libclang-cpp.so") || ws_starts_with(name, "libLLVM");
		if (llvm && strstr(name, major)) {
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
add_parts(struct opening *o, struct ws_err *err)
{
	const char *driver = real_path(o->cc->path, o->a);
	if (!add_file(o, "driver", driver, err) || !add_program_of(o, o->cc->path, "ld", false, err)) {
		return false;
	}
	if (o->cc->kind == WS_HOSTCC_CLANG) {
		const char *prefix = ws_path_dir(o->a, ws_path_dir(o->a, driver));
		return add_libraries(o, ws_path_join(o->a, prefix, "lib", NULL), err)
			&& add_libraries(o, ws_path_join(o->a, prefix, "lib64", NULL), err)
			&& add_verbose(o, err);
	}
	/* A distribution may package the last ones, the programs of -flto, separately. */
	static const char *const names[] = {"cc1plus", "as", "collect2", "lto-wrapper", "lto1"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (!add_program_of(o, o->cc->path, names[i], i >= 3, err)) {
			return false;
		}
	}
	const char *const argv[] = {o->cc->path, "-dumpspecs", NULL};
	WS_AUTO_BUF struct ws_buf specs = {0};
	if (!ask(o, argv, false, &specs, err)) {
		return false;
	}
	ws_hasher_add_field(o->hasher, "specs");
	ws_hasher_add_field(o->hasher, ws_buf_text(&specs));
	return add_verbose(o, err);
}

/* C is compiled by another driver with another front end; the rest is the same. */
static bool
open_c(struct opening *o, struct ws_err *err)
{
	struct ws_hostcc *cc = o->cc;
	bool gcc = cc->kind == WS_HOSTCC_GCC;
	const char *cxx = gcc ? "g++" : "clang++";
	/* "/usr/bin/g++-12" -> "/usr/bin/gcc-12", clang++ -> clang */
	const char *name = strstr(ws_path_base(cc->path), cxx);
	const char *driver = !name ? NULL
							   : ws_arena_printf(o->a, "%.*s%s%s", (int)(name - cc->path), cc->path,
								   gcc ? "gcc" : "clang", name + strlen(cxx));
	cc->c_path = driver && ws_fs_exists(driver) ? driver : NULL;
	if (!cc->c_path) {
		return true;
	}
	o->of_c = true;
	o->hasher = ws_hasher_make();
	ws_hasher_add_field(o->hasher, cc->fingerprint);
	bool complete = add_file(o, "driver", real_path(cc->c_path, o->a), err)
		&& (!gcc || add_program_of(o, cc->c_path, "cc1", false, err)) && add_verbose(o, err);
	struct ws_digest digest = ws_hasher_finish(o->hasher);
	cc->c_fingerprint = complete ? ws_arena_strdup(o->a, digest.hex) : NULL;
	return complete;
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
	complete = complete && open_c(&o, err);
	cc->files = o.files.at;
	cc->file_count = o.files.len;
	return complete;
}
