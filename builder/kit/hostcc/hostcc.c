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

/* The limits found so far, and the open conditions. */
struct reading {
	WS_VEC(struct ws_str) open;
	struct ws_hostcc_limits limits;
	unsigned gcc_seen, clang_seen; /* how many conditions had the shape */
};

/* False when a line ends or turns a condition and none is open. */
static bool
read_line(struct reading *r, struct ws_str line, struct ws_arena *a)
{
	if (!skip_token(&line, "#")) {
		return true;
	}
	struct ws_str word = {line.s, 0};
	while (word.n < line.n && line.s[word.n] >= 'a' && line.s[word.n] <= 'z') {
		word.n++;
	}
	struct ws_str condition = ws_str_trim((struct ws_str){line.s + word.n, line.n - word.n});
	if (ws_str_is(word, "if")) {
		struct ws_str rest = condition;
		struct ws_str around = r->open.len > 0 ? r->open.at[r->open.len - 1] : ws_str_of("");
		/* "__GNUC__ > 13" and nothing else. */
		r->gcc_seen += skip_token(&rest, "__GNUC__") && skip_token(&rest, ">")
			&& read_major(&rest, &r->limits.gcc_max) && ws_str_trim(rest).n == 0;
		/* "(__clang_major__ >= 18) || (__clang_major__ < 3) || ..." */
		unsigned over, min;
		if (skip_token(&around, "defined(__clang__)") && has_clang_bound(condition, ">=", &over)
			&& has_clang_bound(condition, "<", &min) && over > min) {
			r->limits.clang_min = min;
			r->limits.clang_max = over - 1;
			r->clang_seen++;
		}
		*ws_vec_push(&r->open, a) = condition;
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
			ws_buf_printf(
				b, "%s%s ", b->len > 0 ? ", " : "", kind == WS_HOSTCC_GCC ? "gcc" : "clang");
		} else {
			ws_buf_puts(b, i + 1 < once.len ? ", " : " and ");
		}
		ws_buf_printf(
			b, "%u%s", once.at[i]->major, is_bad(once.at[i], wish) ? " (known to fail)" : "");
	}
}

/* The first CUDA after the one that was wanted that takes a gcc of this host. */
static void
cure_newer_cuda(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; wish->facts && i < wish->facts->cuda_count; i++) {
		const struct ws_version *cuda = &wish->facts->cuda[i].version;
		struct ws_hostcc_wish other = *wish;
		other.limits.gcc_max = wish->facts->cuda[i].gcc_max;
		bool takes = false;
		for (size_t k = 0; k < list->len && ws_version_cmp(cuda, wish->cuda) > 0; k++) {
			takes = takes
				|| (list->at[k].kind == WS_HOSTCC_GCC && ws_hostcc_fits(&list->at[k], &other));
		}
		if (takes) {
			const char *torch = cuda->major == wish->cuda->major
				? ""
				: ws_arena_printf(a, " and a torch built for CUDA %u", cuda->major);
			ws_err_cure(err, "or build this cell with CUDA %s or newer%s", cuda->text, torch);
			ws_err_cure_code(err, WS_CURE_CUDA, cuda->text);
			return;
		}
	}
}

static bool
refuse(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, const struct ws_host *host,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf there = {0};
	const char *whose = host ? "this host has" : "the workers of the farm have";
	fail_majors(&there, list, wish, WS_HOSTCC_GCC);
	size_t gcc_len = there.len;
	fail_majors(&there, list, wish, WS_HOSTCC_CLANG);
	bool with_clang = there.len > gcc_len && wish->limits.clang_max > 0;
	const char *has = there.len > 0 ? ws_buf_text(&there) : "none";
	if (!wish->cuda) {
		/* Without a toolkit any gcc that is new enough will do. */
		ws_err_set(err, WS_ERR_BUILD, "no C++ compiler: gcc %u or newer is needed, %s %s",
			wish->gcc_min, whose, has);
	} else {
		/* "gcc up to 11", "gcc 9 to 11", and clang where this host has one. */
		WS_AUTO_BUF struct ws_buf taken = {0};
		if (wish->gcc_min > 0) {
			ws_buf_printf(&taken, "gcc %u to %u", wish->gcc_min, wish->limits.gcc_max);
		} else {
			ws_buf_printf(&taken, "gcc up to %u", wish->limits.gcc_max);
		}
		if (with_clang) {
			ws_buf_printf(&taken, " and clang up to %u", wish->limits.clang_max);
		}
		ws_err_set(err, WS_ERR_BUILD, "no host compiler for CUDA %s: it takes %s, %s %s",
			wish->cuda->text, ws_buf_text(&taken), whose, has);
	}
	if (!host) {
		ws_err_cure(err, "their image needs one");
	} else if (wish->cuda) {
		ws_hostcc_install_cure(wish, host, err);
	} else {
		ws_err_cure(err, "install g++ %u or newer", wish->gcc_min);
	}
	if (wish->cuda) {
		cure_newer_cuda(list, wish, err);
	}
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

/* The newest and the oldest gcc of the packages "g++-N" that apt knows; 0: none. Only a newest one
 * fits @a wish. */
static void
ask_apt(const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_arena *a,
	unsigned *newest, unsigned *oldest)
{
	const char *program = ws_arena_printf(a, "%s/usr/bin/apt-cache", host->root);
	const char *const argv[] = {program, "pkgnames", "g++-", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	*newest = *oldest = 0;
	if (!ws_child_ask(&(struct ws_child_order){.argv = argv}, &answer, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s) {
		struct ws_str name = ws_str_cut(&rest, '\n');
		uint64_t number;
		if (name.n > 4 && memcmp(name.s, "g++-", 4) == 0
			&& ws_str_to_u64((struct ws_str){name.s + 4, name.n - 4}, &number) && number < 1000) {
			unsigned major = (unsigned)number;
			*newest = takes_gcc(wish, major) && major > *newest ? major : *newest;
			*oldest = *oldest == 0 || major < *oldest ? major : *oldest;
		}
	}
}

/* @a wanted: the newest major that fits. */
static bool
cure_debian(const struct ws_hostcc_wish *wish, const struct ws_host *host, unsigned wanted,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_DIR DIR *dir = opendir(ws_arena_printf(a, "%s/var/lib/apt/lists", host->root));
	const struct dirent *entry;
	bool lists = false;
	while (dir && !lists && (entry = readdir(dir))) {
		lists = strstr(entry->d_name, "_Packages");
	}
	if (!lists) { /* in a container image apt knows only what is installed */
		return ws_err_cure(err,
			"install one, if this release has it:  apt-get update && apt-get install g++-%u",
			wanted);
	}
	unsigned newest, oldest;
	ask_apt(wish, host, a, &newest, &oldest);
	if (newest > 0) {
		return ws_err_cure(err, "install one:  apt-get install g++-%u", newest);
	}
	if (oldest > wish->limits.gcc_max) {
		return ws_err_cure(
			err, "%s has none to install: its oldest is g++-%u", host->pretty_name, oldest);
	}
	return ws_err_cure(err, "%s has none to install", host->pretty_name);
}

void
ws_hostcc_install_cure(
	const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err)
{
	/* The texts around the major version, and the command that lists the packages. */
	static const char *const commands[][3] = {
		[WS_DISTRO_RHEL] = {"dnf install gcc-toolset-", "-gcc-c++",
			"dnf list gcc-c++ 'gcc-toolset-*-gcc-c++'"},
		[WS_DISTRO_FEDORA] = {"dnf install gcc", "-c++", "dnf list 'gcc*-c++'"},
		[WS_DISTRO_SUSE] = {"zypper install gcc", "-c++", "zypper search 'gcc*-c++'"},
		[WS_DISTRO_ARCH] = {"pacman -S gcc", "", "pacman -Ss '^gcc[0-9]*$'"},
	};
	enum ws_distro distro = ws_distro_of(host);
	unsigned n = wish->limits.gcc_max;
	while (n > 0 && !takes_gcc(wish, n)) {
		n--;
	}
	if (n == 0) {
		return;
	}
	if (distro == WS_DISTRO_DEBIAN) {
		cure_debian(wish, host, n, err);
	} else if (distro == WS_DISTRO_ALPINE) {
		ws_err_cure(err, "Alpine has one gcc a release:  apk add g++  (apk policy g++ says which)");
	} else if (distro == WS_DISTRO_UNKNOWN) {
		ws_err_cure(err, "install gcc %u; a g++-%u on PATH or in /usr/bin is found", n, n);
	} else {
		ws_err_cure(err, "install one:  %s%u%s", commands[distro][0], n, commands[distro][1]);
		ws_err_cure(err, "which there are:  %s", commands[distro][2]);
	}
}
