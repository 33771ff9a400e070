/* test_engine_split.c - an action that is made by its parts, and files that the store does not
 * keep. */
#include "base/fs.h"
#include "engine_world.h"
#include "store/cas.h"

/* "a.cu" is a.cu:cpp -> a.cu:cicc -> a.cu:host; the first is transient. */
struct driver {
	struct ws_split split;
	struct engine_world *w;
	const char *subject;
	const char *cicc; /* its tool's fingerprint */
	const char *cpp;  /* what the first one writes */
	unsigned asked;
	bool refuses;
	const char *undivided; /* the reason for no parts; NULL: the unit has parts */
	bool (*amend)(const struct ws_action *action, const char *work, struct ws_err *err); /* cpp's */
};

static struct ws_node *
add_part(struct driver *d, struct ws_graph *graph, const char *name, const char *word,
	const struct ws_node *maker)
{
	struct ws_action *action =
		engine_world_action(d->w, ws_arena_printf(d->w->a, "%s:%s", d->subject, name), word);
	if (maker) {
		struct ws_input *input = WS_NEW(d->w->a, struct ws_input);
		*input = (struct ws_input){.name = "in", .from = maker};
		action->inputs = input;
		action->input_count = 1;
	}
	action->transient = strcmp(name, "cpp") == 0;
	action->amend = action->transient ? d->amend : NULL;
	if (strcmp(name, "cicc") == 0) {
		action->tool.fingerprint = d->cicc;
	}
	return ws_graph_add(graph, action);
}

static bool
expand(const struct ws_split *self, struct ws_graph *graph, ws_node_list *parts, const char **why,
	struct ws_err *err)
{
	struct driver *d = (struct driver *)(uintptr_t)self;
	d->asked++;
	if (d->refuses) {
		return ws_err_set(err, WS_ERR_BUILD, "no such compiler");
	}
	if (d->undivided) {
		*why = d->undivided;
		return true;
	}
	struct ws_node *cpp = add_part(d, graph, "cpp", d->cpp, NULL);
	struct ws_node *cicc = add_part(d, graph, "cicc", NULL, cpp);
	*ws_vec_push(parts, graph->a) = cpp;
	*ws_vec_push(parts, graph->a) = cicc;
	*ws_vec_push(parts, graph->a) = add_part(d, graph, "host", NULL, cicc);
	return true;
}

static struct driver
driver_of(struct engine_world *w, const char *subject)
{
	return (struct driver){{expand}, w, subject, "c1cc", NULL, 0, false, NULL, NULL};
}

/* @word makes the key of the whole another one. */
static struct ws_node *
add_whole(struct driver *d, const char *word)
{
	struct ws_action *action = engine_world_action(d->w, d->subject, word);
	action->split = &d->split;
	return ws_graph_add(d->w->graph, action);
}

static void
begin_again(struct engine_world *w)
{
	struct ws_err err;
	ws_work_close(&w->work, false);
	assert_ok(ws_work_open(&w->store, NULL, w->a, &w->work, &err), err);
	w->graph = ws_graph_make(w->a);
	w->runner.started.len = 0;
}

static void
assert_started(const struct engine_world *w, const char *const *subjects)
{
	size_t count = 0;
	for (; subjects[count]; count++) {
		assert_true(count < w->runner.started.len);
		assert_string_equal(w->runner.started.at[count], subjects[count]);
	}
	assert_int_equal(w->runner.started.len, count);
}

WS_TEST(parts_make_the_whole_which_is_found_as_one_afterwards)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	struct ws_node *whole = add_whole(&d, NULL);
	engine_world_run(&w);
	assert_started(&w, (const char *const[]){"a.cu:cpp", "a.cu:cicc", "a.cu:host", NULL});
	assert_int_equal(w.summary.total, 1);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.cpu_ms, 3000);
	assert_int_equal(whole->result.cpu_ms, 3000);
	assert_string_equal(whole->result.outputs[0].hex, whole->parts.at[2]->result.outputs[0].hex);

	begin_again(&w);
	whole = add_whole(&d, NULL);
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 0);
	assert_int_equal(w.summary.hits, 1);
	assert_int_equal(d.asked, 1);
}

WS_TEST(files_of_transient_parts_are_removed_after_their_last_use)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	const struct ws_node *whole = add_whole(&d, NULL);
	engine_world_run(&w);
	const struct ws_node *const *parts = (const struct ws_node *const *)whole->parts.at;
	assert_false(ws_work_has(&w.work, parts[0]->result.outputs[0].hex));
	assert_false(ws_cas_has(&w.store, parts[0]->result.outputs[0].hex));
	assert_true(ws_cas_has(&w.store, parts[1]->result.outputs[0].hex));
}

WS_TEST(a_maker_whose_files_are_gone_runs_again_for_a_user_that_must_run)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	add_whole(&d, NULL);
	engine_world_run(&w);

	/* Another cicc: what the preprocessor gave is known, and not there. */
	begin_again(&w);
	d.cicc = "c1cc2";
	add_whole(&d, "another whole");
	engine_world_run(&w);
	assert_started(&w, (const char *const[]){"a.cu:cpp", "a.cu:cicc", NULL});
	assert_int_equal(w.summary.ran, 1);

	/* No consumer runs, so the maker does not run either. */
	begin_again(&w);
	const struct ws_node *whole = add_whole(&d, "a third whole");
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 0);
	assert_int_equal(w.summary.hits, 1);
	assert_null(whole->why);
}

/* As a name that is made up anew. */
static bool
leave_another(const struct ws_action *action, const char *work, struct ws_err *err)
{
	static unsigned count;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *text = ws_arena_printf(a, "%u", count++);
	return ws_fs_write(
		ws_path_join(a, work, action->outputs[0], NULL), text, strlen(text), 0644, err);
}

/* Parts that were found have used what the maker made first; it makes other files when it runs
 * again, by @a script. */
static void
expect_another(const struct scripted_line *script, size_t lines, struct ws_arena *a)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, script, lines);
	struct driver d = driver_of(&w, "a.cu");
	d.amend = leave_another;
	add_whole(&d, NULL);
	engine_world_run(&w);
	begin_again(&w);
	d.cicc = "c1cc2";
	const struct ws_node *whole = add_whole(&d, "another whole");
	assert_false(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err));
	assert_int_equal(whole->state, WS_NODE_FAILED);
	assert_contains(whole->failure->text, "wrote another 'out' in its second run");
}

WS_TEST(a_maker_that_makes_other_files_when_it_runs_again_has_failed)
{
	expect_another(NULL, 0, a);
	/* Its first outputs are remembered, also after a later run of it was killed. */
	static const struct scripted_line script[] = {
		{"a.cu:cpp", 1000, GIB, 0, 0, false}, {"a.cu:cpp", 1000, GIB, 0, 9, false}};
	expect_another(script, WS_LEN(script), a);
}

/* b is transient as a is, and made of it; c is another at each call. */
static bool
expand_chain(const struct ws_split *self, struct ws_graph *graph, ws_node_list *parts,
	const char **why, struct ws_err *err)
{
	struct driver *d = (struct driver *)(uintptr_t)self;
	const struct ws_node *maker = NULL;
	(void)err;
	(void)why;
	for (const char *name = "abc"; *name; name++) {
		struct ws_action *action =
			engine_world_action(d->w, ws_arena_printf(d->w->a, "%s:%c", d->subject, *name),
				*name == 'c' ? ws_arena_printf(d->w->a, "%u", d->asked++) : NULL);
		if (maker) {
			struct ws_input *input = WS_NEW(d->w->a, struct ws_input);
			*input = (struct ws_input){.name = "in", .from = maker};
			action->inputs = input;
			action->input_count = 1;
		}
		action->transient = *name != 'c';
		struct ws_node *node = ws_graph_add(graph, action);
		*ws_vec_push(parts, graph->a) = node;
		maker = node;
	}
	return true;
}

WS_TEST(makers_whose_files_are_gone_run_again_one_after_the_other)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "u");
	d.split.expand = expand_chain;
	add_whole(&d, NULL);
	engine_world_run(&w);
	begin_again(&w);
	const struct ws_node *whole = add_whole(&d, "another whole");
	engine_world_run(&w);
	assert_started(&w, (const char *const[]){"u:a", "u:b", "u:c", NULL});
	assert_int_equal(whole->state, WS_NODE_DONE);
}

WS_TEST(a_user_whose_input_is_lost_runs_when_that_was_made_again)
{
	static const struct scripted_line script[] = {{"a.cu:cicc", 1000, GIB, LACKS_INPUT, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, script, 1);
	struct driver d = driver_of(&w, "a.cu");
	const struct ws_node *whole = add_whole(&d, NULL);
	engine_world_run(&w);
	assert_started(&w,
		(const char *const[]){"a.cu:cpp", "a.cu:cicc", "a.cu:cpp", "a.cu:cicc", "a.cu:host", NULL});
	assert_int_equal(whole->state, WS_NODE_DONE);
	assert_int_equal(w.summary.ran, 1);
}

WS_TEST(equal_text_from_another_preprocessor_cuts_off_what_follows)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu"), other = driver_of(&w, "b.cu");
	d.cpp = other.cpp = "the same";
	add_whole(&d, NULL);
	engine_world_run(&w);
	begin_again(&w);
	add_whole(&other, NULL);
	engine_world_run(&w);
	/* b.cu's own cicc and host have other words; that of a.cu is what the last line of this
	 * checks. */
	assert_int_equal(w.runner.started.len, 3);
	begin_again(&w);
	d.cpp = "something else";
	add_whole(&d, "edited");
	engine_world_run(&w);
	assert_started(&w, (const char *const[]){"a.cu:cpp", "a.cu:cicc", NULL});
}

WS_TEST(a_part_that_fails_is_the_failure_of_the_whole)
{
	static const struct scripted_line script[] = {{"a.cu:cicc", 1000, GIB, 1, 0, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, script, 1);
	struct driver d = driver_of(&w, "a.cu");
	const struct ws_node *whole = add_whole(&d, NULL);
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
	assert_int_equal(whole->state, WS_NODE_FAILED);
	assert_contains(whole->failure->text, "'a.cu:cicc' failed");
	assert_int_equal(w.summary.failed, 1);
	assert_int_equal(w.summary.total, 1);
	assert_int_equal(whole->parts.at[2]->state, WS_NODE_CANCELLED);
	assert_ptr_equal(w.summary.first_failed, whole);
}

WS_TEST(equal_wholes_of_two_cells_are_made_once)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 4, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu"), same = driver_of(&w, "a.cu");
	add_whole(&d, NULL);
	add_whole(&same, NULL);
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 3);
	assert_int_equal(d.asked + same.asked, 1);
	assert_int_equal(w.summary.ran, 1);
	assert_int_equal(w.summary.hits, 1);
}

WS_TEST(a_killed_part_runs_again_alone)
{
	static const struct scripted_line script[] = {{"a.cu:cicc", 1000, 3 * GIB, -1, 9, false}};
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, script, 1);
	struct driver d = driver_of(&w, "a.cu");
	const struct ws_node *whole = add_whole(&d, NULL);
	engine_world_run(&w);
	assert_int_equal(w.runner.started.len, 4);
	assert_int_equal(whole->result.cpu_ms, 4000);
	assert_int_equal(whole->result.rss_bytes, 3 * GIB);
}

WS_TEST(a_unit_that_cannot_be_split_runs_whole_and_a_part_that_fails_is_an_error)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	d.refuses = true;
	const struct ws_node *whole = add_whole(&d, NULL);
	assert_fails(ws_engine_run(&w.engine, w.graph, &w.summary, &w.err), w.err, WS_ERR_BUILD);
	assert_string_equal(whole->failure->text, "no such compiler");
}

WS_TEST(why_a_unit_ran_in_one_command_is_known)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	d.undivided = "its commands are not understood";
	const struct ws_node *whole = add_whole(&d, NULL);
	engine_world_run(&w);
	assert_started(&w, (const char *const[]){"a.cu", NULL});
	assert_string_equal(whole->undivided, d.undivided);
}

WS_TEST(a_graph_that_grew_runs_what_is_new)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	for (unsigned i = 0; i < 3; i++) {
		ws_graph_add(w.graph, engine_world_action(&w, "kept", NULL));
		engine_world_run(&w);
		assert_int_equal(w.summary.total, 1);
		assert_int_equal(w.summary.ran, i == 0);
	}
	assert_started(&w, (const char *const[]){"kept", NULL});
}

WS_TEST(a_look_expands_nothing)
{
	WS_AUTO_WORLD struct engine_world w;
	engine_world_open(&w, a, 2, 8 * GIB, NULL, 0);
	struct driver d = driver_of(&w, "a.cu");
	const struct ws_node *whole = add_whole(&d, NULL);
	ws_engine_look(&w.engine, w.graph);
	assert_int_equal(whole->state, WS_NODE_RUNNABLE);
	assert_int_equal(d.asked, 0);
}
