/* test_index_target.c - several publishers at the folder of an index. */
#include "test.h"

#include "base/fs.h"
#include "index/target.h"

#include <sys/wait.h>
#include <unistd.h>

enum { PUBLISHERS = 4, ROUNDS = 100 };

/* Opens the folder once the pipe is closed: all at the same moment. */
static bool
open_at_once(const char *folder, int starts, struct ws_arena *a)
{
	char byte;
	WS_AUTO_INDEX_TARGET struct ws_index_target t = {.lock_fd = -1};
	struct ws_err err = {0};
	bool ok =
		read(starts, &byte, 1) == 0 && ws_index_target_open(folder, NULL, NULL, NULL, a, &t, &err);
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
