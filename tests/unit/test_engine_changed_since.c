/* test_engine_changed_since.c - what changes while a command runs: each case is a small world
 * outside of trees, a thing done to it, and whether the result may be kept. */
#include "test.h"

#include "base/fs.h"
#include "engine/changed_since.h"
#include "sys/clock.h"

#include <fcntl.h>

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

/* "write NAME", "remove NAME", "link TARGET NAME", "move NAME NAME". */
static void
take_step(const struct world *w, const char *step)
{
	char verb[8], first[32], second[32] = "";
	struct ws_err err;
	assert_true(sscanf(step, "%7s %31s %31s", verb, first, second) >= 2);
	switch (verb[0]) {
	case 'w':
		write_old(w, first);
		break;
	case 'r':
		assert_ok(ws_fs_remove(at(w, first), &err), err);
		break;
	case 'l':
		assert_int_equal(symlink(first, at(w, second)), 0);
		break;
	default:
		assert_int_equal(rename(at(w, first), at(w, second)), 0);
	}
}

WS_TEST(a_change_on_the_way_to_a_name_is_young)
{
	static const struct {
		const char *what, *steps[2], *touched;
	} rows[] = {
		{"no change", {NULL}, "nothing"},
		{"files beside the path", {"write beside.h", "write folder/beside.h"}, "nothing"},
		{"a file, whatever its mtime says", {"write v1/x.h"}, "inc/x.h"},
		{"a link that leads elsewhere", {"link v2 new", "move new inc"}, "inc/x.h"},
		{"a folder renamed into the way", {"move folder old", "move v2 folder"}, "folder/x.h"},
		{"so behind a link", {"move v1 old", "move v2 v1"}, "inc/x.h"},
		{"a name that was asked for and is new", {"write v1/asked.h"}, "inc/asked.h"},
		{"a header in an earlier folder", {"write v1/passed.h"}, "inc/passed.h"},
		{"there for a moment", {"write early/x.h", "remove early/x.h"}, "early/x.h"},
		{"links in circles", {"remove inc", "link inc inc"}, "inc/x.h"},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct world w = set_up(a);
		for (size_t k = 0; k < 2 && rows[i].steps[k]; k++) {
			take_step(&w, rows[i].steps[k]);
		}
		if (strcmp(touched(&w), rows[i].touched) != 0) {
			fail_msg("%s: %s is young", rows[i].what, touched(&w));
		}
		/* Circles are young however old they are. */
		w.since.run_ns = i + 1 == WS_LEN(rows) ? 1 : w.since.run_ns;
		assert_string_equal(touched(&w), rows[i].touched);
	}
}

WS_TEST(only_what_happened_since_the_command_began_counts_for_absences)
{
	struct world w = set_up(a);
	write_old(&w, "early/other.h");
	pass_a_tick();
	w.since.command_ns = ws_clock_file_ns();
	assert_string_equal(touched(&w), "nothing");
}
