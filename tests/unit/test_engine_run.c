/* test_engine_run.c - the loop, with a runner that follows a script and a clock that the test sets.
 * No process is started. */
#include "base/fs.h"
#include "engine_world.h"

#include <sqlite3.h>

#include <fcntl.h>

static struct ws_node *
add(struct engine_world *w, const char *subject)
{
	return ws_graph_add(w->graph, engine_world_action(w, subject, NULL));
}

static struct ws_node *
add_after(struct engine_world *w, const char *subject, const struct ws_node *maker)
{
	struct ws_action *action = engine_world_action(w, subject, NULL);
	struct ws_input *input = WS_NEW(w->a, struct ws_input);
	*input = (struct ws_input){.name = "in", .from = maker};
	action->inputs = input;
	action->input_count = 1;
	return ws_graph_add(w->graph, action);
}

WS_TEST(a_second_run_finds_everything)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct ws_node *made = add(&w, "a.cu");
	add_after(&w, "link", made);
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 2);
	assert_string_equal(made->why, "no run of this command on these inputs is known");

	w.graph = ws_graph_make(a);
	made = add(&w, "a.cu");
	struct ws_node *link = add_after(&w, "link", made);
	engine_world_run(&w);
	assert_int_equal(w.summary.hits, 2);
	assert_int_equal(w.runner.started.len, 2);
	assert_null(link->why);
}

WS_TEST(equal_outputs_cut_off_what_follows)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct ws_node *made = ws_graph_add(w.graph, engine_world_action(&w, "a.cu", "same"));
	add_after(&w, "link", made);
	engine_world_run(&w);

	/* Another tool, so the first action runs; it writes the same bytes, so the second does not. */
	w.graph = ws_graph_make(a);
	struct ws_action *other = engine_world_action(&w, "a.cu", "same");
	other->tool.fingerprint = "beef";
	add_after(&w, "link", ws_graph_add(w.graph, other));
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.hits, 1);
}

WS_TEST(equal_actions_of_two_cells_run_once)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 8 * GIB, NULL, 0);
	add(&w, "a.cu");
	add(&w, "a.cu");
	add(&w, "a.cu");
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.hits, 2);
	assert_int_equal(w.runner.most_active, 1);
}

WS_TEST(the_longest_path_starts_first_and_may_take_ten_times_as_long)
{
	static const struct scripted_line script[] = {
		{"short", 1000, GIB, 0, 0, false}, {"long", 90000, GIB, 0, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 1, 8 * GIB, script, 2);
	add(&w, "short");
	add(&w, "long");
	engine_world_run(&w);
	/* Now the ledger knows: with an empty store the long one goes first. */
	assert_ok(ws_fs_remove(ws_store_path(&w.store, a, "ac"), &w.err), w.err);
	w.graph = ws_graph_make(a);
	add(&w, "short");
	add(&w, "long");
	engine_world_run(&w);
	assert_string_equal(w.runner.started.at[2], "long");
	static const uint64_t minutes[] = {60, 60, 15, 5};
	for (size_t i = 0; i < WS_LEN(minutes); i++) {
		assert_int_equal(w.runner.deadlines_ms.at[i] / 1000, minutes[i] * 60); /* except ticks */
	}
}

WS_TEST(memory_decides_how_many_run)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 8, 3 * GIB, NULL, 0);
	for (int i = 0; i < 6; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 6);
	assert_int_equal(w.runner.most_active, 3);
}

WS_TEST(an_action_larger_than_the_budget_runs_alone)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 8, 2 * GIB, NULL, 0);
	struct ws_action *huge = engine_world_action(&w, "huge.cu", NULL);
	huge->need.rss_bytes = 64 * GIB;
	huge->cpu_ms = 1000000;
	ws_graph_add(w.graph, huge);
	add(&w, "small.cu");
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(w.runner.most_active, 1);
}

WS_TEST(a_killed_action_runs_again_alone)
{
	static const struct scripted_line script[] = {{"big.cu", 5000, 2 * GIB, -1, 9, false},
		{"big.cu", 9000, 3 * GIB, 0, 0, false}, {"a.cu", 20000, GIB, 0, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 6 * GIB, script, 3);
	add(&w, "a.cu");
	struct ws_node *big = add(&w, "big.cu");
	engine_world_run(&w);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(big->attempt, 2);
	/* It waited for a.cu's end, though memory was free. */
	assert_int_equal(w.runner.now_ms, 29000);
}

WS_TEST(an_action_killed_twice_is_a_clear_error)
{
	static const struct scripted_line script[] = {
		{"big.cu", 72000, 6 * GIB, -1, 9, false}, {"big.cu", 72000, 6 * GIB, -1, 9, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 6 * GIB, script, 2);
	struct ws_node *big = add(&w, "big.cu");
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
	assert_string_equal(big->failure->text, "'big.cu' was killed (out of memory) after 1 m 12 s");
	assert_contains(big->failure->cure, "it held 6.0 GiB; it was run again alone");
}

WS_TEST(the_first_failure_ends_the_run_unless_told_to_keep_going)
{
	static const struct scripted_line script[] = {
		{"bad.cu", 1000, GIB, 2, 0, false}, {"bad.cu", 1000, GIB, 2, 0, false}};
	for (int keep_going = 0; keep_going < 2; keep_going++) {
		WS_AUTO_WORLD struct engine_world w;
		engine_world_open(&w, a, 1, 8 * GIB, script, 2);
		w.engine.keep_going = keep_going;
		struct ws_node *bad = add(&w, "bad.cu");
		struct ws_node *link = add_after(&w, "link", bad);
		struct ws_node *good = add(&w, "good.cu");
		assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
		assert_string_equal(bad->failure->text, "'bad.cu' failed: cc exited with 2");
		assert_int_equal(link->state, WS_NODE_CANCELLED);
		assert_int_equal(good->state, keep_going ? WS_NODE_DONE : WS_NODE_CANCELLED);
		assert_ptr_equal(w.summary.first_failed, bad);
	}
}

/* Failed, killed and run again, done: what a run costs is what its commands used. */
WS_TEST(the_cpu_of_a_run_is_that_of_all_its_commands)
{
	static const struct scripted_line script[] = {{"bad", 7000, GIB, 1, 0, false},
		{"big", 20000, GIB, 0, 9, false}, {"big", 30000, GIB, 0, 0, false},
		{"good", 500, GIB, 0, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 8 * GIB, script, WS_LEN(script));
	w.engine.keep_going = true;
	add(&w, "bad");
	add(&w, "big");
	add(&w, "good");
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
	assert_int_equal(w.summary.failed, 1);
	assert_int_equal(w.summary.cpu_ms, 57500);
}

WS_TEST(success_without_the_output_is_a_failure)
{
	static const struct scripted_line script[] = {{"a.cu", 1000, GIB, 0, 0, true}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 1, 8 * GIB, script, 1);
	struct ws_node *node = add(&w, "a.cu");
	assert_false(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err));
	assert_string_equal(node->failure->text, "'a.cu' failed: cc succeeded but wrote no 'out'");
}

WS_TEST(siblings_of_a_killed_action_wait_for_its_second_run)
{
	static const struct scripted_line script[] = {{"big.cu", 5000, 2 * GIB, -1, 9, false},
		{"big.cu", 9000, 3 * GIB, 0, 0, false}, {"a.cu", 20000, GIB, 0, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 16 * GIB, script, 3);
	add(&w, "a.cu");
	for (int i = 0; i < 3; i++) {
		add(&w, "big.cu");
	}
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 3);
	assert_int_equal(w.runner.now_ms, 29000);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(w.summary.hits, 2);
}

WS_TEST(equal_actions_fail_once)
{
	static const struct scripted_line script[] = {{"bad.cu", 1000, GIB, 2, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 8 * GIB, script, 1);
	w.engine.keep_going = true;
	struct ws_node *twins[3], *links[3];
	for (int i = 0; i < 3; i++) {
		twins[i] = add(&w, "bad.cu");
		links[i] = add_after(&w, "link", twins[i]);
	}
	struct ws_node *good = add(&w, "good.cu");
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
	assert_int_equal(w.runner.started.len, 2);
	assert_int_equal(w.summary.failed, 3);
	assert_int_equal(good->state, WS_NODE_DONE);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(twins[i]->state, WS_NODE_FAILED);
		assert_string_equal(twins[i]->failure->text, "'bad.cu' failed: cc exited with 2");
		assert_int_equal(links[i]->state, WS_NODE_CANCELLED);
	}
}

WS_TEST(memory_that_others_may_use_is_not_promised_twice)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 8, 16 * GIB, NULL, 0);
	/* Jobs of 1 GiB that hold next to nothing yet, on a host where 3 GiB are free. */
	w.host = ws_host_read(engine_world_host(a, 3 * GIB), a);
	for (int i = 0; i < 6; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	engine_world_run(&w);
	assert_int_equal(w.runner.most_active, 2);
}

WS_TEST(memory_of_running_jobs_is_not_free)
{
	struct ws_host host = ws_host_read(engine_world_host(a, 3 * GIB), a);
	/* It was promised 2 GiB: while it holds nothing they must be left, once it holds them they are
	 * gone. */
	assert_false(ws_budget_host_has(&host, 2 * GIB, 2 * GIB, 0));
	assert_true(ws_budget_host_has(&host, 2 * GIB, 2 * GIB, 2 * GIB));
	assert_false(ws_budget_host_has(&host, 2 * GIB, 4 * GIB, 3 * GIB));
	/* More than was promised: no growth is due. */
	assert_true(ws_budget_host_has(&host, 2 * GIB, 4 * GIB, 9 * GIB));
	/* 256 MiB stay free for everybody else, and what a running job was promised is not free. */
	static const uint64_t free_mib[] = {0, 100, 256, 280, 300};
	for (size_t i = 0; i < WS_LEN(free_mib); i++) {
		host = ws_host_read(engine_world_host(a, free_mib[i] << 20), a);
		uint64_t bytes = 40 << 20;
		assert_false(ws_budget_host_has(&host, bytes, bytes, 0));
		assert_int_equal(ws_budget_host_has(&host, bytes, bytes, bytes), free_mib[i] == 300);
	}
}

WS_TEST(a_lock_that_cannot_be_made_ends_the_run)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 1, 8 * GIB, NULL, 0);
	struct ws_node *node = add(&w, "a.cu");
	close(ws_take_fd(&w.work.keys_fd));
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_IO);
	assert_contains(w.err.text, ws_arena_printf(a, "'%s/work/keys': cannot lock: ", w.store.path));
	assert_int_equal(w.err.cures[0].code, WS_CURE_STORE);
	assert_int_equal(node->state, WS_NODE_CANCELLED);
	assert_int_equal(w.runner.started.len, 0);
}

WS_TEST(smaller_jobs_do_not_pass_a_large_one_for_ever)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 4 * GIB, NULL, 0);
	struct ws_node *first = add(&w, "first.cu");
	for (int i = 0; i < 60; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	/* The most urgent of all as soon as it is ready, and it needs everything. */
	struct ws_node *large = add_after(&w, "large.cu", first);
	((struct ws_action *)(uintptr_t)large->action)->need.rss_bytes = 4 * GIB;
	((struct ws_action *)(uintptr_t)large->action)->cpu_ms = 1000000;
	engine_world_run(&w);
	size_t place = 0;
	while (strcmp(w.runner.started.at[place], "large.cu") != 0) {
		place++;
	}
	assert_in_range(place, 17, 25);
}

/* The warnings. */
struct warnings {
	struct ws_sink sink;
	WS_VEC(const char *) texts;
	struct ws_arena *a;
};

static void
take_event(struct ws_sink *self, const struct ws_event *event)
{
	struct warnings *warned = (struct warnings *)self;
	if (event->kind == WS_EVENT_WARNING) {
		*ws_vec_push(&warned->texts, warned->a) = ws_arena_strdup(warned->a, event->subject);
	}
}

WS_TEST(a_cost_that_cannot_be_noted_is_a_warning)
{
	WS_AUTO_WORLD struct engine_world w;
	struct warnings warned = {.sink.take = take_event, .a = a};
	struct ws_events events = {0};
	engine_world_open(&w, a, 1, 8 * GIB, NULL, 0);
	ws_events_add(&events, &warned.sink);
	w.engine.events = &events;
	add(&w, "a.cu");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(ws_store_path(&w.store, a, "ledger.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "drop table runs", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	engine_world_run(&w);
	assert_int_equal(warned.texts.len, 1);
	assert_contains(warned.texts.at[0], "no such table: runs");
}

/* An older wheelsmith made a file there for each key, and has its own run while it needs them. */
WS_TEST(old_lock_files_are_removed_with_the_last_run)
{
	struct ws_err err;
	struct ws_store store;
	struct ws_work theirs, work;
	assert_ok(ws_store_open(ws_test_dir(a), a, &store, &err), err);
	const char *locks = ws_store_path(&store, a, "work/locks");
	assert_ok(ws_fs_mkdirs(locks, &err), err);
	assert_ok(ws_fs_write(ws_path_join(a, locks, "key", NULL), "", 0, 0644, &err), err);
	assert_ok(ws_work_open(&store, NULL, a, &theirs, &err), err);
	assert_false(ws_fs_exists(locks));
	assert_ok(ws_fs_mkdirs(locks, &err), err);
	assert_ok(ws_work_open(&store, NULL, a, &work, &err), err);
	assert_true(ws_fs_exists(locks));
	ws_work_close(&theirs, false);
	ws_work_close(&work, false);
	ws_store_close(&store);
}

WS_TEST(runs_behind_a_linked_work_folder_are_not_ours_to_remove)
{
	struct ws_err err;
	struct ws_store store;
	struct ws_work work;
	const char *theirs = ws_test_dir(a);
	const char *run = ws_path_join(a, theirs, "run-theirs", NULL);
	assert_ok(ws_store_open(ws_test_dir(a), a, &store, &err), err);
	const char *folder = ws_store_path(&store, a, "work");
	assert_ok(ws_fs_mkdirs(run, &err), err);
	assert_ok(ws_fs_remove(folder, &err), err);
	assert_int_equal(symlink(theirs, folder), 0);
	assert_ok(ws_work_open(&store, NULL, a, &work, &err), err);
	assert_true(ws_fs_is_dir(run));
	ws_work_close(&work, false);
	/* Our own is removed when it is done. */
	assert_false(ws_fs_exists(work.path));
	ws_store_close(&store);
}

/* A runner whose farm is full. */
static bool
goes_away(const struct ws_runner *self WS_UNUSED, const struct ws_action *action)
{
	return strncmp(action->subject, "away", 4) == 0;
}

static bool
has_room_here(
	const struct ws_runner *self, const struct ws_action *action, struct ws_need need WS_UNUSED)
{
	return !goes_away(self, action);
}

WS_TEST(local_actions_do_not_wait_for_a_full_farm)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	w.runner.runner.goes_away = goes_away;
	w.runner.runner.has_room = has_room_here;
	for (unsigned i = 0; i < 100; i++) {
		struct ws_node *node = add(&w, ws_arena_printf(a, "away %u", i));
		((struct ws_action *)(uintptr_t)node->action)->cpu_ms = 5000;
	}
	add(&w, "here");
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 101);
	assert_true(
		strcmp(w.runner.started.at[0], "here") == 0 || strcmp(w.runner.started.at[1], "here") == 0);
}
