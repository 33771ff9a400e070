/* run.c - resolve, run, deliver, sum up. */
#include "produce/run.h"

#include "base/fs.h"
#include "base/map.h"
#include "engine/local.h"
#include "plan/key.h"
#include "produce/deliver.h"
#include "produce/lacks.h"
#include "produce/lock_file.h"
#include "produce/products.h"
#include "store/cells.h"
#include "sys/clock.h"
#include "sys/stop.h"

#include <string.h>

struct building {
	struct ws_sink sink; /* first: hears of failures */
	struct ws_context *ctx;
	const struct ws_plan *plan;
	const struct ws_build_options *options;
	struct ws_build_result *result;
	struct ws_arena *a;
	struct ws_graph *graph;
	struct ws_made *made; /* of the products that were resolved */
	size_t made_count;
	struct ws_cell_result *cells; /* one for each cell of the plan */
	struct ws_map places;         /* name of a cell -> its result */
	WS_VEC(struct ws_failed_action) failed;
};

static void
start_results(struct building *b)
{
	b->cells = WS_NEW_N(b->a, struct ws_cell_result, b->plan->cell_count + 1);
	for (size_t i = 0; i < b->plan->cell_count; i++) {
		const struct ws_cell *cell = b->plan->cells[i];
		b->cells[i] = (struct ws_cell_result){
			.cell = cell,
			.state = cell->decision == WS_DECISION_EXCLUDED ? WS_CELL_EXCLUDED
				: cell->decision == WS_DECISION_FALLBACK    ? WS_CELL_FALLBACK
															: WS_CELL_CANCELLED,
		};
		ws_map_put(&b->places, cell->name, &b->cells[i], b->a);
	}
	b->result->cells = b->cells;
	b->result->cell_count = b->plan->cell_count;
}

/* Cells that --only or --shard left out have no result: their product may serve others that are in. */
static void
set_result(const struct building *b, const struct ws_cell_result *result)
{
	struct ws_cell_result *place = ws_map_get(&b->places, result->cell->name);
	if (place) {
		*place = *result;
	}
}

/* @a why lives as long as the result: a failed action's own, or a copy. */
static void
set_cells(const struct building *b, const struct ws_product *product, enum ws_cell_state state,
	const struct ws_err *why)
{
	for (size_t i = 0; i < product->cell_count; i++) {
		set_result(b, &(struct ws_cell_result){product->cells[i], state, .why = why});
	}
}

static void
fail_cells(const struct building *b, const struct ws_product *product, const struct ws_err *why)
{
	set_cells(b, product, WS_CELL_FAILED, why);
}

/* Is there anything that stands in for what cannot be built? */
static bool
falls_back(const struct building *b)
{
	const struct ws_matrix *matrix = b->options->matrix;
	return matrix && matrix->fallback_on_build_failed && matrix->fallback_count > 0;
}

/* One failure does not end the rest. */
static bool
goes_on(const struct building *b)
{
	return b->options->keep_going || falls_back(b);
}

/* A command failed, was killed for memory or took too long. What could not even be resolved, or came
 * of this host's files, is no failed build. */
static void
fail_build(const struct building *b, const struct ws_product *product, const struct ws_err *failure)
{
	bool tried = failure->kind == WS_ERR_BUILD || failure->kind == WS_ERR_VERIFY;
	const char *to = tried && falls_back(b)
		? ws_matrix_fallback(b->options->matrix, product->recipe->name)
		: NULL;
	if (!to) {
		fail_cells(b, product, failure);
		return;
	}
	struct ws_err *why = WS_NEW(b->a, struct ws_err);
	*why = *failure;
	ws_err_wrap(why, "%s: the build failed", to);
	set_cells(b, product, WS_CELL_FALLBACK, why);
}

/* What is lacking offline is told at once, before any of it stops the build. */
static bool
find_lacks(struct building *b, struct ws_resolver *resolver, bool *lacking, struct ws_err *err)
{
	struct ws_lacks lacks = {0};
	bool any = false;
	for (size_t i = 0; i < b->plan->product_count; i++) {
		lacking[i] = ws_lacks_add(&lacks, resolver, b->plan->products[i], b->a);
		any = any || lacking[i];
	}
	if (!any) {
		return true;
	}
	ws_lacks_tell(&lacks, b->options->fetch_command, err);
	struct ws_err *why = WS_NEW(b->a, struct ws_err);
	*why = *err;
	for (size_t i = 0; i < b->plan->product_count; i++) {
		if (lacking[i]) {
			fail_cells(b, b->plan->products[i], why);
		}
	}
	return goes_on(b);
}

/* A product that cannot be resolved fails its cells; the rest goes on with --keep-going. */
static bool
add_products(struct building *b, struct ws_err *err)
{
	struct ws_resolver *resolver = ws_resolver_open(b->ctx);
	bool *lacking = WS_NEW_N(b->a, bool, b->plan->product_count + 1);
	bool offline = b->ctx->fetch && b->ctx->fetch->offline;
	bool done = !offline || find_lacks(b, resolver, lacking, err);
	b->made = WS_NEW_N(b->a, struct ws_made, b->plan->product_count + 1);
	for (size_t i = 0; i < b->plan->product_count && done; i++) {
		const struct ws_product *product = b->plan->products[i];
		struct ws_made *made = &b->made[b->made_count];
		if (lacking[i]) {
			continue;
		}
		if (ws_products_add(b->ctx, resolver, product, b->graph, made, err)) {
			b->made_count++;
			continue;
		}
		if (ws_err_is_stop(err)) {
			return false;
		}
		struct ws_err *why = WS_NEW(b->a, struct ws_err);
		*why = *err;
		fail_cells(b, product, why);
		done = goes_on(b) && err->kind != WS_ERR_IO;
	}
	return done;
}

/* The cell key with the pins that were made since planning; "" when one is missing still. */
static const char *
key_now(const struct building *b, const struct ws_product *product)
{
	const struct ws_lock *lock = b->ctx->lock;
	struct ws_product pinned = *product;
	struct ws_torch_choice torch;
	struct ws_cuda_choice cuda;
	if (product->point.torch && !product->point.torch->installed) {
		torch = *product->point.torch;
		torch.pin = ws_lock_torch(lock, torch.version.text);
		pinned.point.torch = &torch;
	}
	if (product->point.cuda) {
		cuda = *product->point.cuda;
		cuda.pin = ws_lock_cuda(lock, cuda.name);
		pinned.point.cuda = &cuda;
	}
	ws_key_fill(&pinned, lock, b->a);
	return pinned.key;
}

static bool
deliver_product(struct building *b, const struct ws_made *made, struct ws_err *err)
{
	const struct ws_context *ctx = b->ctx;
	const struct ws_product *product = made->product;
	struct ws_cell_record record = {.built_s = ws_clock_wall_s()};
	uint64_t size_bytes, cpu_ms = 0;
	bool cached = true;
	if (!ws_deliver_wheel(
			ctx, b->options->output, made->pack, &record.file, &record.digest, &size_bytes, err)) {
		return false;
	}
	for (size_t i = 0; i < made->nodes.len; i++) {
		const struct ws_node *node = made->nodes.at[i];
		bool ran = node->outcome == WS_OUTCOME_RAN;
		cached = cached && !ran;
		cpu_ms += ran ? node->result.cpu_ms : 0;
	}
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_cell *cell = product->cells[i];
		set_result(b,
			&(struct ws_cell_result){cell, WS_CELL_READY, .cached = cached, .wheel = record.file,
				.digest = record.digest, .size_bytes = size_bytes, .cpu_ms = cpu_ms});
		struct ws_event event = {.kind = WS_EVENT_CELL_DONE,
			.subject = cell->name,
			.outcome = cached ? WS_OUTCOME_HIT : WS_OUTCOME_RAN,
			.detail = record.file};
		ws_events_emit(ctx->events, &event);
	}
	const char *key = key_now(b, product);
	return !key[0] || (cached && product->wheel.file)
		|| ws_cells_put(ctx->store, key, &record, err);
}

static const char *
command_line(const struct building *b, const struct ws_node *node)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *dir = node->dir ? node->dir : "{work}";
	const char *const *words = ws_work_words(node->action, node->action->argv, dir, b->a);
	for (size_t i = 0; words[i]; i++) {
		ws_buf_puts(&line, i ? " " : "");
		ws_buf_put_quoted(&line, words[i]);
	}
	return ws_buf_copy(&line, b->a);
}

/* The check's own sentence is in its log; its exit status says that it is a verdict. One that came to
 * none (a name that takes years to read) has not shown that the module loads, either. */
static void
refine(const struct ws_node *node)
{
	if (strcmp(node->action->stage, "check") == 0 && node->failure->kind == WS_ERR_BUILD) {
		node->failure->kind = WS_ERR_VERIFY;
		if (ws_ends_with(node->failure->text, "exited with 6")) {
			ws_err_set(node->failure, WS_ERR_VERIFY, "%s would not load", node->action->subject);
		}
	}
}

static void
add_failure(struct building *b, const struct ws_node *node)
{
	refine(node);
	struct ws_failed_action *failed = ws_vec_push(&b->failed, b->a);
	*failed = (struct ws_failed_action){
		.cell = node->action->group,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.err = node->failure,
		.command = command_line(b, node),
		.log_digest = node->result.log,
		.folder = b->options->keep_work ? node->dir : NULL,
	};
	if (node->result.log.hex[0]) {
		ws_deliver_log(b->ctx, b->options->output, b->graph, node, &failed->log, NULL);
	}
	b->result->failed = b->failed.at;
	b->result->failed_count = b->failed.len;
	if (b->options->tell_failure) {
		b->options->tell_failure(b->options->self, failed);
	}
}

/* Failures are gathered, and told, when they happen: the rest may take hours. */
static void
hear(struct ws_sink *self, const struct ws_event *event)
{
	struct building *b = (struct building *)self;
	if (event->kind == WS_EVENT_ACTION_DONE && event->outcome == WS_OUTCOME_FAILED) {
		add_failure(b, b->graph->nodes.at[event->id - 1]);
	}
}

static bool
run_graph(struct building *b, struct ws_work *work, struct ws_err *err)
{
	const struct ws_context *ctx = b->ctx;
	struct ws_events events = ctx->events ? *ctx->events : (struct ws_events){0};
	ws_events_add(&events, &b->sink); /* the last: the lines of others come before its own */
	struct ws_budget budget = ws_budget_make(ctx->host, b->options->jobs, b->options->memory_bytes);
	struct ws_engine engine = {
		.store = ctx->store,
		.ledger = ctx->ledger,
		.runner = ws_local_runner(ctx->stop, b->a),
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

static const struct ws_err *
failure_of(const struct ws_made *made)
{
	for (size_t i = 0; i < made->nodes.len; i++) {
		if (made->nodes.at[i]->state == WS_NODE_FAILED) {
			return made->nodes.at[i]->failure;
		}
	}
	return NULL;
}

static bool
deliver_all(struct building *b, struct ws_err *err)
{
	bool done = true;
	for (size_t i = 0; i < b->made_count; i++) {
		const struct ws_made *made = &b->made[i];
		const struct ws_err *failure = failure_of(made);
		if (made->pack->state == WS_NODE_DONE) {
			done = deliver_product(b, made, err) && done;
		} else if (failure) {
			fail_build(b, made->product, failure);
		}
	}
	/* Warnings of compilers that succeeded are worth keeping too. */
	for (size_t i = 0; i < b->graph->nodes.len && done; i++) {
		const struct ws_node *node = b->graph->nodes.at[i];
		const char *path;
		if (node->outcome == WS_OUTCOME_RAN && node->result.log.hex[0]) {
			done = ws_deliver_log(b->ctx, b->options->output, b->graph, node, &path, err);
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
	for (size_t i = 0; i < b->plan->cell_count; i++) {
		const struct ws_cell_result *cell = &b->cells[i];
		wanted += cell->state >= WS_CELL_READY;
		undone += cell->state == WS_CELL_CANCELLED;
		if (cell->state == WS_CELL_FAILED) {
			failed++;
			kind =
				kind == WS_ERR_NONE || kind == cell->why->kind ? cell->why->kind : WS_ERR_NEGATIVE;
		}
	}
	if (failed == 0 && undone == 0) {
		*err = (struct ws_err){0}; /* of failures that something stands in for */
		return true;
	}
	if (failed == 0) {
		/* Nobody asked to stop and nothing went wrong: then this must not look like success. */
		ws_err_set(err, WS_ERR_INTERNAL, "%u of %u cells are not done, and nothing says why",
			undone, wanted);
		return ws_err_cure(err, "this is a fault of wheelsmith's: please report it");
	}
	return ws_err_set(err, kind, "%u of %u cells failed", failed, wanted);
}

bool
ws_build_run(struct ws_context *ctx, const struct ws_plan *plan,
	const struct ws_build_options *options, struct ws_build_result *result, struct ws_err *err)
{
	struct building b = {
		.sink = {hear},
		.ctx = ctx,
		.plan = plan,
		.options = options,
		.result = result,
		.a = ctx->a,
		.graph = ws_graph_make(ctx->a),
	};
	int64_t begun_ms = ws_clock_ms();
	struct ws_work work = {.lock_fd = -1, .sweep_fd = -1};
	*result = (struct ws_build_result){0};
	start_results(&b);
	if (!ws_deliver_open(options->output, err)) {
		return false;
	}
	/* What was pinned is written before the first compiler runs, and when something is lacking: who
	 * comes back keeps it. */
	bool added = add_products(&b, err);
	if (!ws_lock_file_save(ctx, added ? err : NULL) || !added) {
		result->wall_ms = (uint64_t)(ws_clock_ms() - begun_ms);
		ws_deliver_records(ctx, options->output, result, NULL);
		return false;
	}
	if (options->compile_commands
		&& !ws_deliver_compile_commands(ctx, options->output, b.made, b.made_count, err)) {
		return false;
	}
	bool ran =
		ws_work_open(ctx->store, ctx->program, ctx->a, &work, err) && run_graph(&b, &work, err);
	struct ws_err later = {0};
	bool delivered = deliver_all(&b, &later);
	ws_work_close(&work, options->keep_work && result->failed_count > 0);
	result->wall_ms = (uint64_t)(ws_clock_ms() - begun_ms);
	delivered = delivered && ws_deliver_records(ctx, options->output, result, &later);
	if (!ran && err->kind != WS_ERR_BUILD) {
		return false; /* interrupted, or the host failed us: that is the news */
	}
	if (!delivered) {
		*err = later;
		return false;
	}
	return sum_up(&b, err);
}
