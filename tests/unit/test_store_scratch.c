/* test_store_scratch.c - partial work belongs to its process, and is removed after that process. */
#include "test.h"

#include "base/fs.h"
#include "store/tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct ws_store
open_store(const char *dir, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_store store;
	assert_ok(ws_store_open(dir, a, &store, &err), err);
	return store;
}

static unsigned
count_partials(const struct ws_store *store, struct ws_arena *a)
{
	unsigned count = 0;
	WS_AUTO_DIR DIR *dir = opendir(ws_store_path(store, a, "partial"));
	for (const struct dirent *entry; (entry = readdir(dir));) {
		count += entry->d_name[0] != '.';
	}
	return count;
}

/* A child that is in the middle of a tree with a download beside it; says so by a byte. */
static pid_t
start_maker(const char *dir, struct ws_arena *a)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct ws_store store = open_store(dir, a);
		struct ws_scratch scratch;
		struct ws_tree_builder *b = ws_tree_begin(&store, "torch-1", a, NULL);
		bool fine = b && ws_tree_add_file(b, "below/x", "abc", 3, false, NULL)
			&& ws_scratch_make(ws_store_path(&store, a, "partial"), "wheel-", a, &scratch, NULL)
			&& ws_fs_write(ws_store_path(&store, a, "partial/x.part"), "abc", 3, 0644, NULL);
		if (!fine || write(ready[1], "!", 1) != 1) {
			_exit(1);
		}
		for (;;) {
			pause();
		}
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

WS_TEST(the_next_run_removes_what_a_killed_one_was_making)
{
	const char *dir = ws_test_dir(a);
	pid_t maker = start_maker(dir, a);
	struct ws_store store = open_store(dir, a);
	assert_int_equal(count_partials(&store, a), 3);
	ws_store_close(&store);
	kill(maker, SIGKILL);
	assert_int_equal(waitpid(maker, NULL, 0), maker);
	store = open_store(dir, a);
	assert_true(ws_fs_exists(ws_store_path(&store, a, "partial/x.part")));
	assert_int_equal(count_partials(&store, a), 1);
	ws_store_close(&store);
}

WS_TEST_ERR(dropped_scratch_is_removed)
{
	const char *dir = ws_test_dir(a);
	struct ws_store store = open_store(dir, a);
	unsigned before = count_partials(&store, a);
	struct ws_scratch scratch;
	assert_ok(ws_scratch_make(ws_store_path(&store, a, "partial"), "x-", a, &scratch, &err), err);
	assert_true(ws_fs_is_dir(scratch.path));
	assert_int_equal(count_partials(&store, a), before + 1);
	ws_scratch_drop(&scratch);
	ws_scratch_drop(&scratch);
	assert_int_equal(count_partials(&store, a), before);
	ws_store_close(&store);
}
