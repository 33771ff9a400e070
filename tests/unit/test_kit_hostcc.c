/* test_kit_hostcc.c - what a toolkit takes, which compilers there are, and the choice. Compilers
 * that this host does not have are shell scripts that answer -v as the real ones do. */
#include "test.h"

#include "base/event.h"
#include "base/fs.h"
#include "kit/hostcc/hostcc.h"

/* The conditions of a CUDA 13.4 header with everything around them that only looks alike. */
#define GRACE \
	"#if defined(__GRCO_CLANG_COMPILER__)\n" \
	"#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 21))\n" \
	"#error -- no\n" \
	"#endif /* (__GRCO_CLANG_COMPILER__ == 1) && (__clang_major__ >= 77) */\n" \
	"#endif\n"
#define GCC(n) \
	"#if defined(__GNUC__)\n\n#if __GNUC__ > " n "\n\n#error -- gcc later than " n \
	" is not supported\n\n#endif /* __GNUC__ > " n " */\n"
#define HORIZON(n) \
	"#if defined(__HORIZON__)\n" \
	"#if (__clang_major__ >= " n ") || (__clang_major__ < 3)\n#error -- no\n" \
	"#endif  /* (__clang_major__ >= " n ") */\n#endif /* __HORIZON__  */\n"
#define CLANG(n) \
	"#if defined(__clang__) && !defined(__ibmxl_vrm__) && !defined(__ICC) && \\\n" \
	"    !defined(__HORIZON__)\n\n" \
	"#if (__clang_major__ >= " n ") || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  " \
	"(__clang_minor__ < 3))\n#error -- no\n\n#endif  /* (__clang_major__ >= " n ") */\n\n" \
	"#endif /* defined(__clang__) */\n"
#define HEADER(gcc, horizon, clang) \
	"/* crt/host_config.h\n#if __GNUC__ > 99\n*/\n#if !__NV_NO_HOST_COMPILER_CHECK\n" GRACE GCC( \
		gcc) HORIZON(horizon) CLANG(clang) "#endif /* __GNUC__ */\n#endif\n" \
										   "#if defined(_WIN32)\n#if _MSC_VER < 1920\n#error\n" \
										   "#elif _MSC_VER > 3\n#else\n#endif\n#endif\n"

WS_TEST(limits_are_read_past_everything_that_looks_like_them)
{
	struct ws_err err;
	struct ws_hostcc_limits limits;
	assert_ok(ws_hostcc_limits_parse(HEADER("16", "24", "23"), &limits, &err), err);
	assert_int_equal(limits.gcc_max, 16);
	assert_int_equal(limits.clang_min, 3);
	assert_int_equal(limits.clang_max, 22);
	assert_ok(ws_hostcc_limits_parse("#if defined(__GNUC__)\r\n#  if   __GNUC__>11 \r\n#endif\r\n"
									 "#endif",
				  &limits, &err),
		err);
	assert_int_equal(limits.gcc_max, 11);
	assert_int_equal(limits.clang_max, 0);
}

WS_TEST(a_header_of_a_different_shape_is_refused)
{
	static const char *const texts[] = {
		"",
		"#if __GNUC__ > 13\n", /* cut off */
		"#endif\n#if __GNUC__ > 13\n#endif\n",
		"#if __GNUC__ >= 14\n#endif\n",
		"#if __GNUC__ > 13 || defined(X)\n#endif\n",
		"#if __GNUC__ > 1300000000000\n#endif\n",
		"#if __GNUC__ > 12\n#endif\n#if __GNUC__ > 13\n#endif\n",
		"/* #if __GNUC__ > 13\n#endif */\n",
		"/* #if __GNUC__ > 13\n#endif \n",
		"// #if __GNUC__ > 13\n",
		HEADER("13", "18", "18") HEADER("13", "18", "18"),
		GCC("13") CLANG("18") CLANG("18") "#endif\n",
	};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_err err;
		struct ws_hostcc_limits limits;
		assert_fails(ws_hostcc_limits_parse(texts[i], &limits, &err), err, WS_ERR_BUILD);
		assert_contains(err.text, "host_config.h");
	}
}

/* A compiler that answers -v; @a banner is its line with the version. */
static const char *
add_compiler(struct ws_arena *a, const char *folder, const char *name, const char *banner)
{
	struct ws_err err;
	const char *path = ws_path_join(a, folder, name, NULL);
	const char *text = ws_arena_printf(a,
		"#!/bin/sh\n[ \"$1\" = -v ] || exit 1\n"
		"cat >&2 <<END\nConfigured with: --with-pkgversion='gcc version 1, clang version 2'\n"
		"%s\nTarget: x86_64-linux-gnu\nThread model: posix\nEND\n",
		banner);
	assert_ok(ws_fs_mkdirs(folder, &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), 0755, &err), err);
	return path;
}

static const char *
add_gcc(struct ws_arena *a, const char *folder, const char *name, const char *version)
{
	return add_compiler(a, folder, name, ws_arena_printf(a, "gcc version %s (Demo) ", version));
}

/* One line a compiler: "gcc 12.2.0 /usr/bin/g++-12". */
static const char *
list_text(struct ws_arena *a, const char *root, const char *path_variable)
{
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, root, path_variable, NULL, a, &list);
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < list.len; i++) {
		const struct ws_hostcc *cc = &list.at[i];
		const char *path = cc->path + (ws_starts_with(cc->path, root) ? strlen(root) : 0);
		ws_buf_printf(
			&b, "%s %s %s\n", cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang", cc->version, path);
		assert_string_equal(cc->machine, "x86_64-linux-gnu");
	}
	return ws_arena_strdup(a, ws_buf_text(&b));
}

WS_TEST(compilers_are_listed_once_by_their_best_name)
{
	const char *root = ws_test_dir(a);
	const char *bin = ws_path_join(a, root, "usr/bin", NULL);
	const char *other = ws_path_join(a, root, "other", NULL);
	add_gcc(a, bin, "x86_64-linux-gnu-g++-9", "9.5.0");
	add_gcc(a, bin, "g++-13", "13.2.0 20240102");
	add_gcc(a, bin, "g++-13.foo", "13.9.0");
	add_gcc(a, bin, "g++-10", "10.2.1");
	add_gcc(a, other, "g++-4.9", "4.9.4");
	add_compiler(a, other, "clang++", "Ubuntu clang version 14.0.0-1ubuntu1.1");
	add_compiler(a, other, "g++-7", "no banner");
	add_gcc(a, other, "ccache", "13.2.0");
	add_gcc(a, ws_path_join(a, root, "opt/rh/gcc-toolset-12/root/usr/bin", NULL), "g++", "12.1.1");
	assert_int_equal(symlink("x86_64-linux-gnu-g++-9", ws_path_join(a, bin, "g++-9", NULL)), 0);
	assert_int_equal(symlink("g++-9", ws_path_join(a, bin, "g++", NULL)), 0);
	assert_int_equal(symlink("nowhere", ws_path_join(a, bin, "g++-8", NULL)), 0);
	assert_int_equal(symlink("ccache", ws_path_join(a, other, "g++", NULL)), 0);

	const char *path = ws_arena_printf(a, ":relative:/nowhere:%s:%s", bin, other);
	assert_string_equal(list_text(a, root, path),
		"gcc 13.2.0 /usr/bin/g++-13\n"
		"gcc 12.1.1 /opt/rh/gcc-toolset-12/root/usr/bin/g++\n"
		"gcc 10.2.1 /usr/bin/g++-10\n"
		"gcc 9.5.0 /usr/bin/g++-9\n"
		"gcc 4.9.4 /other/g++-4.9\n"
		"clang 14.0.0 /other/clang++\n");
	assert_string_equal(list_text(a, ws_test_dir(a), ""), "");
}

struct counting {
	struct ws_sink sink;
	unsigned count;
};

static void
count_warning(struct ws_sink *self, const struct ws_event *event)
{
	assert_int_equal(event->kind, WS_EVENT_WARNING);
	assert_contains(event->subject, "g++-13' does not answer and is left out");
	assert_contains(event->subject, "exited with 1");
	((struct counting *)self)->count++;
}

/* Another one would be chosen in its place, and everything built again, without a word. */
WS_TEST(a_compiler_that_does_not_answer_is_named)
{
	const char *root = ws_test_dir(a);
	const char *bin = ws_path_join(a, root, "usr/bin", NULL);
	add_gcc(a, bin, "g++-12", "12.2.0");
	ws_test_file(a, root, "usr/bin/g++-13", "#!/bin/sh\nexit 1\n", 0755);
	struct counting warnings = {.sink.take = count_warning};
	struct ws_events events = {0};
	ws_events_add(&events, &warnings.sink);
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, root, "", &events, a, &list);
	assert_int_equal(warnings.count, 1);
	assert_int_equal(list.len, 1);
	assert_int_equal(list.at[0].major, 12);
}

/* This host's own g++, whichever it is. */
WS_TEST(the_real_compiler_of_this_host_is_listed)
{
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, "", "/usr/local/bin:/usr/bin:/bin", NULL, a, &list);
	assert_true(list.len > 0);
	assert_true(list.at[0].path[0] == '/');
	assert_true(list.at[0].major >= 4);
	assert_contains(list.at[0].machine, "linux");
}

/* A host with compilers in its usr/bin, and what one wish gets there. */
struct scene {
	struct ws_host host;
	ws_hostcc_list list;
	struct ws_hostcc_wish wish;
	struct ws_hostcc chosen;
	struct ws_err err;
};

static struct scene
make_scene(struct ws_arena *a, const char *os_release, const char *const *gccs)
{
	const char *root = ws_test_dir(a);
	struct ws_version *cuda = WS_NEW(a, struct ws_version);
	struct scene s = {.wish = {.cuda = cuda, .limits = {11, 3, 14}}};
	assert_true(ws_version_parse("11.8", a, cuda));
	ws_test_file(a, root, "etc/os-release", os_release, 0644);
	for (; *gccs; gccs++) {
		const char *name = ws_arena_printf(a, "g++-%.2s", *gccs);
		add_gcc(a, ws_path_join(a, root, "usr/bin", NULL), name, *gccs);
	}
	s.host = ws_host_read(root, a);
	ws_hostcc_list_all(NULL, root, "", NULL, a, &s.list);
	return s;
}

static bool
choose(struct scene *s)
{
	return ws_hostcc_choose(&s->list, &s->wish, &s->host, &s->chosen, &s->err);
}

#define DEBIAN "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
#define GCCS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const unsigned thirteen[] = {13};

WS_TEST(the_newest_that_fits_is_chosen)
{
	struct scene s = make_scene(a, DEBIAN, GCCS("11.3.0", "12.2.0", "13.3.0", "14.2.0", "15.1.0"));
	assert_ok(choose(&s), s.err);
	assert_int_equal(s.chosen.major, 11);
	s.wish = (struct ws_hostcc_wish){.limits = {13, 3, 17}, .gcc_min = 9};
	assert_ok(choose(&s), s.err);
	assert_string_equal(s.chosen.version, "13.3.0");
	assert_contains(s.chosen.path, "/usr/bin/g++-13");
	s.wish.limits.gcc_max = 14;
	assert_ok(choose(&s), s.err);
	assert_int_equal(s.chosen.major, 14);
	s.wish.limits.gcc_max = 13;
	s.wish.bad = thirteen;
	s.wish.bad_count = 1;
	assert_ok(choose(&s), s.err);
	assert_int_equal(s.chosen.major, 12);
}

WS_TEST(clang_is_chosen_only_when_no_gcc_fits)
{
	struct scene s = make_scene(a, DEBIAN, GCCS("14.2.0"));
	const char *bin = ws_path_join(a, s.host.root, "usr/bin", NULL);
	add_compiler(a, bin, "clang++-19", "Debian clang version 19.1.7 (3)");
	add_compiler(a, bin, "clang++-14", "Debian clang version 14.0.6");
	add_compiler(a, bin, "clang++-13", "Debian clang version 13.0.1");
	s.list = (ws_hostcc_list){0};
	ws_hostcc_list_all(NULL, s.host.root, "", NULL, a, &s.list);
	assert_ok(choose(&s), s.err);
	assert_string_equal(s.chosen.version, "14.0.6");
	assert_int_equal(s.chosen.kind, WS_HOSTCC_CLANG);
	s.wish.limits.gcc_max = 14;
	assert_ok(choose(&s), s.err);
	assert_int_equal(s.chosen.kind, WS_HOSTCC_GCC);
	s.wish.limits = (struct ws_hostcc_limits){11, 0, 0};
	assert_fails(choose(&s), s.err, WS_ERR_BUILD);
	assert_string_equal(s.err.text,
		"no host compiler for CUDA 11.8: it takes gcc up to 11, this "
		"host has gcc 14, clang 13, 14 and 19");
}

WS_TEST(debian_is_asked_what_it_has)
{
	struct scene s = make_scene(a, DEBIAN, GCCS("12.2.0", "14.2.0"));
	struct ws_cuda_toolkit cuda[3] = {{.gcc_max = 11}, {.gcc_max = 12}, {.gcc_max = 13}};
	assert_true(ws_version_parse("11.8", a, &cuda[0].version));
	assert_true(ws_version_parse("12.0", a, &cuda[1].version));
	assert_true(ws_version_parse("12.4", a, &cuda[2].version));
	struct ws_facts facts = {.cuda = cuda, .cuda_count = 3};
	s.wish.facts = &facts;
	ws_test_file(a, s.host.root, "var/lib/apt/lists/mirror_Packages.lz4", "x", 0644);
	ws_test_file(a, s.host.root, "usr/bin/apt-cache",
		"#!/bin/sh\n[ \"$*\" = 'pkgnames g++-' ] || exit 1\nprintf '%s\\n' g++-12 g++-11 "
		"g++-11-multilib g++-9 g++-mingw-w64\n",
		0755);
	assert_fails(choose(&s), s.err, WS_ERR_BUILD);
	assert_string_equal(s.err.text,
		"no host compiler for CUDA 11.8: it takes gcc up to 11, this host has gcc 12 and 14");
	assert_string_equal(s.err.cure,
		"install one:  apt-get install g++-11\n"
		"or build this cell with CUDA 12.0 or newer and a torch built for CUDA 12\n");
	assert_cure(s.err, WS_CURE_CUDA, "12.0");

	ws_test_file(
		a, s.host.root, "usr/bin/apt-cache", "#!/bin/sh\nprintf '%s\\n' g++-12 g++-14\n", 0755);
	s.wish.facts = NULL;
	assert_fails(choose(&s), s.err, WS_ERR_BUILD);
	assert_string_equal(
		s.err.cure, "Debian GNU/Linux 12 (bookworm) has none to install: its oldest is g++-12\n");

	s.wish.gcc_min = 10;
	s.list.len = 0;
	assert_int_equal(
		unlink(ws_path_join(a, s.host.root, "var/lib/apt/lists/mirror_Packages.lz4", NULL)), 0);
	assert_fails(choose(&s), s.err, WS_ERR_BUILD);
	assert_string_equal(
		s.err.text, "no host compiler for CUDA 11.8: it takes gcc 10 to 11, this host has none");
	assert_contains(s.err.cure, "apt-get update && apt-get install g++-11");
}

WS_TEST(every_distribution_has_its_own_command)
{
	static const struct {
		const char *os_release, *cure;
	} rows[] = {
		{"ID=rhel\n", "dnf install gcc-toolset-11-gcc-c++"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install gcc-toolset-11-gcc-c++"},
		{"ID=odd\nID_LIKE=\"rhel fedora\"\n", "dnf install gcc-toolset-11-gcc-c++"},
		{"ID=fedora\n", "dnf install gcc11-c++"},
		{"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "zypper install gcc11-c++"},
		{"ID=arch\n", "pacman -S gcc11"},
		{"ID=manjaro\nID_LIKE=arch\n", "pacman -S gcc11"},
		{"ID=alpine\n", "apk add g++"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt-get install g++-11"},
		{"ID=plan9\n", "install gcc 11"},
		{"", "install gcc 11"},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct scene s = make_scene(a, rows[i].os_release, GCCS("12.2.0"));
		assert_fails(choose(&s), s.err, WS_ERR_BUILD);
		assert_contains(s.err.text, "it takes gcc up to 11, this host has gcc 12");
		assert_contains(s.err.cure, rows[i].cure);
	}
}

WS_TEST(a_compiler_that_is_known_to_fail_is_not_recommended)
{
	struct scene s = make_scene(a, "ID=fedora\n", GCCS("13.1.0"));
	s.wish = (struct ws_hostcc_wish){
		.cuda = s.wish.cuda, .limits = {13, 3, 17}, .gcc_min = 9, .bad = thirteen, .bad_count = 1};
	assert_fails(choose(&s), s.err, WS_ERR_BUILD);
	assert_contains(s.err.text, "it takes gcc 9 to 13, this host has gcc 13 (known to fail)");
	assert_contains(s.err.cure, "dnf install gcc12-c++");
}

WS_TEST(without_a_need_for_cuda_no_message_names_it)
{
	struct scene s = make_scene(a, DEBIAN, GCCS("8.3.0"));
	s.wish = (struct ws_hostcc_wish){.limits = {99, 0, 0}, .gcc_min = 9};
	assert_false(choose(&s));
	assert_string_equal(
		s.err.text, "no C++ compiler: gcc 9 or newer is needed, this host has gcc 8");
	assert_contains(s.err.cure, "install g++ 9 or newer");
}
