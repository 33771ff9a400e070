/* test_store_answer_cache.c - answers that are remembered, and what makes a program be asked
 * again. */
#include "test.h"

#include "base/fs.h"
#include "store/answer_cache.h"

#include <fcntl.h>
#include <time.h>

/* A program of ours, a file that it prints, and a path inside that file. */
struct scene {
	struct ws_store store;
	const char *program, *says, *named;
	struct ws_buf answer;
};

static void
write_text(const char *path, const char *text)
{
	struct ws_err err;
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
}

/* An answer younger than two seconds does not count. */
static void
settle(void)
{
	nanosleep(&(struct timespec){.tv_sec = 4}, NULL);
}

static struct scene
make_scene(struct ws_arena *a)
{
	struct ws_err err;
	const char *folder = ws_test_dir(a);
	struct scene s = {
		.program = ws_path_join(a, folder, "cat", NULL),
		.says = ws_path_join(a, folder, "said", NULL),
		.named = ws_path_join(a, folder, "lib/x.so", NULL),
	};
	assert_ok(ws_store_open(ws_path_join(a, folder, "store", NULL), a, &s.store, &err), err);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, folder, "lib", NULL), &err), err);
	assert_ok(ws_fs_copy("/bin/cat", s.program, 0755, &err), err);
	write_text(s.named, "library");
	write_text(s.says, ws_arena_printf(a, "library=%s:/nowhere/y.so one\n", s.named));
	settle();
	return s;
}

static const char *
ask(struct scene *s)
{
	struct ws_err err;
	const char *const argv[] = {s->program, s->says, NULL};
	ws_buf_clear(&s->answer);
	assert_ok(ws_answer_cache_ask(
				  s->store.ledger, &(struct ws_child_order){.argv = argv}, &s->answer, &err),
		err);
	return ws_buf_text(&s->answer);
}

/* The program would say @a word by now, and whether it was asked. */
static bool
is_asked(struct scene *s, const char *word, struct ws_arena *a)
{
	write_text(s->says, ws_arena_printf(a, "library=%s:/nowhere/y.so %s\n", s->named, word));
	return strstr(ask(s), word) != NULL;
}

WS_TEST(an_answer_counts_until_something_that_it_names_looks_otherwise)
{
	struct scene s = make_scene(a);
	assert_contains(ask(&s), "one");
	assert_false(is_asked(&s, "two", a));
	assert_contains(ask(&s), "one");
	/* A different file with the same size and time. */
	struct stat before;
	assert_int_equal(stat(s.named, &before), 0);
	const char *other = ws_arena_printf(a, "%s.new", s.named);
	write_text(other, "LIBRARY");
	assert_int_equal(
		utimensat(AT_FDCWD, other, (struct timespec[]){before.st_mtim, before.st_mtim}, 0), 0);
	assert_int_equal(rename(other, s.named), 0);
	assert_true(is_asked(&s, "three", a));
	/* The answer was too young to be kept. */
	assert_true(is_asked(&s, "four", a));
	settle();
	assert_contains(ask(&s), "four");
	assert_false(is_asked(&s, "five", a));
	/* A file beside it may be found before it. */
	write_text(ws_arena_printf(a, "%s.1", s.named), "");
	assert_true(is_asked(&s, "six", a));
	ws_buf_release(&s.answer);
	ws_store_close(&s.store);
}

WS_TEST_ERR(another_program_another_environment_and_a_script_are_asked)
{
	struct scene s = make_scene(a);
	assert_contains(ask(&s), "one");
	assert_false(is_asked(&s, "two", a));
	/* Other bytes under the same name. */
	const char *other = ws_arena_printf(a, "%s.new", s.program);
	assert_ok(ws_fs_copy("/bin/cat", other, 0755, &err), err);
	assert_int_equal(rename(other, s.program), 0);
	assert_contains(ask(&s), "two");
	settle();
	assert_contains(ask(&s), "two");
	assert_false(is_asked(&s, "three", a));
	const char *const argv[] = {s.program, s.says, NULL};
	const char *const env[] = {"LANG=de", NULL};
	ws_buf_clear(&s.answer);
	assert_ok(ws_answer_cache_ask(s.store.ledger,
				  &(struct ws_child_order){.argv = argv, .env = env}, &s.answer, &err),
		err);
	assert_contains(ws_buf_text(&s.answer), "three");
	/* Anything may be behind a script. */
	write_text(other, "#!/bin/sh\nexec /bin/cat \"$@\"\n");
	assert_int_equal(chmod(other, 0755), 0);
	assert_int_equal(rename(other, s.program), 0);
	settle();
	assert_contains(ask(&s), "three");
	assert_true(is_asked(&s, "four", a));
	ws_buf_release(&s.answer);
	ws_store_close(&s.store);
}

WS_TEST_ERR(a_quoted_path_may_hold_blanks_and_one_with_an_escape_is_asked_again)
{
	struct scene s = make_scene(a);
	const char *folder = ws_path_join(a, ws_path_dir(a, s.says), "my lib", NULL);
	assert_ok(ws_fs_mkdirs(folder, &err), err);
	settle();
	write_text(s.says, ws_arena_printf(a, "{\"folder\": \"%s/x.so\"} one", folder));
	assert_contains(ask(&s), "one");
	write_text(s.says, "two");
	assert_contains(ask(&s), "one");
	write_text(ws_path_join(a, folder, "x.so", NULL), "");
	assert_contains(ask(&s), "two");
	s.says = ws_path_join(a, ws_path_dir(a, s.says), "said as well", NULL);
	write_text(s.says, "{\"folder\": \"/nowhere/caf\\u00e9/x.so\"} three");
	settle();
	assert_contains(ask(&s), "three");
	write_text(s.says, "four");
	assert_contains(ask(&s), "four");
	ws_buf_release(&s.answer);
	ws_store_close(&s.store);
}
