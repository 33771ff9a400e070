/* list.c - which compilers there are. A compiler is asked once, with -v, which prints its kind,
 * version and machine; what is inside of it (fingerprint, search folders) is open.c's. */
#include "base/fs.h"
#include "base/map.h"
#include "kit/hostcc/hostcc.h"
#include "sys/capture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS \
	5000 /* a compiler answers in 1 ms (gcc) or 25 ms (clang); a wrapper may take longer */

/* "12.2.0" at the front of @a rest. */
static bool
read_version(struct ws_str rest, struct ws_hostcc *cc, struct ws_arena *a)
{
	size_t len = 0;
	while (len < rest.n && (rest.s[len] == '.' || (rest.s[len] >= '0' && rest.s[len] <= '9'))) {
		len++;
	}
	struct ws_str version = {rest.s, len};
	uint64_t major;
	if (!ws_str_to_u64(ws_str_cut(&version, '.'), &major) || major > 999) {
		return false;
	}
	cc->major = (unsigned)major;
	cc->version = ws_arena_copy(a, rest.s, len);
	return true;
}

/* "gcc version 12.2.0 (Debian ...)", "Ubuntu clang version 14.0.0-1ubuntu1" and "Target: MACHINE" are
 * lines of what -v prints; "Configured with:" may repeat anything. */
static void
read_line(struct ws_str line, struct ws_hostcc *cc, struct ws_arena *a)
{
	const char *text = ws_str_copy(line, a);
	const char *clang = strstr(text, "clang version ");
	if (ws_starts_with(text, "Target: ")) {
		cc->machine = ws_str_copy(ws_str_trim(ws_str_of(text + 8)), a);
	} else if (ws_starts_with(text, "gcc version ")) {
		cc->kind = WS_HOSTCC_GCC;
		read_version(ws_str_of(text + 12), cc, a);
	} else if (clang && !ws_starts_with(text, "Configured with:")) {
		cc->kind = WS_HOSTCC_CLANG;
		read_version(ws_str_of(clang + 14), cc, a);
	}
}

bool
ws_hostcc_ask(const char *path, struct ws_arena *a, struct ws_hostcc *cc, struct ws_err *err)
{
	const char *const argv[] = {path, "-v", NULL};
	struct ws_capture command = {.argv = argv, .timeout_ms = TIMEOUT_MS, .with_stderr = true};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_capture_run(&command, &answer, err)) {
		return ws_err_wrap(err, "asking compiler '%s' what it is", path);
	}
	*cc = (struct ws_hostcc){.path = ws_arena_strdup(a, path)};
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s) {
		read_line(ws_str_cut(&rest, '\n'), cc, a);
	}
	if (!cc->version || !cc->machine) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' is neither gcc nor clang", path);
	}
	return true;
}

/* The gathering of a list: what was seen, and where the texts go. */
struct search {
	ws_hostcc_list *list;
	struct ws_map seen; /* real paths */
	struct ws_arena *a;
};

/* "g++", "clang++", and with a version "g++-12", "g++-4.9". */
static bool
is_compiler_name(const char *name, bool versioned)
{
	size_t stem = ws_starts_with(name, "g++") ? 3 : ws_starts_with(name, "clang++") ? 7 : 0;
	if (stem == 0 || !versioned) {
		return stem > 0 && name[stem] == '\0';
	}
	return name[stem] == '-' && name[stem + 1] != '\0'
		&& name[stem + 1 + strspn(name + stem + 1, "0123456789.")] == '\0';
}

/* True for what is listed before: gcc before clang, then the larger version. */
static bool
goes_before(const struct ws_hostcc *x, const struct ws_hostcc *y)
{
	return x->kind != y->kind ? x->kind < y->kind : strverscmp(x->version, y->version) > 0;
}

static void
insert(struct search *s, const struct ws_hostcc *cc)
{
	ws_vec_push(s->list, s->a);
	size_t at = s->list->len - 1;
	for (; at > 0 && goes_before(cc, &s->list->at[at - 1]); at--) {
		s->list->at[at] = s->list->at[at - 1];
	}
	s->list->at[at] = *cc;
}

static void
look_at(struct search *s, const char *path)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	if (!real || access(real, X_OK) != 0 || ws_fs_is_dir(real)) {
		return;
	}
	/* A link to ccache and its like: the compiler behind it stands elsewhere under its own name. */
	const char *name = ws_path_base(real);
	if (!strstr(name, "g++") && !strstr(name, "clang")) {
		return;
	}
	struct ws_hostcc cc;
	if (ws_map_add(&s->seen, ws_arena_strdup(s->a, real), s->a)
		&& ws_hostcc_ask(path, s->a, &cc, NULL)) {
		insert(s, &cc);
	}
}

static void
look_in(struct search *s, const char *folder, bool versioned)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (is_compiler_name(entry->d_name, versioned)) {
			look_at(s, ws_path_join(s->a, folder, entry->d_name, NULL));
		}
	}
}

/* Red Hat's Software Collections: /opt/rh/gcc-toolset-13/root/usr/bin, devtoolset-11 before. */
static void
look_in_toolsets(struct search *s, const char *folder)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, "toolset-")) {
			look_in(s, ws_path_join(s->a, folder, entry->d_name, "root/usr/bin", NULL), false);
		}
	}
}

void
ws_hostcc_list_all(
	const char *root, const char *path_variable, struct ws_arena *a, ws_hostcc_list *list)
{
	struct search s = {.list = list, .a = a};
	/* Two rounds: "g++-12" still means the same when the default moves on, "g++" does not. */
	for (int versioned = 1; versioned >= 0; versioned--) {
		struct ws_str rest = ws_str_of(path_variable);
		while (rest.s) {
			struct ws_str folder = ws_str_cut(&rest, ':');
			if (folder.n > 0 && folder.s[0] == '/') {
				look_in(&s, ws_str_copy(folder, a), versioned);
			}
		}
		look_in(&s, ws_arena_printf(a, "%s/usr/bin", root), versioned);
	}
	look_in_toolsets(&s, ws_arena_printf(a, "%s/opt/rh", root));
}
