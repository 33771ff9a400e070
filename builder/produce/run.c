/* run.c - the steps of a build, in order. Actions of a product: make/products.c; delivery:
 * dist/deliver.c. */
#include "produce/run.h"

#include "dist/deliver.h"
#include "prebuilt/candidates.h"
#include "sys/clock.h"

#define RECORD_MS 1000

struct building {
	struct ws_sink sink; /* first: hears of actions that end */
	const struct ws_context *ctx;
	struct ws_pins *pins;
	const struct ws_plan *plan;
	const struct ws_build_options *options;
	struct ws_build_result *result;
	struct ws_supplies *supplies; /* the result's */
	struct ws_arena *a;
	struct ws_graph *graph;
	struct ws_made *made; /* of the supplies that were resolved */
	size_t made_count;
	size_t action_count;              /* the graph's, before parts come */
	const char *const *log_names;     /* of these */
	const struct ws_made **packed_by; /* by the number of an action: the product whose last it is */
	int64_t record_ms;                /* when the records may be written again */
	struct ws_err undelivered;        /* the first wheel that could not be */
	WS_VEC(struct ws_failed_action) failed;
};

/* ---- fallbacks ---- */

/* True if the matrix has a fallback for failed builds. */
static bool
falls_back(const struct building *b)
{
	const struct ws_matrix *matrix = b->options->matrix;
	return matrix->fallback_on_build_failed && matrix->fallback_count > 0;
}

/* A failure does not stop the other products. */
static bool
goes_on(const struct building *b)
{
	return b->options->keep_going || falls_back(b);
}

/* A command failed, was killed for memory or timed out. A product that cannot be resolved, and an
 * error of this host's files, are not failed builds. */
static bool
is_failed_build(const struct ws_err *failure)
{
	return failure && (failure->kind == WS_ERR_BUILD || failure->kind == WS_ERR_VERIFY);
}

/* ---- reporting ---- */

static bool
report_wheel(struct building *b, const struct ws_supply *supply, struct ws_err *err)
{
	if (b->options->tell_wheel) {
		b->options->tell_wheel(b->options->self, supply);
	}
	/* At most once a second: a build may deliver thousands of wheels. */
	int64_t now_ms = ws_clock_ms();
	if (now_ms < b->record_ms) {
		return true;
	}
	b->record_ms = now_ms + RECORD_MS;
	return ws_deliver_records(b->ctx, b->options->output, b->result, false, err);
}

/* ---- resolving ---- */

static const struct ws_err *
copy_error(const struct building *b, const struct ws_err *err)
{
	struct ws_err *kept = WS_NEW(b->a, struct ws_err);
	*kept = *err;
	return kept;
}

/* A wheel that needs no build. */
static bool
deliver_ready(struct building *b, struct ws_supply *supply, struct ws_err *err)
{
	const struct ws_product *product = supply->product;
	const char *output = b->options->output;
	bool awaits_prebuilt = ws_supply_is_prebuilt(supply);
	if (awaits_prebuilt && product->chosen) {
		return ws_deliver_prebuilt(b->ctx, output, supply, product->chosen, err)
			&& report_wheel(b, supply, err);
	}
	/* Where nothing may or can be built, a wheel of the store is delivered: no kit is needed. */
	bool builds = b->options->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& !(product->includes_python && product->point.python->missing);
	if (!builds && product->wheel.file) {
		return ws_deliver_stored(b->ctx, output, supply, err) && report_wheel(b, supply, err);
	}
	/* Offline, the list of missing downloads has it. */
	if (!awaits_prebuilt || (b->ctx->fetch && b->ctx->fetch->offline)) {
		return true;
	}
	ws_supply_fail_prebuilt(supply, err);
	supply->failure = copy_error(b, err);
	return goes_on(b);
}

/* Reports all missing downloads together before failing. */
static bool
find_missing(struct building *b, struct ws_resolver *resolver, struct ws_err *err)
{
	struct ws_missing_downloads missing = {0};
	WS_VEC(struct ws_supply *) waiting = {0};
	for (size_t i = 0; i < b->supplies->count; i++) {
		struct ws_supply *supply = &b->supplies->at[i];
		if (ws_supply_is_open(supply)
			&& ws_missing_downloads_add(&missing, resolver, supply->product, b->a)) {
			*ws_vec_push(&waiting, b->a) = supply;
		}
	}
	if (waiting.len == 0) {
		return true;
	}
	ws_missing_downloads_report(&missing, err);
	const struct ws_err *why = copy_error(b, err);
	for (size_t i = 0; i < waiting.len; i++) {
		waiting.at[i]->failure = why;
	}
	return goes_on(b);
}

static bool
add_products(struct building *b, struct ws_err *err)
{
	struct ws_resolver *resolver =
		ws_resolver_open(b->ctx, b->pins, b->plan->products, b->plan->product_count);
	bool offline = b->ctx->fetch && b->ctx->fetch->offline;
	bool done = true;
	for (size_t i = 0; i < b->supplies->count && done; i++) {
		struct ws_supply *supply = &b->supplies->at[i];
		done = !ws_supply_is_open(supply) || deliver_ready(b, supply, err);
	}
	done = done && (!offline || find_missing(b, resolver, err));
	b->made = WS_NEW_N(b->a, struct ws_made, b->supplies->count + 1);
	for (size_t i = 0; i < b->supplies->count && done; i++) {
		struct ws_supply *supply = &b->supplies->at[i];
		struct ws_made *made = &b->made[b->made_count];
		if (!ws_supply_is_open(supply)) {
			continue;
		}
		if (ws_products_add(b->ctx, resolver, supply->product, b->graph, made, err)) {
			made->supply = supply;
			b->made_count++;
		} else if (ws_err_is_stop(err)) {
			done = false;
		} else { /* fails its supply; the rest goes on with --keep-going */
			supply->failure = copy_error(b, err);
			done = goes_on(b) && err->kind != WS_ERR_IO;
		}
	}
	b->log_names = ws_deliver_log_names(b->graph, b->a);
	b->action_count = b->graph->nodes.len;
	b->packed_by = WS_NEW_N(b->a, const struct ws_made *, b->action_count + 1);
	for (size_t i = 0; i < b->made_count; i++) {
		const struct ws_made *made = &b->made[i];
		b->packed_by[(made->import ? made->import : made->pack)->id] = made;
	}
	return done;
}

/* ---- running ---- */

/* Report failures and deliver wheels at once: the rest of the build may take hours. */
static void
on_event(struct ws_sink *self, const struct ws_event *event)
{
	struct building *b = (struct building *)self;
	if (event->kind != WS_EVENT_ACTION_DONE || event->whole) {
		return;
	}
	const struct ws_node *node = b->graph->nodes.at[event->id - 1];
	const struct ws_made *made = b->packed_by[event->id];
	const char *output = b->options->output;
	struct ws_err err = {0};
	if (event->outcome == WS_OUTCOME_FAILED) {
		struct ws_failed_action *failed = ws_vec_push(&b->failed, b->a);
		*failed = ws_failed_action_of(node, b->options->keep_work, b->ctx->store, b->a);
		if (node->result.log.hex[0]) {
			ws_deliver_log(b->ctx, output, node, b->log_names[node->id - 1], &failed->log, NULL);
		}
		b->result->failed = b->failed.at;
		b->result->failed_count = b->failed.len;
		if (b->options->tell_failure) {
			b->options->tell_failure(b->options->self, failed);
		}
	} else if (made && node->state == WS_NODE_DONE
		&& !(ws_deliver_product(b->ctx, &b->pins->lock, output, made, &err)
			&& report_wheel(b, made->supply, &err))
		&& b->undelivered.kind == WS_ERR_NONE) {
		b->undelivered = err;
	}
}

static bool
run_graph(struct building *b, struct ws_work *work, struct ws_err *err)
{
	const struct ws_context *ctx = b->ctx;
	struct ws_events events = ctx->events ? *ctx->events : (struct ws_events){0};
	ws_events_add(&events, &b->sink); /* the last: the lines of others come before its own */
	struct ws_budget budget = ws_budget_make(ctx->host, b->options->jobs, b->options->memory_bytes);
	struct ws_runner *local = ws_local_runner(work, ctx->host, ctx->stop, b->a);
	struct ws_executor *others = ctx->executor;
	struct ws_engine engine = {
		.store = ctx->store,
		.shared = ctx->shared,
		.ledger = ctx->ledger,
		.runner = others ? others->over(others, local, work, &budget, b->a) : local,
		.work = work,
		.budget = &budget,
		.events = &events,
		.stop = ctx->stop,
		.keep_going = goes_on(b),
		.keep_work = b->options->keep_work,
		.deadline_ms = b->options->action_timeout_ms,
	};
	return ws_engine_run(&engine, b->graph, &b->result->actions, err);
}

/* A wheel of somebody else's in place of a build that failed. */
static bool
replace_build(struct building *b, struct ws_supply *supply, struct ws_err *err)
{
	struct ws_candidates list = ws_candidate_list(b->options->candidates, supply->product, false);
	const struct ws_candidate *chosen = ws_candidate_that_loads(&list);
	ws_attempts_add(&list, NULL, b->a, &supply->tried);
	if (!chosen) {
		return true;
	}
	const struct ws_err *failure = supply->failure;
	supply->failure = NULL;
	supply->why = ws_arena_printf(b->a, "the build failed; a wheel of %s loads", chosen->from);
	if (!ws_deliver_prebuilt(b->ctx, b->options->output, supply, chosen, err)) {
		supply->failure = failure;
		return false;
	}
	ws_events_warn(b->ctx->events, "%s: the build failed; '%s' of %s is taken",
		supply->product->cells[0]->name, chosen->file, chosen->from);
	return report_wheel(b, supply, err);
}

static bool
finish_failures(struct building *b, struct ws_err *err)
{
	const struct ws_matrix *matrix = b->options->matrix;
	const struct ws_product **failed = WS_NEW_N(b->a, const struct ws_product *, b->made_count + 1);
	size_t count = 0;
	for (size_t i = 0; i < b->made_count; i++) {
		const ws_node_list *nodes = &b->made[i].nodes;
		struct ws_supply *supply = b->made[i].supply;
		size_t at = 0;
		while (at < nodes->len && nodes->at[at]->state != WS_NODE_FAILED) {
			at++;
		}
		if (at < nodes->len) {
			supply->failure = nodes->at[at]->failure;
			*ws_vec_push(&supply->tried, b->a) =
				(struct ws_attempt){WS_SUPPLY_BUILT, NULL, supply->failure->text};
		}
		if (at < nodes->len && is_failed_build(supply->failure)) {
			failed[count++] = supply->product;
		}
	}
	/* "prefer-build": look for prebuilt wheels of failed builds before using a fallback. */
	bool wanted = count > 0 && matrix->policy == WS_POLICY_PREFER_BUILD && b->options->candidates
		&& b->ctx->fetch;
	bool done = !wanted || ws_candidates_try(b->options->candidates, failed, count, err);
	for (size_t i = 0; i < b->made_count && wanted && done; i++) {
		struct ws_supply *supply = b->made[i].supply;
		done = !is_failed_build(supply->failure) || replace_build(b, supply, err);
	}
	for (size_t i = 0; i < b->made_count; i++) {
		struct ws_supply *supply = b->made[i].supply;
		if (is_failed_build(supply->failure) && falls_back(b)) {
			const char *to = ws_matrix_fallback(matrix, supply->product->recipe->name);
			supply->kind = to ? WS_SUPPLY_FALLBACK : supply->kind;
			supply->why = to
				? ws_arena_printf(b->a, "%s: the build failed: %s", to, supply->failure->text)
				: supply->why;
		}
	}
	return done && (!wanted || ws_pins_save(b->pins, err));
}

/* Failed supplies, and the warnings of compilers that succeeded. The output of parts is in the log
 * of their action. */
static bool
finish(struct building *b, struct ws_err *err)
{
	if (!finish_failures(b, err)) {
		return false;
	}
	bool done = b->undelivered.kind == WS_ERR_NONE;
	if (!done) {
		*err = b->undelivered;
	}
	for (size_t i = 0; i < b->graph->nodes.len; i++) { /* parts, too */
		struct ws_node *node = b->graph->nodes.at[i];
		if (node->elsewhere.worker) {
			*ws_vec_push(&b->result->on_farm, b->a) = node;
		}
	}
	for (size_t i = 0; i < b->action_count && done; i++) {
		struct ws_node *node = b->graph->nodes.at[i];
		const char *path;
		if (node->undivided) {
			*ws_vec_push(&b->result->undivided, b->a) = node;
		}
		if (node->outcome == WS_OUTCOME_RAN && node->result.log.hex[0]) {
			done = ws_deliver_log(b->ctx, b->options->output, node, b->log_names[i], &path, err);
		}
	}
	return done;
}

/* One line for several failures; one failure's own kind, or "several kinds". */
static bool
sum_up(const struct building *b, struct ws_err *err)
{
	enum ws_err_kind kind = WS_ERR_NONE;
	unsigned failed = 0, undone = 0, wanted = 0;
	for (size_t i = 0; i < b->supplies->cell_count; i++) {
		const struct ws_cell_result *cell = &b->supplies->cells[i];
		enum ws_cell_state state = ws_cell_state(cell);
		wanted += state >= WS_CELL_READY;
		undone += state == WS_CELL_CANCELLED;
		if (state == WS_CELL_FAILED) {
			enum ws_err_kind own = cell->supply->failure->kind;
			failed++;
			kind = kind == WS_ERR_NONE || kind == own ? own : WS_ERR_NEGATIVE;
		}
	}
	if (failed == 0 && undone == 0) {
		*err = (struct ws_err){0}; /* of failures that have a fallback */
		return true;
	}
	if (failed == 0) {
		/* No stop and no error: this must not look like success. */
		ws_err_set(
			err, WS_ERR_INTERNAL, "internal error: %u of %u cells have no result", undone, wanted);
		return ws_err_cure(err, "please report it");
	}
	return ws_err_set(err, kind, "%u of %u cells failed", failed, wanted);
}

static bool
build(struct building *b, int64_t begun_ms, struct ws_err *err)
{
	const struct ws_context *ctx = b->ctx;
	const char *output = b->options->output;
	struct ws_work work = WS_WORK_CLOSED;
	bool ran =
		ws_work_open(ctx->store, ctx->program, ctx->a, &work, err) && run_graph(b, &work, err);
	struct ws_err later = {0};
	bool settled = finish(b, &later);
	ws_work_close(&work, b->options->keep_work && b->result->failed_count > 0);
	b->result->wall_ms = (uint64_t)(ws_clock_ms() - begun_ms);
	settled = settled && ws_deliver_records(ctx, output, b->result, true, &later);
	if (!ran && (err->kind != WS_ERR_BUILD || b->result->actions.failed == 0)) {
		return false; /* interrupted, or the host failed us: that is the news */
	}
	if (!settled) {
		*err = later;
		return false;
	}
	return sum_up(b, err);
}

bool
ws_build_run(const struct ws_context *ctx, struct ws_pins *pins, const struct ws_plan *plan,
	const struct ws_build_options *options, struct ws_arena *a, struct ws_build_result *result,
	struct ws_err *err)
{
	struct building b = {
		.sink = {on_event},
		.ctx = ctx,
		.pins = pins,
		.plan = plan,
		.options = options,
		.result = result,
		.supplies = &result->supplies,
		.a = a,
		.graph = ws_graph_make(a),
	};
	int64_t begun_ms = ws_clock_ms();
	*result = (struct ws_build_result){0};
	ws_supplies_open(&result->supplies, plan, b.a);
	if (!ws_deliver_may(ctx, b.supplies, err) || !ws_deliver_open(options->output, err)) {
		return false;
	}
	/* Save pins before the first compiler runs, also when a download is missing: the next run uses
	 * them. */
	struct ws_err ignored = {0};
	bool added = add_products(&b, err);
	if (!ws_pins_save(pins, added ? err : NULL) || !added) {
		result->wall_ms = (uint64_t)(ws_clock_ms() - begun_ms);
		ws_deliver_records(ctx, options->output, result, true, &ignored);
		return false;
	}
	return (!options->compile_commands
			   || ws_deliver_compile_commands(ctx, options->output, b.made, b.made_count, err))
		&& build(&b, begun_ms, err);
}
