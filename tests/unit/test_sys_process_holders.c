/* test_sys_process_holders.c - processes of a machine that is files. */
#include "test.h"

#include "base/fs.h"
#include "sys/process.h"

static void
put(struct ws_arena *a, const char *root, unsigned pid, const char *statm, const char *comm)
{
	struct ws_err err;
	const char *dir = ws_arena_printf(a, "%s/proc/%u", root, pid);
	assert_ok(ws_fs_mkdirs(dir, &err), err);
	assert_ok(
		ws_fs_write(ws_path_join(a, dir, "statm", NULL), statm, strlen(statm), 0644, &err), err);
	if (comm) {
		assert_ok(
			ws_fs_write(ws_path_join(a, dir, "comm", NULL), comm, strlen(comm), 0644, &err), err);
	}
}

WS_TEST(the_largest_come_first)
{
	const char *root = ws_test_dir(a);
	struct ws_holder top[3];
	put(a, root, 1, "9 10 1 1 0 1 0\n", "init\n");
	put(a, root, 22, "900 400 1\n", "cc1plus\n");
	put(a, root, 3, "900 200 1\n", "py\033thon\n");
	put(a, root, 4, "900 300 1\n", NULL);
	put(a, root, 5, "900 0 1\n", "kthread\n");
	put(a, root, 6, "nonsense\n", "odd\n");
	put(a, root, 7, "1 99999999999999999999 1\n", "odd\n");
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	assert_int_equal(ws_holders_find(root, a, top, 3), 3);
	assert_int_equal(top[0].pid, 22);
	assert_string_equal(top[0].name, "cc1plus");
	assert_int_equal(top[0].rss_bytes, 400 * page);
	assert_string_equal(top[1].name, "?");
	assert_int_equal(top[2].pid, 3);
	assert_string_equal(top[2].name, "py?thon");
}

WS_TEST(fewer_than_asked_for)
{
	const char *root = ws_test_dir(a);
	struct ws_holder top[3];
	assert_int_equal(ws_holders_find(root, a, top, 3), 0);
	put(a, root, 8, "1 1 0\n", "x\n");
	assert_int_equal(ws_holders_find(root, a, top, 3), 1);
	assert_int_equal(ws_holders_find("", a, top, 3), 3);
}
