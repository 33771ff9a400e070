#include "kit/hostcc/hostcc.h"

#include "sys/child.h"

#define LONGEST ((size_t)1 << 20)

/* Copies @a text without comments and with lines that end in a backslash joined. */
static void
simplify(const char *text, struct ws_buf *b)
{
	for (const char *at = text; *at;) {
		const char *end;
		if (strncmp(at, "/*", 2) == 0) {
			end = strstr(at + 2, "*/");
			at = end ? end + 2 : at + strlen(at);
			ws_buf_putc(b, ' ');
		} else if (strncmp(at, "//", 2) == 0) {
			at += strcspn(at, "\n");
		} else if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
			at += at[1] == '\r' ? 3 : 2;
		} else {
			ws_buf_putc(b, *at++);
		}
	}
}

static void
skip_blanks(struct ws_str *rest)
{
	while (rest->n > 0 && (rest->s[0] == ' ' || rest->s[0] == '\t')) {
		rest->s++;
		rest->n--;
	}
}

/* Takes @a token off the front of @a rest, blanks around it not counting. */
static bool
skip_token(struct ws_str *rest, const char *token)
{
	skip_blanks(rest);
	size_t len = strlen(token);
	if (rest->n < len || memcmp(rest->s, token, len) != 0) {
		return false;
	}
	*rest = (struct ws_str){rest->s + len, rest->n - len};
	skip_blanks(rest);
	return true;
}

/* Takes a major version off the front of @a rest. */
static bool
read_major(struct ws_str *rest, unsigned *major)
{
	size_t digits = 0;
	unsigned value = 0;
	while (digits < rest->n && digits < 4 && ws_is_digit(rest->s[digits])) {
		value = value * 10 + (unsigned)(rest->s[digits++] - '0');
	}
	if (digits == 0 || digits > 3) {
		return false;
	}
	*rest = (struct ws_str){rest->s + digits, rest->n - digits};
	*major = value;
	return true;
}

/* "__GNUC__ > 13" and nothing else. */
static bool
is_gcc_limit(struct ws_str condition, unsigned *max)
{
	return skip_token(&condition, "__GNUC__") && skip_token(&condition, ">")
		&& read_major(&condition, max) && ws_str_trim(condition).n == 0;
}

/* Somewhere in @a condition: "(__clang_major__ OPERATOR N)". */
static bool
has_clang_bound(struct ws_str condition, const char *operator, unsigned * bound)
{
	for (struct ws_str rest = condition; rest.n > 0; rest.s++, rest.n--) {
		struct ws_str at = rest;
		if (skip_token(&at, "(") && skip_token(&at, "__clang_major__") && skip_token(&at, operator)
			&& read_major(&at, bound) && skip_token(&at, ")")) {
			return true;
		}
	}
	return false;
}

/* "(__clang_major__ >= 18) || (__clang_major__ < 3) || ..." */
static bool
is_clang_limit(struct ws_str condition, struct ws_hostcc_limits *limits)
{
	unsigned over, min;
	if (!has_clang_bound(condition, ">=", &over) || !has_clang_bound(condition, "<", &min)
		|| over <= min) {
		return false;
	}
	limits->clang_min = min;
	limits->clang_max = over - 1;
	return true;
}

/* The limits found so far, and the open conditions. */
struct reading {
	WS_VEC(struct ws_str) open;
	struct ws_hostcc_limits limits;
	unsigned gcc_seen, clang_seen; /* how many conditions had the shape */
};

static void
enter(struct reading *r, struct ws_str condition, struct ws_arena *a)
{
	struct ws_str around = r->open.len > 0 ? r->open.at[r->open.len - 1] : ws_str_of("");
	r->gcc_seen += is_gcc_limit(condition, &r->limits.gcc_max);
	if (skip_token(&around, "defined(__clang__)")) {
		r->clang_seen += is_clang_limit(condition, &r->limits);
	}
	*ws_vec_push(&r->open, a) = condition;
}

/* The letters at the front of @a rest. */
static struct ws_str
read_word(struct ws_str *rest)
{
	struct ws_str word = {rest->s, 0};
	while (word.n < rest->n && rest->s[word.n] >= 'a' && rest->s[word.n] <= 'z') {
		word.n++;
	}
	*rest = (struct ws_str){rest->s + word.n, rest->n - word.n};
	return word;
}

/* False when a line ends or turns a condition and none is open. */
static bool
read_line(struct reading *r, struct ws_str line, struct ws_arena *a)
{
	if (!skip_token(&line, "#")) {
		return true;
	}
	struct ws_str word = read_word(&line);
	if (ws_str_is(word, "if")) {
		enter(r, ws_str_trim(line), a);
	} else if (ws_str_is(word, "ifdef") || ws_str_is(word, "ifndef")) {
		*ws_vec_push(&r->open, a) = ws_str_of("");
	} else if (ws_str_is(word, "endif") || ws_str_is(word, "elif") || ws_str_is(word, "else")) {
		if (r->open.len == 0) {
			return false;
		}
		/* Behind #elif and #else the condition of the #if does not hold. */
		r->open.at[r->open.len - 1] = ws_str_of("");
		r->open.len -= ws_str_is(word, "endif");
	}
	return true;
}

bool
ws_hostcc_limits_parse(const char *text, struct ws_hostcc_limits *limits, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf plain = {0};
	struct reading r = {0};
	bool nested = strnlen(text, LONGEST + 1) <= LONGEST;
	if (nested) {
		simplify(text, &plain);
	}
	struct ws_str rest = ws_buf_str(&plain);
	while (rest.s && nested) {
		nested = read_line(&r, ws_str_cut(&rest, '\n'), a);
	}
	if (!nested || r.open.len > 0 || r.gcc_seen != 1 || r.clang_seen > 1) {
		ws_err_set(err, WS_ERR_BUILD,
			"this host_config.h has no known form: the compilers it allows are unknown");
		return ws_err_cure(err, "expected one '#if __GNUC__ > N', found %u", r.gcc_seen);
	}
	*limits = r.limits;
	return true;
}

static bool
is_bad(const struct ws_hostcc *cc, const struct ws_hostcc_wish *wish)
{
	for (size_t i = 0; i < wish->bad_count; i++) {
		if (cc->kind == WS_HOSTCC_GCC && cc->major == wish->bad[i]) {
			return true;
		}
	}
	return false;
}

bool
ws_hostcc_fits(const struct ws_hostcc *cc, const struct ws_hostcc_wish *wish)
{
	const struct ws_hostcc_limits *limits = &wish->limits;
	if (cc->kind == WS_HOSTCC_CLANG) {
		return cc->major >= limits->clang_min && cc->major <= limits->clang_max;
	}
	return cc->major >= wish->gcc_min && cc->major <= limits->gcc_max && !is_bad(cc, wish);
}

static const char *
kind_name(enum ws_hostcc_kind kind)
{
	return kind == WS_HOSTCC_GCC ? "gcc" : "clang";
}

/* "gcc up to 11", "gcc 9 to 11", and clang where this host has one. */
static void
fail_taken(struct ws_buf *b, const struct ws_hostcc_wish *wish, bool with_clang)
{
	if (wish->gcc_min > 0) {
		ws_buf_printf(b, "gcc %u to %u", wish->gcc_min, wish->limits.gcc_max);
	} else {
		ws_buf_printf(b, "gcc up to %u", wish->limits.gcc_max);
	}
	if (with_clang && wish->limits.clang_max > 0) {
		ws_buf_printf(b, " and clang up to %u", wish->limits.clang_max);
	}
}

/* "gcc 12 and 14", "gcc 12, 13 (known to fail) and 14": the majors of one kind, ascending, each
 * once; @a list has the newest first. Empty without a compiler. */
static void
fail_majors(struct ws_buf *b, const ws_hostcc_list *list, const struct ws_hostcc_wish *wish,
	enum ws_hostcc_kind kind)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_VEC(const struct ws_hostcc *) once = {0};
	for (size_t i = list->len; i-- > 0;) {
		const struct ws_hostcc *cc = &list->at[i];
		if (cc->kind == kind && (once.len == 0 || once.at[once.len - 1]->major != cc->major)) {
			*ws_vec_push(&once, a) = cc;
		}
	}
	for (size_t i = 0; i < once.len; i++) {
		if (i == 0) {
			ws_buf_printf(b, "%s%s ", b->len > 0 ? ", " : "", kind_name(kind));
		} else {
			ws_buf_puts(b, i + 1 < once.len ? ", " : " and ");
		}
		ws_buf_printf(
			b, "%u%s", once.at[i]->major, is_bad(once.at[i], wish) ? " (known to fail)" : "");
	}
}

static bool
has_gcc_for(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish)
{
	for (size_t i = 0; i < list->len; i++) {
		if (list->at[i].kind == WS_HOSTCC_GCC && ws_hostcc_fits(&list->at[i], wish)) {
			return true;
		}
	}
	return false;
}

/* The first CUDA after the one that was wanted that takes a gcc of this host. */
static void
cure_newer_cuda(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_version wanted;
	if (!wish->facts || !ws_version_parse(wish->cuda, a, &wanted)) {
		return;
	}
	for (size_t i = 0; i < wish->facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *cuda = &wish->facts->cuda[i];
		struct ws_hostcc_wish other = *wish;
		other.limits.gcc_max = cuda->gcc_max;
		if (ws_version_cmp(&cuda->version, &wanted) > 0 && has_gcc_for(list, &other)) {
			unsigned major = cuda->version.major;
			bool crosses = major != wanted.major;
			const char *text = cuda->version.text;
			const char *torch =
				crosses ? ws_arena_printf(a, " and a torch built for CUDA %u", major) : "";
			ws_err_cure(err, "or build this cell with CUDA %s or newer%s", text, torch);
			ws_err_cure_code(err, WS_CURE_CUDA, text);
			return;
		}
	}
}

#define NEEDS_ONE "their image needs one"

/* Without a toolkit any gcc that is new enough will do. */
static bool
refuse_any(const struct ws_hostcc_wish *wish, const struct ws_host *host, const char *there,
	struct ws_err *err)
{
	ws_err_set(
		err, WS_ERR_BUILD, "no C++ compiler: gcc %u or newer is needed, %s", wish->gcc_min, there);
	return host ? ws_err_cure(err, "install g++ %u or newer", wish->gcc_min)
				: ws_err_cure(err, NEEDS_ONE);
}

static bool
refuse(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, const struct ws_host *host,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf taken = {0};
	WS_AUTO_BUF struct ws_buf there = {0};
	fail_majors(&there, list, wish, WS_HOSTCC_GCC);
	size_t gcc_len = there.len;
	fail_majors(&there, list, wish, WS_HOSTCC_CLANG);
	fail_taken(&taken, wish, there.len > gcc_len);
	const char *has =
		ws_arena_printf(a, "%s %s", host ? "this host has" : "the workers of the farm have",
			there.len > 0 ? ws_buf_text(&there) : "none");
	if (!wish->cuda) {
		return refuse_any(wish, host, has, err);
	}
	ws_err_set(err, WS_ERR_BUILD, "no host compiler for CUDA %s: it takes %s, %s", wish->cuda,
		ws_buf_text(&taken), has);
	if (host) {
		ws_hostcc_install_cure(wish, host, err);
	} else {
		ws_err_cure(err, NEEDS_ONE);
	}
	cure_newer_cuda(list, wish, err);
	return false;
}

bool
ws_hostcc_choose(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish,
	const struct ws_host *host, struct ws_hostcc *chosen, struct ws_err *err)
{
	for (size_t i = 0; i < list->len; i++) {
		if (ws_hostcc_fits(&list->at[i], wish)) {
			*chosen = list->at[i];
			return true;
		}
	}
	return refuse(list, wish, host, err);
}

/* ---- how to install one ---- */

static bool
takes_gcc(const struct ws_hostcc_wish *wish, unsigned major)
{
	return ws_hostcc_fits(&(struct ws_hostcc){.kind = WS_HOSTCC_GCC, .major = major}, wish);
}

/* The newest major that fits; 0 when none does. */
static unsigned
newest_wanted(const struct ws_hostcc_wish *wish)
{
	unsigned major = wish->limits.gcc_max;
	while (major > 0 && !takes_gcc(wish, major)) {
		major--;
	}
	return major;
}

typedef WS_VEC(unsigned) major_list;

/* N of every package "g++-N" that apt knows. */
static void
ask_apt(const struct ws_host *host, struct ws_arena *a, major_list *majors)
{
	const char *program = ws_arena_printf(a, "%s/usr/bin/apt-cache", host->root);
	const char *const argv[] = {program, "pkgnames", "g++-", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_child_ask(&(struct ws_child_order){.argv = argv}, &answer, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s) {
		struct ws_str name = ws_str_cut(&rest, '\n');
		uint64_t major;
		if (name.n > 4 && memcmp(name.s, "g++-", 4) == 0
			&& ws_str_to_u64((struct ws_str){name.s + 4, name.n - 4}, &major) && major < 1000) {
			*ws_vec_push(majors, a) = (unsigned)major;
		}
	}
}

/* Without lists (a container image) apt knows only what is installed. */
static bool
has_apt_lists(const struct ws_host *host, struct ws_arena *a)
{
	WS_AUTO_DIR DIR *dir = opendir(ws_arena_printf(a, "%s/var/lib/apt/lists", host->root));
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, "_Packages")) {
			return true;
		}
	}
	return false;
}

static void
cure_debian(const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!has_apt_lists(host, a)) {
		ws_err_cure(err,
			"install one, if this release has it:  apt-get update && apt-get install g++-%u",
			newest_wanted(wish));
		return;
	}
	major_list majors = {0};
	ask_apt(host, a, &majors);
	unsigned best = 0, lowest = 0;
	for (size_t i = 0; i < majors.len; i++) {
		unsigned major = majors.at[i];
		best = takes_gcc(wish, major) && major > best ? major : best;
		lowest = lowest == 0 || major < lowest ? major : lowest;
	}
	if (best > 0) {
		ws_err_cure(err, "install one:  apt-get install g++-%u", best);
	} else if (lowest > wish->limits.gcc_max) {
		ws_err_cure(err, "%s has none to install: its oldest is g++-%u", host->pretty_name, lowest);
	} else {
		ws_err_cure(err, "%s has none to install", host->pretty_name);
	}
}

void
ws_hostcc_install_cure(
	const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err)
{
	unsigned n = newest_wanted(wish);
	if (n == 0) {
		return;
	}
	switch (ws_distro_of(host)) {
	case WS_DISTRO_DEBIAN:
		cure_debian(wish, host, err);
		break;
	case WS_DISTRO_RHEL:
		ws_err_cure(err, "install one:  dnf install gcc-toolset-%u-gcc-c++", n);
		ws_err_cure(err, "which there are:  dnf list gcc-c++ 'gcc-toolset-*-gcc-c++'");
		break;
	case WS_DISTRO_FEDORA:
		ws_err_cure(err, "install one:  dnf install gcc%u-c++", n);
		ws_err_cure(err, "which there are:  dnf list 'gcc*-c++'");
		break;
	case WS_DISTRO_SUSE:
		ws_err_cure(err, "install one:  zypper install gcc%u-c++", n);
		ws_err_cure(err, "which there are:  zypper search 'gcc*-c++'");
		break;
	case WS_DISTRO_ARCH:
		ws_err_cure(err, "install one:  pacman -S gcc%u", n);
		ws_err_cure(err, "which there are:  pacman -Ss '^gcc[0-9]*$'");
		break;
	case WS_DISTRO_ALPINE:
		ws_err_cure(err, "Alpine has one gcc a release:  apk add g++  (apk policy g++ says which)");
		break;
	case WS_DISTRO_UNKNOWN:
		ws_err_cure(err, "install gcc %u; a g++-%u on PATH or in /usr/bin is found", n, n);
		break;
	}
}
