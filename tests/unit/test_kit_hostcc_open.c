/* test_kit_hostcc_open.c - what compilers are made of: the real ones of this host, and a script
 * whose every part can be changed. */
#include "test.h"

#include "base/fs.h"
#include "kit/hostcc/hostcc.h"

/* A store and its ledger. */
struct scene {
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_err err;
};

static struct scene
open_scene(struct ws_arena *a)
{
	struct scene s = {0};
	assert_ok(
		ws_store_open(ws_path_join(a, ws_test_dir(a), "s", NULL), a, &s.store, &s.err), s.err);
	s.ledger = s.store.ledger;
	assert_ok(s.ledger != NULL, s.err);
	return s;
}

static void
close_scene(struct scene *s)
{
	ws_store_close(&s->store);
}

static bool
has_folder(const struct ws_hostcc *cc, const char *folder)
{
	for (size_t i = 0; i < cc->search_count; i++) {
		if (strcmp(cc->search[i], folder) == 0) {
			return true;
		}
	}
	return false;
}

WS_TEST(every_real_compiler_opens_and_no_two_are_alike)
{
	struct scene s = open_scene(a);
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, "", "/usr/local/bin:/usr/bin:/bin", NULL, a, &list);
	assert_true(list.len > 0);
	for (size_t i = 0; i < list.len; i++) {
		struct ws_hostcc *cc = &list.at[i];
		assert_ok(ws_hostcc_open(cc, s.ledger, a, &s.err), s.err);
		assert_int_equal(strlen(cc->fingerprint), 64);
		assert_true(has_folder(cc, "/usr/include"));
		for (size_t k = 0; k < cc->search_count; k++) {
			assert_true(ws_fs_is_dir(cc->search[k]));
			assert_string_equal(cc->search[k], ws_path_normal(a, cc->search[k]));
		}
		if (cc->kind == WS_HOSTCC_GCC) { /* g++ needs the package of gcc of its version */
			assert_non_null(strstr(cc->c_path, "gcc"));
			assert_string_not_equal(cc->c_fingerprint, cc->fingerprint);
			assert_true(cc->c_search_count > 0 && cc->c_search_count < cc->search_count);
		}
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(cc->fingerprint, list.at[k].fingerprint);
		}
	}
	close_scene(&s);
}

WS_TEST(a_compiler_is_the_same_by_any_name)
{
	struct scene s = open_scene(a);
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, "", "/usr/bin:/bin", NULL, a, &list);
	assert_true(list.len > 0);
	struct ws_hostcc first = list.at[0], second;
	const char *link = ws_path_join(a, ws_test_dir(a), "another-g++", NULL);
	assert_int_equal(symlink(first.path, link), 0);
	assert_ok(ws_hostcc_ask(NULL, link, a, &second, &s.err), s.err);
	assert_ok(ws_hostcc_open(&first, s.ledger, a, &s.err), s.err);
	assert_ok(ws_hostcc_open(&second, s.ledger, a, &s.err), s.err);
	assert_string_equal(first.fingerprint, second.fingerprint);
	assert_int_equal(first.search_count, second.search_count);
	close_scene(&s);
}

static const char *
write_part(struct ws_arena *a, const char *folder, const char *name, const char *text)
{
	struct ws_err err;
	const char *path = ws_path_join(a, folder, name, NULL);
	assert_ok(ws_fs_write(path, text, strlen(text), 0755, &err), err);
	return path;
}

/* Answers with its parts in its own folder; @a more are further lines of -v. */
static struct ws_hostcc
make_compiler(struct ws_arena *a, const char *folder, const char *more)
{
	static const char *const parts[] = {"cc1plus", "as", "collect2", "ld"};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		write_part(a, folder, parts[i], parts[i]);
	}
	write_part(a, folder, "dumped", "*asm:\n\n");
	write_part(a, folder, "specs", "*cc1:\n\n");
	const char *text = ws_arena_printf(a,
		"#!/bin/sh\nd=%s\ncase \"$1\" in\n"
		"-print-prog-name=*) n=${1#*=}; if [ -e $d/$n ]; then echo $d/$n; else echo $n; fi ;;\n"
		"-dumpspecs) cat $d/dumped ;;\n"
		"*) cat >&2 <<END\n%s\n#include \"...\" search starts here:\n /not/this\n"
		"#include <...> search starts here:\n /opt/x/lib/../include/c++\n /usr/include\n"
		"End of search list.\n /nor/this\nTarget: x86_64-linux-gnu\ngcc version "
		"13.2.0\nEND\nesac\n",
		folder, more);
	struct ws_err err;
	struct ws_hostcc cc;
	assert_ok(ws_hostcc_ask(NULL, write_part(a, folder, "g++", text), a, &cc, &err), err);
	return cc;
}

WS_TEST(search_folders_are_read_and_normalised)
{
	struct scene s = open_scene(a);
	struct ws_hostcc cc = make_compiler(a, ws_test_dir(a), "");
	assert_ok(ws_hostcc_open(&cc, s.ledger, a, &s.err), s.err);
	assert_int_equal(cc.search_count, 2);
	assert_string_equal(cc.search[0], "/opt/x/include/c++");
	assert_string_equal(cc.search[1], "/usr/include");
	close_scene(&s);
}

WS_TEST(a_change_of_any_part_changes_the_fingerprint)
{
	struct scene s = open_scene(a);
	const char *folder = ws_test_dir(a);
	const char *more = ws_arena_printf(a, "Reading specs from %s/specs", folder);
	struct ws_hostcc cc = make_compiler(a, folder, more);
	assert_ok(ws_hostcc_open(&cc, s.ledger, a, &s.err), s.err);
	static const char *const parts[] = {
		"cc1plus", "as", "collect2", "ld", "lto-wrapper", "lto1", "dumped", "specs"};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		const char *before = cc.fingerprint;
		write_part(a, folder, parts[i], "changed");
		assert_ok(ws_hostcc_open(&cc, s.ledger, a, &s.err), s.err);
		assert_string_not_equal(before, cc.fingerprint);
	}
	close_scene(&s);
}

WS_TEST(a_compiler_without_a_part_is_refused)
{
	struct scene s = open_scene(a);
	const char *folder = ws_test_dir(a);
	struct ws_hostcc cc = make_compiler(a, folder, "");
	assert_int_equal(unlink(ws_path_join(a, folder, "cc1plus", NULL)), 0);
	assert_fails(ws_hostcc_open(&cc, s.ledger, a, &s.err), s.err, WS_ERR_BUILD);
	assert_contains(s.err.text, "has no cc1plus");
	assert_contains(s.err.cure, "install");
	assert_null(cc.fingerprint);
	cc = make_compiler(a, folder, "Reading specs from /nowhere/specs");
	assert_fails(ws_hostcc_open(&cc, s.ledger, a, &s.err), s.err, WS_ERR_BUILD);
	assert_contains(s.err.text, "/nowhere/specs");
	close_scene(&s);
}
