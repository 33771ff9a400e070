/* test_publish_index_folder.c - several publishers at the folder of an index. */
#include "test.h"

#include "base/fs.h"
#include "publish/folder/index_folder.h"

#include <sys/wait.h>

enum { PUBLISHERS = 4, ROUNDS = 100 };

/* Opens the folder once the pipe is closed: all at the same moment. */
static bool
open_at_once(const char *folder, int starts, struct ws_arena *a)
{
	char byte;
	WS_AUTO_INDEX_FOLDER struct ws_index_folder t = {.lock_fd = -1};
	struct ws_err err = {0};
	bool ok = read(starts, &byte, 1) == 0
		&& ws_index_folder_open(folder, true, NULL, NULL, NULL, a, &t, &err);
	if (!ok) {
		fprintf(stderr, "%s\n", err.text);
	}
	return ok;
}

WS_TEST(publishers_that_make_an_index_at_once_all_get_it)
{
	int starts[2], status, failed = 0;
	for (int round = 0; round < ROUNDS; round++) {
		const char *folder = ws_arena_printf(a, "%s/index-%d", ws_test_dir(a), round);
		assert_int_equal(pipe(starts), 0);
		for (int i = 0; i < PUBLISHERS; i++) {
			if (fork() == 0) {
				close(starts[1]);
				_exit(open_at_once(folder, starts[0], a) ? 0 : 1);
			}
		}
		close(starts[0]);
		close(starts[1]);
		for (int i = 0; i < PUBLISHERS; i++) {
			assert_true(wait(&status) > 0);
			failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
		}
	}
	assert_int_equal(failed, 0);
}

/* A folder with these snapshots, empty. */
static const char *
make_index(struct ws_arena *a, const char *const *names, size_t count)
{
	struct ws_err err = {0};
	const char *folder = ws_test_dir(a);
	for (size_t i = 0; i < count; i++) {
		assert_ok(ws_fs_mkdirs(ws_path_join(a, folder, names[i], NULL), &err), err);
	}
	return folder;
}

WS_TEST(a_link_to_a_snapshot_may_be_spelled_in_several_ways)
{
	static const char *const names[] = {"@2026-11-22.1", "@2026-11-22.2"};
	static const char *const spellings[] = {"@2026-11-22.1", "@2026-11-22.1/", "./@2026-11-22.1",
		".//@2026-11-22.1//", "././@2026-11-22.1"};
	const char *folder = make_index(a, names, WS_LEN(names));
	const char *link = ws_path_join(a, folder, "current", NULL);
	for (size_t i = 0; i < WS_LEN(spellings); i++) {
		struct ws_err err = {0};
		struct ws_index_folder t;
		unlink(link);
		assert_int_equal(symlink(spellings[i], link), 0);
		assert_ok(ws_index_folder_look(folder, a, &t, &err), err);
		assert_string_equal(t.current, "2026-11-22.1");
	}
}

/* Else the folder that is shown lies anywhere. */
WS_TEST(the_visible_folder_is_a_snapshot_with_its_own_name)
{
	static const char *const names[] = {"@2026-11-22.1", "@2026-11-22.2", "other"};
	static const char *const bad[] = {"2026-11-22.1/..", "2026-11-22.1/../..",
		"2026-11-22.1/../other", "2026-11-22.1/", "2026-11-22.1/.", "other", "..", ".", "",
		"2026-11-22.3"};
	const char *folder = make_index(a, names, WS_LEN(names));
	const char *link = ws_path_join(a, folder, "current", NULL);
	struct ws_index_folder t = {.path = folder, .a = a};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		struct ws_err err = {0};
		assert_false(ws_index_folder_show(&t, bad[i], &err));
		assert_int_equal(err.kind, WS_ERR_PUBLISH);
		assert_false(ws_fs_is_link(link));
	}
	struct ws_err err = {0};
	assert_ok(ws_index_folder_show(&t, "2026-11-22.2", &err), err);
	assert_string_equal(t.current, "2026-11-22.2");
}

/* Else the next would be number 0, and publishing would fail for the rest of the day. */
WS_TEST(a_number_that_is_too_large_is_not_a_snapshots)
{
	static const char *const names[] = {"@2026-11-22.2", "@2026-11-22.1000000000",
		"@2026-11-22.18446744073709551615", "@2026-11-22.99999999999999999999999"};
	const int64_t day_us = 1795305600 * INT64_C(1000000); /* 2026-11-22 */
	const struct ws_index_folder t = {.path = make_index(a, names, WS_LEN(names)), .a = a};
	size_t count;
	ws_index_folder_snapshots(&t, &count);
	assert_int_equal(count, 1);
	assert_string_equal(ws_index_folder_next(&t, day_us), "2026-11-22.3");
}

/* A clock that is behind would make a name that is taken, or one that goes first of all. */
WS_TEST(the_next_snapshot_comes_after_the_last)
{
	static const char *const names[] = {"@2026-11-20.7", "@2026-11-22.9", "@2026-11-22.10"};
	const int64_t day_us = 86400 * INT64_C(1000000), here_us = 1795305600 * INT64_C(1000000);
	const struct ws_index_folder t = {.path = make_index(a, names, WS_LEN(names)), .a = a};
	const struct ws_index_folder empty = {.path = ws_test_dir(a), .a = a};
	assert_string_equal(ws_index_folder_next(&t, here_us + day_us), "2026-11-23.1");
	assert_string_equal(ws_index_folder_next(&t, here_us), "2026-11-22.11");
	assert_string_equal(ws_index_folder_next(&t, here_us - 2 * day_us), "2026-11-22.11");
	assert_string_equal(ws_index_folder_next(&empty, here_us), "2026-11-22.1");
}
