/* test_remote_worker_result.c - the reported outputs of a worker, and those that can be fetched. */
#include "test.h"

#include "base/fs.h"
#include "engine/remote_order.h"
#include "remote/remote_action.h"
#include "remote/worker_result.h"

#define GIB ((int64_t)1 << 30)

static const char *const outputs[] = {"unit.o"};

static char hash[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static enum ws_log_says
says(const char *end)
{
	return strstr(end, "Killed") ? WS_LOG_SAYS_KILLED : WS_LOG_SAYS_NOTHING;
}

/* A job in a store of its own, and its result: three files, of which only sizes matter. */
struct world {
	Reapi__ActionResult result;
	Reapi__OutputFile result_files[3];
	Reapi__Digest digests[3];
	Reapi__OutputFile *list[3];
	struct ws_store store;
	struct ws_action action;
	struct ws_job job;
	struct ws_names names;
	ws_item_list items;
	const char *changed; /* in the report */
	struct ws_worker_result files;
	struct ws_done done;
	struct ws_err err;
};

static struct world *
open_world(struct ws_arena *a)
{
	struct world *w = WS_NEW(a, struct world);
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &w->err), w->err);
	w->action = (struct ws_action){.subject = "unit.cpp",
		.tool = {.name = "g++"},
		.outputs = outputs,
		.output_count = 1,
		.log_says = says};
	w->job = (struct ws_job){.id = 1, .attempt = 1, .action = &w->action, .a = a};
	w->names = (struct ws_names){.ledger = w->store.ledger, .a = a};
	return w;
}

static void
close_world(struct world *const *w)
{
	ws_store_close(&(*w)->store);
}

#define AUTO_WORLD __attribute__((cleanup(close_world)))

/* The farm reports files of these sizes. */
static void
list(struct world *w, int64_t report, int64_t log, int64_t output)
{
	static char paths[][16] = {WS_REMOTE_REPORT, WS_REMOTE_LOG, WS_REMOTE_WORK "/unit.o"};
	const int64_t sizes[] = {report, log, output};
	reapi__action_result__init(&w->result);
	for (size_t i = 0; i < WS_LEN(w->list); i++) {
		reapi__digest__init(&w->digests[i]);
		w->digests[i].hash = hash;
		w->digests[i].size_bytes = sizes[i];
		reapi__output_file__init(&w->result_files[i]);
		w->result_files[i].path = paths[i];
		w->result_files[i].digest = &w->digests[i];
		w->list[i] = &w->result_files[i];
	}
	w->result.output_files = w->list;
	w->result.n_output_files = WS_LEN(w->list);
	w->files = (struct ws_worker_result){.order = hash};
	ws_worker_result_list_files(
		&w->result, &w->job, ws_test_dir(w->job.a), w->job.a, &w->items, &w->files);
}

static enum ws_worker_result_state
take(struct world *w)
{
	return ws_worker_result_accept(
		&w->files, &w->items, &w->job, &w->store, &w->names, &w->done, &w->err);
}

/* It came, with these bytes. */
static void
bring(struct world *w, size_t place, const struct ws_buf *bytes)
{
	struct ws_item *item = &w->items.at[place];
	assert_ok(ws_fs_write(item->path, bytes->data, bytes->len, 0600, &w->err), w->err);
	item->came = WS_CAME_WHOLE;
}

static void
bring_report(struct world *w, int code)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_report report = {.code = code, .order = hash, .changed = w->changed};
	ws_map_put(&report.made, "unit.o", hash, w->job.a);
	ws_report_write(&report, &text);
	bring(w, w->files.report, &text);
}

WS_TEST(sizes_that_a_worker_names_have_an_end)
{
	AUTO_WORLD struct world *w = open_world(a);
	list(w, 1000, 1 * GIB, 9000 * GIB);
	assert_int_equal(w->items.len, 2); /* the report, behind the unused first entry */
	bring_report(w, 0);
	assert_int_equal(take(w), WS_WORKER_RESULT_WRONG);
	assert_string_equal(
		w->err.text, "'unit.cpp' failed: its output 'unit.o' has more than 8 GiB on the worker");
	ws_store_close(&w->store);
	w = open_world(a);
	list(w, 1 * GIB, 0, 1000);
	assert_int_equal(w->files.report, 0);
	assert_int_equal(take(w), WS_WORKER_RESULT_NOT_RUN);
}

WS_TEST(a_long_log_is_read_at_its_end)
{
	AUTO_WORLD struct world *w = open_world(a);
	WS_AUTO_BUF struct ws_buf log = {0};
	while (log.len < (size_t)20 << 20) {
		ws_buf_puts(&log, "a warning of no consequence, again and again\n");
	}
	ws_buf_puts(&log, "\nKilled\n");
	list(w, 1000, (int64_t)log.len, 1000);
	bring_report(w, 1);
	bring(w, w->files.log, &log);
	assert_int_equal(take(w), WS_WORKER_RESULT_WHOLE);
	assert_int_equal(w->done.says, WS_LOG_SAYS_KILLED);
}

WS_TEST(a_full_disk_here_is_not_the_workers_fault)
{
	AUTO_WORLD struct world *w = open_world(a);
	list(w, 1000, 0, 1000);
	bring_report(w, 0);
	struct ws_item *item = &w->items.at[w->files.outputs[0]];
	ws_item_set(item, WS_CAME_REFUSED, "cannot write '%s': No space left on device", item->path);
	item->ours = true;
	assert_int_equal(take(w), WS_WORKER_RESULT_WRONG);
	assert_int_equal(w->err.kind, WS_ERR_IO);
	assert_contains(w->err.text, "No space left on device");
}

WS_TEST(a_report_is_about_this_command_and_these_files)
{
	AUTO_WORLD struct world *w = open_world(a);
	list(w, 1000, 0, 1000);
	bring_report(w, 0);
	w->files.order = "another";
	assert_int_equal(take(w), WS_WORKER_RESULT_NOT_RUN);
	assert_string_equal(w->err.text, "'unit.cpp': the worker's report is about another command");

	w->files.order = hash;
	WS_AUTO_BUF struct ws_buf bytes = {0};
	ws_buf_puts(&bytes, "its outputs");
	bring(w, w->files.outputs[0], &bytes);
	assert_int_equal(take(w), WS_WORKER_RESULT_WHOLE);
	static char other[] = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
	w->items.at[w->files.outputs[0]].key = other;
	bring(w, w->files.outputs[0], &bytes);
	assert_int_equal(take(w), WS_WORKER_RESULT_NOT_RUN);
	assert_string_equal(
		w->err.text, "'unit.cpp': the worker's digest of 'unit.o' does not match the file");
}

/* A farm keeps such a result like any other: it must not come back in each later run. */
WS_TEST(a_cached_result_of_a_header_that_changed_is_made_anew)
{
	AUTO_WORLD struct world *w = open_world(a);
	WS_AUTO_BUF struct ws_buf bytes = {0};
	list(w, 1000, 0, 1000);
	w->changed = "/usr/include/x.h";
	bring_report(w, 0);
	ws_buf_puts(&bytes, "its outputs");
	bring(w, w->files.outputs[0], &bytes);
	w->files.kept = w->files.may_run_again = true;
	assert_int_equal(take(w), WS_WORKER_RESULT_NOT_RUN);
	assert_string_equal(
		w->err.text, "'unit.cpp': '/usr/include/x.h' changed while the worker ran it");

	w->files.may_run_again = false;
	assert_int_equal(take(w), WS_WORKER_RESULT_WHOLE);
	assert_string_equal(w->done.changed, "/usr/include/x.h");
}

/* ---- what is asked of a worker ---- */

static int64_t
timeout_of(struct world *w, struct ws_remote_actions *all, uint64_t deadline_ms, struct ws_arena *a)
{
	struct ws_directories own = {.a = a};
	struct ws_remote_action made;
	w->job.deadline_ms = deadline_ms;
	assert_ok(ws_remote_action_make(all, &w->job, &own, &made, &w->err), w->err);
	const struct ws_item *last = &own.items.at[own.items.len - 1];
	Reapi__Action *action =
		reapi__action__unpack(NULL, last->bytes.len, (const uint8_t *)last->bytes.data);
	assert_non_null(action);
	int64_t seconds = action->timeout->seconds;
	reapi__action__free_unpacked(action, NULL);
	return seconds;
}

/* --action-timeout reaches the farm: a unit of 70 minutes must not end after an hour. */
WS_TEST(the_time_limit_of_a_job_is_in_its_action)
{
	static const char *const none[] = {NULL};
	AUTO_WORLD struct world *w = open_world(a);
	struct ws_remote_actions all = {.store = &w->store};
	w->action.tool = (struct ws_tool){"g++", "/usr/bin/g++", "f00d"};
	w->action.argv = w->action.env = none;
	assert_ok(ws_remote_actions_open(&all, "/bin/true", a, &w->err), w->err);
	assert_int_equal(timeout_of(w, &all, 0, a), 3600);
	assert_int_equal(timeout_of(w, &all, 300 * 1000, a), 3600);
	assert_int_equal(timeout_of(w, &all, (uint64_t)3600 * 1000, a), 3600);
	assert_int_equal(timeout_of(w, &all, (uint64_t)70 * 60 * 1000, a), 7200);

	/* Ten times the last duration. A farm with a maximum of an hour runs a unit of 30 minutes. */
	w->job.is_estimated = true;
	assert_int_equal(timeout_of(w, &all, (uint64_t)60 * 60 * 1000, a), 3600);
	assert_int_equal(timeout_of(w, &all, (uint64_t)300 * 60 * 1000, a), 3600);
	assert_int_equal(timeout_of(w, &all, (uint64_t)310 * 60 * 1000, a), 7200);
}

WS_TEST(properties_are_sorted_by_name_then_by_value)
{
	static const char *const properties[] = {"pool=b", "a-b=1", "a=2", "a=10", "pool=b"};
	static const char *const wanted[] = {"a=10", "a=2", "a-b=1", "pool=b"};
	AUTO_WORLD struct world *w = open_world(a);
	struct ws_remote_actions all = {
		.store = &w->store, .properties = properties, .property_count = WS_LEN(properties)};
	struct ws_directories own = {.a = a};
	struct ws_remote_action made;
	static const char *const none[] = {NULL};
	w->action.tool = (struct ws_tool){"g++", "/usr/bin/g++", "f00d"};
	w->action.argv = w->action.env = none;
	assert_ok(ws_remote_actions_open(&all, "/bin/true", a, &w->err), w->err);
	assert_ok(ws_remote_action_make(&all, &w->job, &own, &made, &w->err), w->err);
	const struct ws_item *last = &own.items.at[own.items.len - 1];
	assert_string_equal(last->key, made.digest);
	const Reapi__Action *action =
		reapi__action__unpack(NULL, last->bytes.len, (const uint8_t *)last->bytes.data);
	assert_non_null(action);
	assert_int_equal(action->platform->n_properties, WS_LEN(wanted));
	for (size_t i = 0; i < WS_LEN(wanted); i++) {
		const Reapi__Property *property = action->platform->properties[i];
		assert_string_equal(
			ws_arena_printf(a, "%s=%s", property->name, property->value), wanted[i]);
	}
	reapi__action__free_unpacked((Reapi__Action *)(uintptr_t)action, NULL);
}
