/* test_sys_process.c - a process of a machine that is files, and this one. */
#include "test.h"

#include "base/fs.h"
#include "sys/process.h"

static void
put(struct ws_arena *a, const char *root, const char *name, const char *text, size_t len)
{
	struct ws_err err;
	const char *path = ws_path_join(a, root, name, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, len, 0644, &err), err);
}

/* Process 7 of a machine that is up for 1000 s. */
static struct ws_process
look(struct ws_arena *a, unsigned parent, unsigned session)
{
	const char *root = ws_test_dir(a);
	struct ws_process process;
	const char *stat = ws_arena_printf(a,
		"7 (py) thon)) S %u 7 %u 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %ld 10000 20 184467\n",
		parent, session, 100 * sysconf(_SC_CLK_TCK));
	static const char words[] = "python\0train\033.py\0--lr\0"
								"1e-4\0";
	put(a, root, "proc/7/stat", stat, strlen(stat));
	put(a, root, "proc/7/cmdline", words, sizeof(words) - 1);
	put(a, root, "proc/uptime", "1000.52 1999.00\n", 16);
	const char *passwd =
		ws_arena_printf(a, "other:x:77777:1::/:/bin/sh\nme:x:%u:0::/:/bin/sh\n", getuid());
	put(a, root, "etc/passwd", passwd, strlen(passwd));
	assert_true(ws_process_look(root, 7, a, &process));
	return process;
}

WS_TEST(a_process_is_recognised_by_its_files)
{
	struct ws_process process = look(a, 3, 2);
	assert_string_equal(process.command, "python train?.py --lr 1e-4");
	assert_string_equal(process.user, "me");
	assert_int_equal(process.age_s, 900);
	assert_null(process.program);
	assert_false(process.is_left_behind);
}

/* A service belongs to init, too, and leads its session. */
WS_TEST(an_unawaited_process_is_left_behind)
{
	assert_true(look(a, 1, 2).is_left_behind);
	assert_false(look(a, 1, 7).is_left_behind);
	assert_false(look(a, 2, 2).is_left_behind);
}

WS_TEST(this_process_is_seen)
{
	struct ws_process process;
	assert_true(ws_process_look("", (unsigned)getpid(), a, &process));
	assert_contains(process.program, "test_sys_process");
	assert_contains(process.command, "test_sys_process");
	assert_true(process.age_s < 3600);
	assert_false(ws_process_look("", 4194304, a, &process));
	assert_false(ws_process_look("/nowhere", 1, a, &process));
}
