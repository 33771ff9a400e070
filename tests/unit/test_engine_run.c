/* test_engine_run.c - the loop, with a runner that follows a script and a clock that is told what
 * time it is. No process is started. */
#include "test.h"

#include "base/fs.h"
#include "engine/engine.h"
#include "store/sql.h"
#include "sys/host.h"

#include <fcntl.h>
#include <sys/stat.h>

#define GIB ((uint64_t)1 << 30)

/* What a subject does when it runs; the n-th entry of a subject is its n-th run. */
struct line {
	const char *subject;
	uint64_t wall_ms, rss_bytes;
	int code, signal;
	bool no_output;
};

struct scripted {
	struct ws_runner runner;
	const struct line *script;
	size_t lines;
	int64_t now_ms;
	struct active {
		unsigned id;
		int64_t ends_ms;
		const struct line *line;
		bool stopped;
	} active[16];
	size_t active_count, most_active;
	WS_VEC(const char *) started;  /* "subject" in the order of starting */
	WS_VEC(uint64_t) deadlines_ms; /* beside them */
	bool *used;
	struct ws_arena *a;
};

static const struct line *
next_line(struct scripted *s, const char *subject)
{
	static const struct line plain = {.wall_ms = 1000, .rss_bytes = 1 << 20};
	for (size_t i = 0; i < s->lines; i++) {
		if (!s->used[i] && strcmp(s->script[i].subject, subject) == 0) {
			s->used[i] = true;
			return &s->script[i];
		}
	}
	return &plain;
}

static bool
start(struct ws_runner *self, const struct ws_job *job, struct ws_err *err)
{
	struct scripted *s = (struct scripted *)self;
	const char *subject = job->argv[0];
	*ws_vec_push(&s->started, s->a) = ws_arena_strdup(s->a, subject);
	*ws_vec_push(&s->deadlines_ms, s->a) = job->deadline_ms;
	const struct line *line = next_line(s, subject);
	assert_true(s->active_count < WS_LEN(s->active));
	s->active[s->active_count++] =
		(struct active){job->id, s->now_ms + (int64_t)line->wall_ms, line, false};
	s->most_active = s->active_count > s->most_active ? s->active_count : s->most_active;
	if (line->code == 0 && !line->no_output) {
		const char *out = ws_path_join(s->a, job->dir, "out", NULL);
		/* What it writes depends on what it was given, so that cut-off can be seen. */
		const char *text = ws_arena_printf(s->a, "%s", job->argv[1] ? job->argv[1] : subject);
		assert_ok(ws_fs_write(out, text, strlen(text), 0644, err), *err);
	}
	return ws_fs_write(job->log, "", 0, 0644, err);
}

static enum ws_wait_result
wait_for(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done)
{
	struct scripted *s = (struct scripted *)self;
	size_t first = 0;
	for (size_t i = 1; i < s->active_count; i++) {
		first = s->active[i].ends_ms < s->active[first].ends_ms ? i : first;
	}
	if (s->active_count == 0 || s->active[first].ends_ms > s->now_ms + (int64_t)timeout_ms) {
		s->now_ms += timeout_ms;
		return WS_WAIT_TICK;
	}
	struct active ended = s->active[first];
	s->active[first] = s->active[--s->active_count];
	s->now_ms = ended.ends_ms > s->now_ms ? ended.ends_ms : s->now_ms;
	*done = (struct ws_done){
		.id = ended.id,
		.code = ended.line->code,
		.signal = ended.line->signal,
		.wall_ms = ended.line->wall_ms,
		.cpu_ms = ended.line->wall_ms,
		.rss_bytes = ended.line->rss_bytes,
		.stopped = ended.stopped,
	};
	return WS_WAIT_DONE;
}

static void
stop(struct ws_runner *self, bool now WS_UNUSED)
{
	struct scripted *s = (struct scripted *)self;
	for (size_t i = 0; i < s->active_count; i++) {
		s->active[i].stopped = true;
		s->active[i].ends_ms = s->now_ms;
	}
}

static uint64_t
held_bytes(const struct ws_runner *self, unsigned id)
{
	const struct scripted *s = (const struct scripted *)self;
	for (size_t i = 0; i < s->active_count; i++) {
		if (s->active[i].id == id) {
			return s->active[i].line->rss_bytes;
		}
	}
	return 0;
}

static int64_t
now_ms(const struct ws_runner *self)
{
	return ((const struct scripted *)self)->now_ms;
}

/* A host with so much memory and a store of its own. */
struct world {
	struct ws_arena *a;
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_work work;
	struct ws_host host;
	struct ws_budget budget;
	struct ws_engine engine;
	struct scripted runner;
	struct ws_graph *graph;
	struct ws_run_summary summary;
};

static const char *
fake_host(struct ws_arena *a, uint64_t bytes)
{
	struct ws_err err;
	const char *root = ws_test_dir(a);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, root, "proc/self", NULL), &err), err);
	const char *text = ws_arena_printf(a, "MemTotal: %llu kB\nMemAvailable: %llu kB\n",
		(unsigned long long)(bytes / 1024), (unsigned long long)(bytes / 1024));
	const char *path = ws_path_join(a, root, "proc/meminfo", NULL);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	return root;
}

static void
set_up(struct world *w, struct ws_arena *a, unsigned jobs, uint64_t memory_bytes,
	const struct line *script, size_t lines)
{
	struct ws_err err;
	*w = (struct world){.a = a};
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &err), err);
	w->ledger = w->store.ledger;
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &err), err);
	w->host = ws_host_read(fake_host(a, memory_bytes * 2), a);
	w->budget = ws_budget_make(&w->host, jobs, memory_bytes);
	w->runner = (struct scripted){
		.runner = {start, wait_for, stop, held_bytes, now_ms},
		.script = script,
		.lines = lines,
		.used = WS_NEW_N(a, bool, lines + 1),
		.a = a,
	};
	w->engine = (struct ws_engine){
		.store = &w->store,
		.ledger = w->ledger,
		.runner = &w->runner.runner,
		.work = &w->work,
		.budget = &w->budget,
	};
	w->graph = ws_graph_make(a);
}

static void
tear_down(struct world *w)
{
	ws_work_close(&w->work, false);
	ws_store_close(&w->store);
}

static const char *const outputs[] = {"out"};
static const char *const no_env[] = {NULL};

static struct ws_action *
make_action(struct world *w, const char *subject, const char *word)
{
	struct ws_action *action = WS_NEW(w->a, struct ws_action);
	const char **argv = WS_NEW_N(w->a, const char *, 3);
	argv[0] = subject;
	argv[1] = word;
	*action = (struct ws_action){
		.subject = subject,
		.group = "g",
		.unit = subject,
		.stage = "compile",
		.variant = "",
		.tool = {"cc", "/bin/false", "f00d"},
		.argv = argv,
		.env = no_env,
		.outputs = outputs,
		.output_count = 1,
		.need = {.cpus = 1, .rss_bytes = GIB},
	};
	return action;
}

static struct ws_node *
add(struct world *w, const char *subject)
{
	return ws_graph_add(w->graph, make_action(w, subject, NULL));
}

static struct ws_node *
add_after(struct world *w, const char *subject, const struct ws_node *maker)
{
	struct ws_action *action = make_action(w, subject, NULL);
	struct ws_input *input = WS_NEW(w->a, struct ws_input);
	*input = (struct ws_input){.name = "in", .from = maker};
	action->inputs = input;
	action->input_count = 1;
	return ws_graph_add(w->graph, action);
}

WS_TEST(a_second_run_finds_everything)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 2, 8 * GIB, NULL, 0);
	struct ws_node *made = add(&w, "a.cu");
	add_after(&w, "link", made);
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 2);
	assert_string_equal(made->why, "no run of this command on these inputs is known");

	w.graph = ws_graph_make(a);
	made = add(&w, "a.cu");
	struct ws_node *link = add_after(&w, "link", made);
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.hits, 2);
	assert_int_equal(w.runner.started.len, 2);
	assert_null(link->why);
	tear_down(&w);
}

WS_TEST(equal_outputs_cut_off_what_follows)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 2, 8 * GIB, NULL, 0);
	struct ws_node *made = ws_graph_add(w.graph, make_action(&w, "a.cu", "same"));
	add_after(&w, "link", made);
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);

	/* Another tool, so the first action runs; it writes the same bytes, so the second does not. */
	w.graph = ws_graph_make(a);
	struct ws_action *other = make_action(&w, "a.cu", "same");
	other->tool.fingerprint = "beef";
	add_after(&w, "link", ws_graph_add(w.graph, other));
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.hits, 1);
	tear_down(&w);
}

WS_TEST(equal_actions_of_two_cells_run_once)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 8 * GIB, NULL, 0);
	add(&w, "a.cu");
	add(&w, "a.cu");
	add(&w, "a.cu");
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.hits, 2);
	assert_int_equal(w.runner.most_active, 1);
	tear_down(&w);
}

WS_TEST(the_longest_path_starts_first_and_may_take_ten_times_as_long)
{
	static const struct line script[] = {
		{"short", 1000, GIB, 0, 0, false}, {"long", 90000, GIB, 0, 0, false}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 1, 8 * GIB, script, 2);
	add(&w, "short");
	add(&w, "long");
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	/* Now the ledger knows: with an empty store the long one goes first. */
	assert_ok(ws_fs_remove(ws_store_path(&w.store, a, "ac"), &err), err);
	w.graph = ws_graph_make(a);
	add(&w, "short");
	add(&w, "long");
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_string_equal(w.runner.started.at[2], "long");
	static const uint64_t minutes[] = {60, 60, 15, 5};
	for (size_t i = 0; i < WS_LEN(minutes); i++) {
		assert_int_equal(w.runner.deadlines_ms.at[i] / 1000, minutes[i] * 60); /* but for ticks */
	}
	tear_down(&w);
}

WS_TEST(memory_decides_how_many_run)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 8, 3 * GIB, NULL, 0);
	for (int i = 0; i < 6; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 6);
	assert_int_equal(w.runner.most_active, 3);
	tear_down(&w);
}

WS_TEST(what_is_larger_than_everything_runs_alone)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 8, 2 * GIB, NULL, 0);
	struct ws_action *huge = make_action(&w, "huge.cu", NULL);
	huge->need.rss_bytes = 64 * GIB;
	huge->cpu_ms = 1000000;
	ws_graph_add(w.graph, huge);
	add(&w, "small.cu");
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(w.runner.most_active, 1);
	tear_down(&w);
}

WS_TEST(a_killed_action_runs_again_alone)
{
	static const struct line script[] = {{"big.cu", 5000, 2 * GIB, -1, 9, false},
		{"big.cu", 9000, 3 * GIB, 0, 0, false}, {"a.cu", 20000, GIB, 0, 0, false}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 6 * GIB, script, 3);
	add(&w, "a.cu");
	struct ws_node *big = add(&w, "big.cu");
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(big->attempt, 2);
	/* It waited for a.cu's end, though memory was free. */
	assert_int_equal(w.runner.now_ms, 29000);
	tear_down(&w);
}

WS_TEST(an_action_killed_twice_is_a_clear_error)
{
	static const struct line script[] = {
		{"big.cu", 72000, 6 * GIB, -1, 9, false}, {"big.cu", 72000, 6 * GIB, -1, 9, false}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 6 * GIB, script, 2);
	struct ws_node *big = add(&w, "big.cu");
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err, WS_ERR_BUILD);
	assert_string_equal(big->failure->text, "'big.cu' was killed (out of memory) after 1 m 12 s");
	assert_contains(big->failure->cure, "it held 6.0 GiB; it was run again alone");
	tear_down(&w);
}

WS_TEST(the_first_failure_ends_the_run_unless_told_to_keep_going)
{
	static const struct line script[] = {
		{"bad.cu", 1000, GIB, 2, 0, false}, {"bad.cu", 1000, GIB, 2, 0, false}};
	for (int keep_going = 0; keep_going < 2; keep_going++) {
		struct world w;
		struct ws_err err;
		set_up(&w, a, 1, 8 * GIB, script, 2);
		w.engine.keep_going = keep_going;
		struct ws_node *bad = add(&w, "bad.cu");
		struct ws_node *link = add_after(&w, "link", bad);
		struct ws_node *good = add(&w, "good.cu");
		assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err, WS_ERR_BUILD);
		assert_string_equal(bad->failure->text, "'bad.cu' failed: cc exited with 2");
		assert_int_equal(link->state, WS_NODE_CANCELLED);
		assert_int_equal(good->state, keep_going ? WS_NODE_DONE : WS_NODE_CANCELLED);
		assert_ptr_equal(w.summary.first_failed, bad);
		tear_down(&w);
	}
}

WS_TEST(success_without_the_output_is_a_failure)
{
	static const struct line script[] = {{"a.cu", 1000, GIB, 0, 0, true}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 1, 8 * GIB, script, 1);
	struct ws_node *node = add(&w, "a.cu");
	assert_false(ws_engine_run(&w.engine, w.graph, &w.summary, &err));
	assert_string_equal(node->failure->text, "'a.cu' failed: cc succeeded but wrote no 'out'");
	tear_down(&w);
}

WS_TEST(siblings_of_a_killed_action_wait_for_its_second_run)
{
	static const struct line script[] = {{"big.cu", 5000, 2 * GIB, -1, 9, false},
		{"big.cu", 9000, 3 * GIB, 0, 0, false}, {"a.cu", 20000, GIB, 0, 0, false}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 16 * GIB, script, 3);
	add(&w, "a.cu");
	for (int i = 0; i < 3; i++) {
		add(&w, "big.cu");
	}
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.runner.started.len, 3);
	assert_int_equal(w.runner.now_ms, 29000);
	assert_int_equal(w.summary.ran, 2);
	assert_int_equal(w.summary.hits, 2);
	tear_down(&w);
}

WS_TEST(equal_actions_fail_once)
{
	static const struct line script[] = {{"bad.cu", 1000, GIB, 2, 0, false}};
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 8 * GIB, script, 1);
	w.engine.keep_going = true;
	struct ws_node *twins[3], *links[3];
	for (int i = 0; i < 3; i++) {
		twins[i] = add(&w, "bad.cu");
		links[i] = add_after(&w, "link", twins[i]);
	}
	struct ws_node *good = add(&w, "good.cu");
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err, WS_ERR_BUILD);
	assert_int_equal(w.runner.started.len, 2);
	assert_int_equal(w.summary.failed, 3);
	assert_int_equal(good->state, WS_NODE_DONE);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(twins[i]->state, WS_NODE_FAILED);
		assert_string_equal(twins[i]->failure->text, "'bad.cu' failed: cc exited with 2");
		assert_int_equal(links[i]->state, WS_NODE_CANCELLED);
	}
	tear_down(&w);
}

WS_TEST(what_others_would_take_of_the_host_is_not_promised_twice)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 8, 16 * GIB, NULL, 0);
	/* Jobs of 1 GiB that hold next to nothing yet, on a host where 3 GiB are free. */
	w.host = ws_host_read(fake_host(a, 3 * GIB), a);
	for (int i = 0; i < 6; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(w.runner.most_active, 2);
	tear_down(&w);
}

WS_TEST(what_running_jobs_hold_is_not_free_any_more)
{
	struct ws_host host = ws_host_read(fake_host(a, 3 * GIB), a);
	struct ws_budget b = ws_budget_make(&host, 8, 64 * GIB);
	struct ws_need need = {.cpus = 1, .rss_bytes = 2 * GIB};
	assert_true(ws_budget_take(&b, need, 0));
	/* It was promised 2 GiB: while it holds nothing they must be left, once it holds them they are gone. */
	assert_false(ws_budget_take(&b, need, 0));
	assert_true(ws_budget_take(&b, need, 2 * GIB));
	assert_false(ws_budget_take(&b, need, 3 * GIB));
	assert_true(ws_budget_take(&b, need, 9 * GIB)); /* more than was promised: no growth is due */
}

WS_TEST(a_host_whose_last_memory_is_taken_starts_nothing_more)
{
	/* 256 MiB stay free for everybody else, and what a running job was promised is not free. */
	static const uint64_t free_mib[] = {0, 100, 256, 280, 300};
	for (size_t i = 0; i < WS_LEN(free_mib); i++) {
		struct ws_host host = ws_host_read(fake_host(a, 3 * GIB), a);
		struct ws_budget b = ws_budget_make(&host, 8, 64 * GIB);
		struct ws_need need = {.cpus = 1, .rss_bytes = 40 << 20};
		assert_true(ws_budget_take(&b, need, 0));
		host = ws_host_read(fake_host(a, free_mib[i] << 20), a);
		assert_false(ws_budget_take(&b, need, 0));
		assert_int_equal(ws_budget_take(&b, need, need.rss_bytes), free_mib[i] == 300);
	}
}

WS_TEST(a_lock_that_cannot_be_made_ends_the_run)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 1, 8 * GIB, NULL, 0);
	struct ws_node *node = add(&w, "a.cu");
	const char *locks = ws_store_path(&w.store, a, "work/locks");
	assert_ok(ws_fs_remove(locks, &err), err);
	assert_ok(ws_fs_write(locks, "", 0, 0644, &err), err);
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err, WS_ERR_IO);
	assert_contains(err.text, "lock");
	assert_int_equal(node->state, WS_NODE_CANCELLED);
	assert_int_equal(w.runner.started.len, 0);
	tear_down(&w);
}

WS_TEST(smaller_jobs_do_not_pass_a_large_one_for_ever)
{
	struct world w;
	struct ws_err err;
	set_up(&w, a, 4, 4 * GIB, NULL, 0);
	struct ws_node *first = add(&w, "first.cu");
	for (int i = 0; i < 60; i++) {
		add(&w, ws_arena_printf(a, "%d.cu", i));
	}
	/* The most urgent of all as soon as it is ready, and it needs everything. */
	struct ws_node *large = add_after(&w, "large.cu", first);
	((struct ws_action *)(uintptr_t)large->action)->need.rss_bytes = 4 * GIB;
	((struct ws_action *)(uintptr_t)large->action)->cpu_ms = 1000000;
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	size_t place = 0;
	while (strcmp(w.runner.started.at[place], "large.cu") != 0) {
		place++;
	}
	assert_in_range(place, 17, 25);
	tear_down(&w);
}

/* What was warned of. */
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
	struct world w;
	struct ws_err err;
	struct warnings warned = {.sink.take = take_event, .a = a};
	struct ws_events events = {0};
	set_up(&w, a, 1, 8 * GIB, NULL, 0);
	ws_events_add(&events, &warned.sink);
	w.engine.events = &events;
	add(&w, "a.cu");
	struct ws_sql *sql =
		ws_sql_open(ws_store_path(&w.store, a, "ledger.db"), "drop table runs", &err);
	assert_ok(sql != NULL, err);
	ws_sql_close(sql);
	assert_ok(ws_engine_run(&w.engine, w.graph, &w.summary, &err), err);
	assert_int_equal(warned.texts.len, 1);
	assert_contains(warned.texts.at[0], "no such table: runs");
	tear_down(&w);
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
