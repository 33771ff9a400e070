/* test_engine_touched.c - what changes while a command runs: each case is a small world outside of
 * trees, a thing done to it, and whether the result may be kept. */
#include "test.h"

#include "base/fs.h"
#include "engine/changed_since.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct world {
	const char *root;
	struct ws_action action;
	struct ws_reads reads;
	struct ws_since since;
	struct ws_arena *a;
};

static const char *
at(const struct world *w, const char *name)
{
	return ws_path_join(w->a, w->root, name, NULL);
}

/* Old as pip and tar leave files: a past mtime. The ctime is the kernel's. */
static void
write_old(const struct world *w, const char *name)
{
	struct ws_err err;
	const char *path = at(w, name);
	assert_ok(ws_fs_mkdirs(ws_path_dir(w->a, path), &err), err);
	assert_ok(ws_fs_write(path, name, strlen(name), 0644, &err), err);
	struct timespec past[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	assert_int_equal(utimensat(AT_FDCWD, path, past, 0), 0);
}

static void
pass_a_tick(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

/* inc -> v1; v1/x.h is read, early/x.h is absent, v1/asked.h was asked for, v1/other.h lies in
 * front. */
static struct world
set_up(struct ws_arena *a)
{
	struct world w = {.root = ws_test_dir(a), .a = a};
	struct ws_err err;
	static const char *const files[] = {
		"v1/x.h", "v1/asked.h", "v1/passed.h", "v2/x.h", "v2/asked.h", "v2/passed.h", "folder/x.h"};
	for (size_t i = 0; i < WS_LEN(files); i++) {
		write_old(&w, files[i]);
	}
	assert_ok(ws_fs_mkdirs(at(&w, "early"), &err), err);
	assert_int_equal(symlink("v1", at(&w, "inc")), 0);
	*ws_vec_push(&w.reads.files, a) = at(&w, "inc/x.h");
	*ws_vec_push(&w.reads.files, a) = at(&w, "folder/x.h");
	*ws_vec_push(&w.reads.present, a) = at(&w, "inc/asked.h");
	*ws_vec_push(&w.reads.passed, a) = at(&w, "inc/passed.h");
	*ws_vec_push(&w.reads.absent, a) = at(&w, "early/x.h");
	*ws_vec_push(&w.reads.absent, a) = at(&w, "early/sub/y.h");
	pass_a_tick();
	w.since.run_ns = w.since.command_ns = ws_clock_file_ns();
	return w;
}

static const char *
touched(struct world *w)
{
	const char *name = ws_changed_since(&w->action, &w->reads, &w->since, w->a);
	return name ? name + strlen(w->root) + 1 : "nothing";
}

WS_TEST(without_a_change_no_file_is_young)
{
	struct world w = set_up(a);
	assert_string_equal(touched(&w), "nothing");
	/* files beside the path may come and go. */
	write_old(&w, "beside.h");
	write_old(&w, "folder/beside.h");
	assert_string_equal(touched(&w), "nothing");
}

WS_TEST(a_file_that_is_written_is_young_whatever_its_mtime_says)
{
	struct world w = set_up(a);
	write_old(&w, "v1/x.h");
	assert_string_equal(touched(&w), "inc/x.h");
}

WS_TEST(a_link_that_leads_elsewhere_is_young)
{
	struct world w = set_up(a);
	assert_int_equal(symlink("v2", at(&w, "new")), 0);
	assert_int_equal(rename(at(&w, "new"), at(&w, "inc")), 0);
	assert_string_equal(touched(&w), "inc/x.h");
}

WS_TEST(a_folder_that_was_renamed_into_the_way_is_young)
{
	struct world w = set_up(a);
	assert_int_equal(rename(at(&w, "folder"), at(&w, "folder.old")), 0);
	assert_int_equal(rename(at(&w, "v2"), at(&w, "folder")), 0);
	assert_string_equal(touched(&w), "folder/x.h");
}

WS_TEST(so_is_one_behind_a_link)
{
	struct world w = set_up(a);
	assert_int_equal(rename(at(&w, "v1"), at(&w, "v1.old")), 0);
	assert_int_equal(rename(at(&w, "v2"), at(&w, "v1")), 0);
	assert_string_equal(touched(&w), "inc/x.h");
}

WS_TEST(a_name_that_was_asked_for_and_is_new_is_young)
{
	struct world w = set_up(a);
	write_old(&w, "v1/asked.h");
	assert_string_equal(touched(&w), "inc/asked.h");
}

WS_TEST(a_header_that_appeared_in_an_earlier_folder_is_young)
{
	struct world w = set_up(a);
	write_old(&w, "v1/passed.h");
	assert_string_equal(touched(&w), "inc/passed.h");
}

WS_TEST(a_name_that_was_there_for_a_moment_is_young)
{
	struct ws_err err;
	struct world w = set_up(a);
	write_old(&w, "early/x.h");
	assert_ok(ws_fs_remove(at(&w, "early/x.h"), &err), err);
	assert_string_equal(touched(&w), "early/x.h");
}

WS_TEST(only_what_happened_since_the_command_began_counts_for_absences)
{
	struct world w = set_up(a);
	write_old(&w, "early/other.h");
	pass_a_tick();
	w.since.command_ns = ws_clock_file_ns();
	assert_string_equal(touched(&w), "nothing");
}

WS_TEST(links_that_go_in_circles_are_young)
{
	struct world w = set_up(a);
	struct ws_err err;
	assert_ok(ws_fs_remove(at(&w, "inc"), &err), err);
	assert_int_equal(symlink("inc", at(&w, "inc")), 0);
	assert_string_equal(touched(&w), "inc/x.h");
	w.since.run_ns = 1;
	assert_string_equal(touched(&w), "inc/x.h");
}
