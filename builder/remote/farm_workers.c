/* farm_workers.c - the action, its end, its two files. */
#include "remote/farm_workers.h"

#include "base/fs.h"
#include "engine/remote_order.h"
#include "remote/operation.h"
#include "remote/worker_result.h"
#include "sys/clock.h"

#define TURN_MS 100
#define ABOUT_NAMES_MS 60000 /* the build waits for the answer: a busy farm is a miss */

void
ws_farm_warn_queued(const struct ws_events *events, const char *farm)
{
	ws_events_warn(events,
		"%s has queued actions for a minute and started none: perhaps no worker has the requested "
		"properties",
		farm);
}

/* Removes the operation from the farm's queue, even if a stop was requested: then ws_rpc_run
 * would send nothing. */
static void
cancel_query(const struct ws_farm_workers_query *p, struct ws_operation *op)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_call *cancel = ws_operation_cancellation(op, a);
	int64_t until_ms = ws_clock_ms() + WS_TAKE_BACK_MS;
	if (cancel) {
		ws_rpc_start(p->rpc, cancel);
		while (!cancel->ended && ws_clock_ms() < until_ms) {
			ws_rpc_turn(p->rpc, 0);
			nanosleep(&(struct timespec){.tv_nsec = 10L * 1000 * 1000}, NULL);
		}
		ws_rpc_cancel(p->rpc, cancel);
		ws_buf_release(&cancel->reply);
	}
	ws_rpc_cancel(p->rpc, &op->call);
}

/* Runs the operation to its end, and again where that helps. */
static bool
run_query(const struct ws_farm_workers_query *p, struct ws_operation *op,
	struct ws_directories *own, Reapi__ExecuteResponse **response, struct ws_err *err)
{
	const char *farm = p->platform->name;
	enum ws_operation_end end;
	do {
		struct ws_item helper = p->actions->trees.items.at[0];
		if (!ws_cache_put_all(p->cache, &helper, 1, farm, err)
			|| !ws_cache_put_all(p->cache, own->items.at, own->items.len, farm, err)) {
			return ws_stop_asked(p->config->stop) ? ws_stop_err(p->config->stop, err) : false;
		}
		ws_operation_prepare(op);
		ws_rpc_start(p->rpc, &op->call);
		while (!op->call.ended && !ws_stop_asked(p->config->stop)) {
			ws_rpc_turn(p->rpc, TURN_MS);
			if (!*p->has_warned && ws_operation_waits_long(op, ws_clock_ms())) {
				ws_farm_warn_queued(p->config->events, farm);
				*p->has_warned = true;
			}
		}
		bool stopped = !op->call.ended;
		if (stopped || op->call.status == WS_RPC_DEADLINE) {
			cancel_query(p, op);
		}
		if (stopped) {
			return ws_stop_err(p->config->stop, err);
		}
		end = ws_operation_read_end(op, own->a, response);
		int64_t until_ms = ws_clock_ms() + (end == WS_OPERATION_AGAIN ? op->pause_ms : 0);
		while (ws_clock_ms() < until_ms && !ws_stop_asked(p->config->stop)) {
			nanosleep(&(struct timespec){.tv_nsec = TURN_MS * 1000L * 1000}, NULL);
		}
	} while (end == WS_OPERATION_AGAIN || end == WS_OPERATION_MISSING);
	return end == WS_OPERATION_DONE
		|| ws_err_set(err, WS_ERR_FETCH, "cannot query a worker of %s: %s", farm, op->text);
}

static bool
fetch_answers(const struct ws_farm_workers_query *p, const Reapi__ActionResult *result,
	struct ws_buf *told, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch scratch = {0};
	static const char *const names[] = {WS_REMOTE_REPORT, WS_REMOTE_HOST};
	ws_item_list items = {0};
	size_t count = told ? 2 : 1;
	bool there = true;
	if (!ws_scratch_make(
			ws_path_join(a, p->config->store->path, "partial", NULL), "probe-", a, &scratch, err)) {
		return false;
	}
	*ws_vec_push(&items, a) = (struct ws_item){0}; /* index 0 is unused (worker_result.h) */
	for (size_t i = 0; i < count; i++) {
		there = ws_worker_result_add_file(result, names[i], scratch.path, a, &items) > 0 && there;
	}
	size_t errors = ws_worker_result_add_file(result, NULL, scratch.path, a, &items);
	if (!p->cache->get_files(p->cache, items.at + 1, items.len - 1)) {
		return ws_stop_err(p->config->stop, err);
	}
	if (!there) {
		return ws_err_set(err, WS_ERR_BUILD, "wheelsmith-exec exited with %d: %s",
			(int)result->exit_code, ws_worker_first_error(&items.at[errors], a));
	}
	for (size_t i = 1; i <= count; i++) {
		if (items.at[i].came != WS_CAME_WHOLE) {
			const char *failure = items.at[i].failure;
			return ws_err_set(err, WS_ERR_FETCH, "%s",
				failure[0] ? failure : "its answer is missing, or does not match its digest");
		}
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_report report;
	const char *name;
	return ws_fs_read_at_most(items.at[1].path, WS_LONGEST_REPORT, &text, err)
		&& (!told || ws_fs_read_at_most(items.at[2].path, WS_LONGEST_REPORT, told, err))
		&& ws_report_read(ws_buf_str(&text), a, &report, err)
		&& (ws_worker_files_add_report(p->platform, &report, &name)
			|| ws_err_set(err, WS_ERR_BUILD, "'%s' differs between workers", name));
}

bool
ws_farm_workers_query(const struct ws_farm_workers_query *p, const struct ws_buf *names,
	struct ws_buf *told, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_directories own = {.a = a};
	struct ws_operation op = {.instance = p->config->instance, .skip_cache = true};
	Reapi__ExecuteResponse *response;
	ws_remote_action_probe(p->actions, told, names, &own, &op.action);
	op.call.deadline_ms = told ? 0 : ABOUT_NAMES_MS;
	bool done = run_query(p, &op, &own, &response, err)
		&& (fetch_answers(p, response->result, told, a, err)
			|| ws_err_wrap(err, "a worker of %s", p->platform->name));
	ws_operation_release(&op);
	return done;
}
