/* main.c - runs the tests that registered themselves, in the order of the file. */
#include "test.h"

#include "base/fs.h"

#define MOST 256

static struct CMUnitTest tests[MOST];
static void (*runs[MOST])(struct ws_arena *a);
static size_t count;
static char root[] = "/tmp/wheelsmith-test-XXXXXX";
static bool have_root;

static void
run_one(void **state)
{
	size_t which = *(size_t *)*state;
	struct ws_arena *a = ws_arena_make();
	runs[which](a);
	ws_arena_drop(a);
}

void
ws_test_register(const char *name, void (*run)(struct ws_arena *a))
{
	static size_t numbers[MOST];
	if (count == MOST) {
		abort();
	}
	numbers[count] = count;
	runs[count] = run;
	tests[count] =
		(struct CMUnitTest){.name = name, .test_func = run_one, .initial_state = &numbers[count]};
	count++;
}

const struct ws_user_env *
ws_test_env(void)
{
	static struct ws_user_env env = {.root = ""};
	env.vars = (const char *const *)environ;
	return &env;
}

struct rlimit
ws_test_open_no_more(void)
{
	struct rlimit before, none;
	int next = dup(STDIN_FILENO);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

const char *
ws_test_dir(struct ws_arena *a)
{
	if (!have_root && !mkdtemp(root)) {
		abort();
	}
	have_root = true;
	struct ws_err err;
	char *dir = ws_fs_temp_dir(root, "t", a, &err);
	assert_non_null(dir);
	return dir;
}

const char *
ws_test_file(
	struct ws_arena *a, const char *folder, const char *below, const char *text, mode_t mode)
{
	struct ws_err err;
	const char *path = ws_path_join(a, folder, below, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), mode, &err), err);
	return path;
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		cmocka_set_test_filter(argv[1]);
	}
	int failed = _cmocka_run_group_tests(argv[0], tests, count, NULL, NULL);
	if (have_root) {
		ws_fs_remove(root, NULL);
	}
	return failed ? 1 : 0;
}
