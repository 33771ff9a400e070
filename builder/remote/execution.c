/* execution.c - a runner on top of the local one. Actions are sent, and files fetched, in
 * batches, since a round trip for each would dominate. Execute streams have a connection of
 * their own, polled beside the children of this host, also while files are transferred. */
#include "remote/execution.h"

#include "base/fs.h"
#include "engine/graph.h"
#include "engine/work.h"
#include "remote/farm_workers.h"
#include "remote/grpc_cache.h"
#include "remote/operation.h"
#include "remote/worker_result.h"
#include "sys/clock.h"

#define TURN_MS 100
#define ROUND 256 /* actions sent or fetched together: their messages are in memory */
#define KILLS 2   /* kills for memory on workers, before the failure is reported */
#define LOSSES 5  /* losses of kept outputs, before the failure is reported */
#define NAMES "wheelsmith.platform/1" /* in the ledger: names that workers reported */
#define MOST_NAMES ((size_t)1 << 20)  /* limit of these, in bytes */

/* A job running on the farm. */
struct remote_job {
	struct ws_operation op; /* first */
	struct runner *r;
	struct ws_job *job;
	int64_t started_ms;
	int64_t due_ms; /* not sent before */
	unsigned kills;
	unsigned seen_ended; /* value of x->ended at the last refusal */
	bool timed_out;
	size_t at; /* index in r->open */
	/* While files are fetched: */
	Reapi__ExecuteResponse *response;
	struct ws_worker_result files;
};

typedef WS_VEC(struct remote_job *) remote_job_list;

/* A job running on this host. */
struct local_job {
	unsigned id;
	struct ws_need need;
};

struct ws_execution {
	struct ws_executor executor;
	struct ws_execution_config config;
	const char *name; /* of the farm, for messages */
	struct farm_hosts {
		struct ws_worker_files platform; /* first */
		struct ws_execution *x;
	} hosts;
	struct ws_rpc_config files; /* the connection of `cache` */
	struct ws_remote_cache *cache;
	struct ws_rpc *rpc; /* Execute */
	struct ws_remote_actions actions;
	size_t trees_put; /* number of items of `actions` that are on the server */
	struct ws_names names;
	bool is_over; /* the farm is not used any more */
	bool has_warned;
	bool has_started;      /* a worker has started something */
	unsigned ended;        /* actions that ended on the farm */
	struct runner *runner; /* the current runner; NULL: none */
};

struct runner {
	struct ws_runner runner; /* first */
	struct ws_execution *x;
	struct ws_runner *local;
	const struct ws_work *work;
	struct ws_budget budget; /* of this host */
	struct ws_arena *a;
	remote_job_list fresh, open, ended, unsent;
	WS_VEC(struct local_job) local_jobs;
	WS_VEC(struct ws_done) finished; /* last in, first out */
	WS_VEC(struct ws_call *) cancels;
	bool stopping;
	int64_t stopped_ms;
};

/* Moves the due jobs from the front of @a list to a round. */
static remote_job_list
take_round(const struct runner *r, remote_job_list *list, struct ws_arena *a)
{
	int64_t until_ms = r->stopping || r->x->is_over ? INT64_MAX : ws_clock_ms();
	remote_job_list round = {0};
	size_t kept = 0;
	for (size_t i = 0; i < list->len; i++) {
		if (round.len < ROUND && list->at[i]->due_ms <= until_ms) {
			*ws_vec_push(&round, a) = list->at[i];
		} else {
			list->at[kept++] = list->at[i];
		}
	}
	list->len = kept;
	return round;
}

/* Time until something in @a list is due, at most @a most_ms. */
static int64_t
due_in_ms(const remote_job_list *list, int64_t most_ms)
{
	int64_t now_ms = ws_clock_ms(), least_ms = most_ms;
	for (size_t i = 0; i < list->len && least_ms > 0; i++) {
		int64_t left_ms = list->at[i]->due_ms - now_ms;
		least_ms = left_ms < least_ms ? left_ms : least_ms;
	}
	return least_ms > 0 ? least_ms : 0;
}

/* ---- outputs kept on the farm ---- */

static bool
has(const struct ws_runner *self, const char *digest)
{
	const struct runner *r = (const struct runner *)self;
	return (!r->x->is_over && ws_map_get(&r->x->actions.kept_there, digest))
		|| r->local->has(r->local, digest);
}

/* True if a transient input is lost. */
static bool
lacks_input(const struct remote_job *w)
{
	const struct ws_action *action = w->job->action;
	for (size_t i = 0; i < action->input_count; i++) {
		const struct ws_node *from = action->inputs[i].from;
		if (from && from->action->transient && !has(&w->r->runner, w->job->made[i])) {
			return true;
		}
	}
	return false;
}

/* ---- jobs on this host ---- */

static bool
fits_here(const struct runner *r, const struct ws_action *action, struct ws_need need)
{
	struct ws_budget budget = r->budget;
	return ws_budget_take(&budget, need)
		&& (r->local_jobs.len == 0 || r->local->has_room(r->local, action, need));
}

static bool
start_here(struct runner *r, struct ws_job *job, struct ws_err *err)
{
	if (!r->local->start(r->local, job, err)) {
		return false;
	}
	ws_budget_take(&r->budget, job->need);
	*ws_vec_push(&r->local_jobs, r->a) = (struct local_job){job->id, job->need};
	return true;
}

static void
ended_here(struct runner *r, unsigned id)
{
	for (size_t i = 0; i < r->local_jobs.len; i++) {
		if (r->local_jobs.at[i].id == id) {
			ws_budget_give(&r->budget, r->local_jobs.at[i].need);
			r->local_jobs.at[i] = r->local_jobs.at[--r->local_jobs.len];
			return;
		}
	}
}

/* ---- ends of jobs ---- */

static void
finish_job(struct remote_job *w, const struct ws_done *done)
{
	struct runner *r = w->r;
	struct ws_done *last = ws_vec_push(&r->finished, r->a);
	*last = *done;
	last->id = w->job->id;
	last->timed_out = w->timed_out;
	ws_operation_release(&w->op);
}

static void
finish_stopped(struct remote_job *w)
{
	finish_job(w, &(struct ws_done){.code = -1, .stopped = true});
}

static void
finish_late(struct remote_job *w)
{
	w->timed_out = true;
	finish_job(w,
		&(struct ws_done){
			.code = -1, .signal = SIGTERM, .wall_ms = (uint64_t)(ws_clock_ms() - w->started_ms)});
}

static void
fail_job(struct remote_job *w, const struct ws_err *err)
{
	struct ws_done done = {.code = 0};
	done.failure = WS_NEW(w->job->a, struct ws_err);
	*done.failure = *err;
	finish_job(w, &done);
}

/* Forget its inputs, so that they are built again. */
static void
finish_without_inputs(struct remote_job *w)
{
	struct ws_remote_actions *all = &w->r->x->actions;
	for (size_t i = 0; i < w->job->action->input_count; i++) {
		const char *digest = w->job->made[i];
		if (digest && ws_map_get(&all->kept_there, digest)) {
			ws_map_put(&all->kept_there, digest, NULL, all->trees.a);
		}
	}
	finish_job(w, &(struct ws_done){.code = -1, .lacks_input = true});
}

/* The farm cannot run it: run it on this host if `remote,local` allows that. */
static void
run_here_or_fail(struct remote_job *w, const struct ws_err *err)
{
	struct runner *r = w->r;
	struct ws_execution *x = r->x;
	if (r->stopping) {
		finish_stopped(w);
	} else if (!x->executor.falls_back) {
		fail_job(w, err);
	} else {
		if (!x->is_over) {
			ws_events_warn(x->config.events, "%s: the rest is built here", err->text);
		}
		x->is_over = true;
		*ws_vec_push(&r->unsent, r->a) = w;
	}
}

static void
start_unsent(struct runner *r)
{
	while (r->unsent.len > 0) {
		struct remote_job *w = r->unsent.at[r->unsent.len - 1];
		struct ws_err err;
		bool here = !r->stopping && !lacks_input(w);
		if (here && !fits_here(r, w->job->action, w->job->need)) {
			return;
		}
		r->unsent.len--;
		if (r->stopping) {
			finish_stopped(w);
		} else if (!here) {
			finish_without_inputs(w);
		} else if (start_here(r, w->job, &err)) {
			ws_operation_release(&w->op);
		} else {
			fail_job(w, &err);
		}
	}
}

/* ---- sending ---- */

static void
on_end(struct ws_call *call)
{
	struct remote_job *w = (struct remote_job *)call;
	struct runner *r = w->r;
	struct remote_job *last = r->open.at[--r->open.len];
	r->open.at[w->at] = last;
	last->at = w->at;
	*ws_vec_push(&r->ended, r->a) = w;
}

static void
send_fresh(struct runner *r)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_directories own = {.a = a};
	struct ws_err err = {0};
	remote_job_list round = take_round(r, &r->fresh, a), going = {0};
	for (size_t i = 0; i < round.len; i++) {
		struct remote_job *w = round.at[i];
		if (r->stopping) {
			finish_stopped(w);
		} else if (r->x->is_over) {
			*ws_vec_push(&r->unsent, r->a) = w;
		} else if (lacks_input(w)) {
			finish_without_inputs(w);
		} else if (ws_remote_action_make(&r->x->actions, w->job, &own, &w->op.action, &err)) {
			w->op.action.digest = ws_arena_strdup(w->job->a, w->op.action.digest);
			w->op.action.order = ws_arena_strdup(w->job->a, w->op.action.order);
			*ws_vec_push(&going, a) = w;
		} else {
			fail_job(w, &err);
		}
	}
	/* The files of these actions, and the trees and helper that the server lacks. */
	struct ws_execution *x = r->x;
	struct ws_directories *trees = &x->actions.trees;
	size_t count = trees->items.len - x->trees_put;
	bool sent = going.len == 0
		|| (ws_cache_put_all(x->cache, trees->items.at + x->trees_put, count, x->name, &err)
			&& ws_cache_put_all(x->cache, own.items.at, own.items.len, x->name, &err));
	if (sent && going.len > 0) {
		x->trees_put = trees->items.len;
	}
	for (size_t i = 0; i < going.len; i++) {
		struct remote_job *w = going.at[i];
		if (sent) {
			ws_operation_prepare(&w->op);
			w->op.call.end = on_end;
			w->at = r->open.len;
			*ws_vec_push(&r->open, r->a) = w;
			ws_rpc_start(r->x->rpc, &w->op.call);
		} else if (ws_stop_asked(r->x->config.stop)) {
			finish_stopped(w);
		} else {
			run_here_or_fail(w, &err);
		}
	}
}

/* ---- results ---- */

static void
fail_with_server_text(struct remote_job *w)
{
	struct ws_err err;
	ws_err_set(
		&err, WS_ERR_FETCH, "%s: '%s': %s", w->r->x->name, w->job->action->subject, w->op.text);
	run_here_or_fail(w, &err);
}

/* True if an input exists on the farm only. */
static bool
has_kept_input(const struct remote_job *w)
{
	const struct ws_action *action = w->job->action;
	for (size_t i = 0; i < action->input_count; i++) {
		if (action->inputs[i].from && ws_map_get(&w->r->x->actions.kept_there, w->job->made[i])) {
			return true;
		}
	}
	return false;
}

/* An operation has ended: fetch its files, or send it again. */
static void
handle_end(struct remote_job *w, struct ws_arena *a, ws_item_list *items, remote_job_list *coming)
{
	struct runner *r = w->r;
	if (w->seen_ended != r->x->ended) {
		w->seen_ended = r->x->ended;
		w->op.refusals = 0; /* the farm is full, but makes progress */
	}
	switch (ws_operation_read_end(&w->op, w->job->a, &w->response)) {
	case WS_OPERATION_DONE: {
		r->x->ended++;
		const char *dir =
			ws_arena_printf(a, "%s/%u-%u", r->work->path, w->job->id, w->job->attempt);
		struct ws_err err;
		if (!ws_fs_mkdirs(dir, &err)) {
			fail_job(w, &err);
			return;
		}
		w->files = (struct ws_worker_result){.order = w->op.action.order,
			.kept = w->response->cached_result,
			.may_run_again = w->response->cached_result && !w->op.skip_cache};
		ws_worker_result_list_files(w->response->result, w->job, dir, a, items, &w->files);
		*ws_vec_push(coming, a) = w;
		return;
	}
	case WS_OPERATION_MISSING:
		if (w->op.attempts <= 1 || !has_kept_input(w)) {
			r->x->trees_put = 0;
			*ws_vec_push(&r->fresh, r->a) = w;
		} else if (w->job->attempt < LOSSES) {
			finish_without_inputs(w);
		} else {
			snprintf(w->op.text, sizeof(w->op.text), "the farm lost an input %d times", LOSSES);
			fail_with_server_text(w);
		}
		return;
	case WS_OPERATION_AGAIN:
		w->due_ms = ws_clock_ms() + w->op.pause_ms;
		*ws_vec_push(&r->fresh, r->a) = w;
		return;
	case WS_OPERATION_LATE:
		finish_late(w);
		return;
	case WS_OPERATION_FAILED:
		fail_with_server_text(w);
	}
}

/* Time between two timestamps of other clocks, at most the time since the start; 0: unknown. */
static uint64_t
between_ms(const struct remote_job *w, const Reapi__Timestamp *from, const Reapi__Timestamp *to)
{
	if (!from || !to) {
		return 0;
	}
	double ms = 1e3 * ((double)to->seconds - (double)from->seconds)
		+ 1e-6 * ((double)to->nanos - (double)from->nanos);
	double away_ms = (double)(ws_clock_ms() - w->started_ms);
	return ms <= 0 ? 0 : ms < away_ms ? (uint64_t)ms : (uint64_t)away_ms;
}

/* A result of the farm, with its files in the store. */
static void
finish_whole(struct remote_job *w, struct ws_done *done)
{
	struct ws_execution *x = w->r->x;
	struct ws_arena *a = x->actions.trees.a;
	bool killed = done->signal == SIGKILL || done->says == WS_LOG_SAYS_KILLED;
	if (killed && w->job->attempt == 1 && w->kills++ < KILLS) {
		w->op.skip_cache = true;
		*ws_vec_push(&w->r->fresh, w->r->a) = w;
		return;
	}
	const Reapi__ExecutedActionMetadata *m = w->response->result->execution_metadata;
	done->elsewhere.worker = m && m->worker[0] ? m->worker : "a worker";
	if (m && !w->response->cached_result) { /* a cached one has the times of an earlier run */
		done->elsewhere.queued_ms = between_ms(w, m->queued_timestamp, m->worker_start_timestamp);
		done->elsewhere.fetch_ms =
			between_ms(w, m->input_fetch_start_timestamp, m->input_fetch_completed_timestamp);
	}
	bool keeps = w->job->action->transient && done->code == 0;
	for (size_t i = 0; keeps && i < w->job->action->output_count; i++) {
		uint64_t *bytes = WS_NEW(a, uint64_t);
		*bytes = done->sizes[i];
		ws_map_put(&x->actions.kept_there, ws_arena_strdup(a, done->outputs[i].hex), bytes, a);
	}
	finish_job(w, done);
}

static void
accept_result(struct remote_job *w, const ws_item_list *items)
{
	struct ws_execution *x = w->r->x;
	struct ws_done done = {0};
	struct ws_err err = {0};
	enum ws_worker_result_state home =
		ws_worker_result_accept(&w->files, items, w->job, x->config.store, &x->names, &done, &err);
	switch (home) {
	case WS_WORKER_RESULT_WHOLE:
		finish_whole(w, &done);
		return;
	case WS_WORKER_RESULT_LOST:
		w->op.skip_cache = true;
		snprintf(w->op.text, sizeof(w->op.text), "an output is missing on the server");
		if (w->kills++ < KILLS) {
			*ws_vec_push(&w->r->fresh, w->r->a) = w;
		} else {
			fail_with_server_text(w);
		}
		return;
	case WS_WORKER_RESULT_OTHER_HOST:
	case WS_WORKER_RESULT_NOT_RUN:
		/* A cached result may belong to earlier workers or to a different action. */
		if (w->response->cached_result && !w->op.skip_cache) {
			w->op.skip_cache = true;
			*ws_vec_push(&w->r->fresh, w->r->a) = w;
			return;
		}
		if (home == WS_WORKER_RESULT_OTHER_HOST) {
			ws_err_cure(&err,
				w->job->action->platform
					? "use one worker image, or select one by 'platform'"
					: "a farm whose image has this host's compiler and headers shares results");
		}
		run_here_or_fail(w, &err);
		return;
	case WS_WORKER_RESULT_WRONG:
		fail_job(w, &err);
	}
}

static void
collect_ended(struct runner *r)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_item_list items = {0};
	remote_job_list round = take_round(r, &r->ended, a), coming = {0};
	for (size_t i = 0; i < round.len; i++) {
		struct remote_job *w = round.at[i];
		if (w->timed_out) {
			finish_late(w);
		} else if (r->stopping) {
			finish_stopped(w);
		} else {
			handle_end(w, a, &items, &coming);
		}
	}
	bool ran = items.len == 0 || r->x->cache->get_files(r->x->cache, items.at + 1, items.len - 1);
	for (size_t i = 0; i < coming.len; i++) {
		if (ran) {
			accept_result(coming.at[i], &items);
		} else {
			finish_stopped(coming.at[i]);
		}
	}
}

/* ---- open operations ---- */

static void
cancel_job(struct remote_job *w)
{
	struct runner *r = w->r;
	struct ws_call *cancel = ws_operation_cancellation(&w->op, r->a);
	if (cancel) {
		*ws_vec_push(&r->cancels, r->a) = cancel;
		ws_rpc_start(r->x->rpc, cancel);
	}
	ws_rpc_cancel(r->x->rpc, &w->op.call);
}

/* True if all cancellations have ended; releases them. */
static bool
cancels_have_ended(struct runner *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->cancels.len; i++) {
		if (r->cancels.at[i]->ended) {
			ws_buf_release(&r->cancels.at[i]->reply);
		} else {
			r->cancels.at[kept++] = r->cancels.at[i];
		}
	}
	r->cancels.len = kept;
	return kept == 0;
}

static void
check_operations(struct runner *r)
{
	struct ws_execution *x = r->x;
	int64_t now_ms = ws_clock_ms();
	bool waits = false;
	for (size_t i = r->open.len; i-- > 0;) {
		struct remote_job *w = r->open.at[i];
		const struct ws_operation *op = &w->op;
		x->has_started = x->has_started || op->stage >= WS_STAGE_EXECUTING;
		waits = waits || ws_operation_waits_long(op, now_ms);
		if (op->stage == WS_STAGE_EXECUTING && w->job->deadline_ms && !r->stopping
			&& now_ms - op->staged_ms > (int64_t)w->job->deadline_ms) {
			w->timed_out = true;
			cancel_job(w);
		}
	}
	if (waits && !x->has_started && !x->has_warned) {
		x->has_warned = true;
		ws_farm_warn_queued(x->config.events, x->name);
	}
}

/* Called while files are sent or fetched, which may take minutes: reads the Execute streams and
 * polls the jobs of this host. */
static void
work_beside(void *execution)
{
	struct ws_execution *x = execution;
	struct runner *r = x->runner;
	if (!r) {
		return;
	}
	if (r->open.len > 0) {
		ws_rpc_turn(x->rpc, 0);
		check_operations(r);
	}
	struct ws_done done;
	while (r->local_jobs.len > 0 && r->local->wait(r->local, 0, &done) == WS_WAIT_DONE) {
		ended_here(r, done.id);
		*ws_vec_push(&r->finished, r->a) = done;
	}
}

/* ---- the runner ---- */

static bool
goes_away(const struct ws_runner *self, const struct ws_action *action)
{
	const struct runner *r = (const struct runner *)self;
	return !r->x->is_over && ws_remote_action_can(action);
}

static bool
has_room(const struct ws_runner *self, const struct ws_action *action, struct ws_need need)
{
	const struct runner *r = (const struct runner *)self;
	const struct ws_execution *x = r->x;
	return goes_away(self, action) ? r->fresh.len + r->open.len + r->ended.len < x->config.slots
								   : r->unsent.len == 0 && fits_here(r, action, need);
}

static bool
start(struct ws_runner *self, struct ws_job *job, struct ws_err *err)
{
	struct runner *r = (struct runner *)self;
	if (job->action->platform && !ws_remote_action_can(job->action)) {
		return ws_err_set(err, WS_ERR_BUILD,
			"'%s' has inputs that cannot be sent to %s, which alone has its %s",
			job->action->subject, r->x->name, job->action->tool.name);
	}
	if (!goes_away(self, job->action)) {
		return start_here(r, job, err);
	}
	struct remote_job *w = WS_NEW(job->a, struct remote_job);
	w->r = r;
	w->job = job;
	w->started_ms = ws_clock_ms();
	w->op.instance = r->x->config.instance;
	/* A cached result of an action with lost files has lost them, too. */
	w->op.skip_cache = job->attempt > 1;
	*ws_vec_push(&r->fresh, r->a) = w;
	return true;
}

static enum ws_wait_result
wait_for(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done)
{
	struct runner *r = (struct runner *)self;
	struct ws_execution *x = r->x;
	int64_t until_ms = ws_clock_ms() + timeout_ms;
	for (;;) {
		/* First: the nodes that these ends make ready are sent together. */
		if (r->finished.len > 0) {
			*done = r->finished.at[--r->finished.len];
			return WS_WAIT_DONE;
		}
		send_fresh(r);
		if (r->open.len > 0 || !cancels_have_ended(r)) {
			ws_rpc_turn(x->rpc, 0);
			check_operations(r);
		}
		bool waited = r->stopping && ws_clock_ms() - r->stopped_ms > WS_TAKE_BACK_MS;
		if (!r->stopping || waited || cancels_have_ended(r)) {
			collect_ended(r);
		}
		start_unsent(r);
		if (r->finished.len > 0) {
			continue;
		}
		int64_t wait_ms = until_ms - ws_clock_ms();
		wait_ms = due_in_ms(&r->fresh, wait_ms < TURN_MS ? wait_ms : TURN_MS);
		wait_ms = r->stopping ? wait_ms : due_in_ms(&r->ended, wait_ms);
		ws_local_waits_for(r->local, r->open.len > 0 ? ws_rpc_fd(x->rpc) : -1);
		if (r->local->wait(r->local, (unsigned)wait_ms, done) == WS_WAIT_DONE) {
			ended_here(r, done->id);
			return WS_WAIT_DONE;
		}
		if (ws_clock_ms() >= until_ms || (!r->stopping && ws_stop_asked(x->config.stop))) {
			return WS_WAIT_TICK;
		}
	}
}

static void
forget(struct ws_runner *self, const struct ws_job *job, bool keep)
{
	struct runner *r = (struct runner *)self;
	if (job->dir) {
		r->local->forget(r->local, job, keep);
		return;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_fs_remove(ws_arena_printf(a, "%s/%u-%u", r->work->path, job->id, job->attempt), NULL);
}

static void
stop(struct ws_runner *self, bool now)
{
	struct runner *r = (struct runner *)self;
	r->local->stop(r->local, now);
	if (!r->stopping) {
		r->stopping = true;
		r->stopped_ms = ws_clock_ms();
		for (size_t i = r->open.len; i-- > 0;) {
			cancel_job(r->open.at[i]);
		}
	}
}

static uint64_t
held_bytes(const struct ws_runner *self, unsigned id)
{
	const struct runner *r = (const struct runner *)self;
	return r->local->held_bytes(r->local, id);
}

static int64_t
now_ms(const struct ws_runner *self WS_UNUSED)
{
	return ws_clock_ms();
}

static struct ws_runner *
make_runner(struct ws_executor *self, struct ws_runner *local, const struct ws_work *work,
	struct ws_budget *budget, struct ws_arena *a)
{
	struct ws_execution *x = (struct ws_execution *)self;
	struct runner *r = WS_NEW(a, struct runner);
	r->runner = (struct ws_runner){
		has_room, start, has, wait_for, forget, stop, held_bytes, now_ms, goes_away};
	r->x = x;
	r->local = local;
	r->work = work;
	r->budget = *budget;
	r->a = a;
	x->runner = r;
	budget->cpus += x->config.slots;
	budget->memory_bytes = UINT64_MAX;
	return &r->runner;
}

/* ---- opening ---- */

static bool
ask_host(struct ws_worker_files *self, const struct ws_buf *names, struct ws_buf *told,
	struct ws_err *err)
{
	struct ws_execution *x = ((struct farm_hosts *)self)->x;
	const struct ws_farm_workers_query probe = {
		.config = &x->config,
		.rpc = x->rpc,
		.cache = x->cache,
		.actions = &x->actions,
		.platform = self,
		.has_warned = &x->has_warned,
	};
	WS_AUTO_BUF struct ws_buf all = {0};
	struct ws_digest looks;
	if (told) {
		ws_ledger_answer(x->config.ledger, NAMES, &all, &looks);
	}
	if (names) {
		ws_buf_add(&all, names->data, names->len);
	}
	return ws_farm_workers_query(&probe, &all, told, err);
}

struct ws_execution *
ws_execution_open(const struct ws_execution_config *config, struct ws_arena *a, struct ws_err *err)
{
	struct ws_execution *x = WS_NEW(a, struct ws_execution);
	const struct ws_wire_peer *peer = &config->rpc.channel.peer;
	x->name = ws_arena_printf(a, "the farm at '%s:%s'", peer->host, peer->port);
	x->hosts.platform = (struct ws_worker_files){.name = x->name, .ask = ask_host, .a = a};
	x->hosts.x = x;
	x->executor = (struct ws_executor){.over = make_runner,
		.falls_back = config->falls_back,
		.platform = config->falls_back ? NULL : &x->hosts.platform};
	x->config = *config;
	x->config.slots = config->slots ? config->slots : WS_EXECUTION_SLOTS;
	x->actions.store = config->store;
	x->actions.properties = config->properties;
	x->actions.property_count = config->property_count;
	x->names.ledger = config->ledger;
	x->names.a = a;
	if (!ws_remote_actions_open(&x->actions, config->helper, a, err)) {
		err->kind = WS_ERR_CONFIG;
		return NULL;
	}
	x->files = config->rpc;
	x->files.while_waiting = work_beside;
	x->files.waiting_for = x;
	x->cache = ws_grpc_cache_open(&x->files, config->instance, a);
	x->rpc = ws_rpc_open(&config->rpc);
	return x;
}

void
ws_execution_close(struct ws_execution *x)
{
	WS_AUTO_BUF struct ws_buf names = {0}, before = {0};
	struct ws_digest looks;
	if (!x) {
		return;
	}
	/* Stores the names that workers reported, for the first query of the next run; not their
	 * states. */
	ws_worker_files_names(&x->hosts.platform, &names);
	ws_ledger_answer(x->config.ledger, NAMES, &before, &looks);
	if (names.len > 0 && !ws_str_eq(ws_buf_str(&names), ws_buf_str(&before))) {
		if (names.len > MOST_NAMES) {
			ws_buf_clear(&names); /* of many farms, or of one that reports too much */
		}
		looks = ws_digest_bytes("", 0);
		ws_ledger_note_answer(x->config.ledger, NAMES, ws_buf_text(&names), &looks);
	}
	ws_rpc_close(x->rpc);
	x->cache->close(x->cache);
}

struct ws_executor *
ws_execution_executor(struct ws_execution *x)
{
	return x ? &x->executor : NULL;
}
