#include "engine/engine.h"
#include "net/url.h"
#include "prebuilt/candidates.h"
#include "prebuilt/wheel_files.h"

#define PATIENCE_MS 5000

/* A product and its candidates. */
struct attempt {
	const struct ws_product *product;
	struct ws_candidates list;
	size_t next;          /* the candidate that is tried */
	bool open;            /* in this round */
	struct ws_node *node; /* judges the candidate in this round; NULL: nothing to judge */
	bool done;            /* one loads, or all were tried */
};

struct trying {
	struct ws_candidate_memory *memory;
	struct ws_resolver *resolver;
	struct ws_fetch fetch; /* with an impatient session of its own */
	struct attempt *attempts;
	size_t count;
	struct ws_graph *graph;
	struct ws_arena *a;
};

/* ---- a round ---- */

/* One warning per server, however many candidates it has. */
static void
report_unreachable(struct trying *t, const struct ws_candidate *candidate)
{
	struct ws_url url;
	bool known = ws_url_parse(candidate->url, t->a, &url, NULL);
	if (!t->fetch.offline
		&& ws_map_add(&t->memory->warned, known ? url.origin : candidate->url, t->a)) {
		ws_events_warn(t->fetch.events, "prebuilt wheels: %s", candidate->why);
	}
}

/* The next candidate that may serve. A candidate that is known to load is opened as well: it may
 * have to be fetched and pinned, and its verdict is in the store. */
static void
choose_next(struct attempt *at)
{
	at->open = false;
	at->node = NULL;
	for (; !at->done && at->next < at->list.count; at->next++) {
		enum ws_candidate_state state = at->list.at[at->next].state;
		if (state == WS_CANDIDATE_UNOPENED || state == WS_CANDIDATE_LOADS) {
			at->open = true;
			return;
		}
	}
	at->done = true;
}

static void
end_candidate(struct trying *t, struct attempt *at, enum ws_candidate_state state, const char *why)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	ws_candidate_end(t->memory, at->product, candidate, state, why);
	if (state == WS_CANDIDATE_UNREACHABLE) {
		report_unreachable(t, candidate);
	}
	at->open = false;
	at->next++;
}

/* Without torch's export list the wheel cannot be judged now. */
static bool
add_judge(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	const struct ws_candidate *candidate = &at->list.at[at->next];
	struct ws_judge_order order;
	struct ws_err why = {0};
	const struct ws_action *action = NULL;
	ws_list_paths *lists;
	if (ws_candidate_lists(m, t->resolver, at->product, &lists, &why)
		&& ws_candidate_order(m, at->product, candidate, lists, &order)) {
		action = ws_judge_action(&order, m->ctx->store, m->ctx->program, t->a, &why);
	}
	if (action) {
		at->node = ws_graph_add(t->graph, action);
		return true;
	}
	if (ws_err_is_stop(&why) || why.kind == WS_ERR_IO) {
		*err = why;
		return false;
	}
	end_candidate(t, at, WS_CANDIDATE_UNREACHABLE, ws_arena_strdup(m->a, why.text));
	return true;
}

/* Adds a judge for a wheel that arrived; ends the others. */
static bool
accept(struct trying *t, const struct ws_wheel_wish *wish, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	if (wish->ruled_out) {
		ws_candidate_rule_out(t->memory, at->product, candidate, wish->why);
	}
	if (wish->state != WS_CANDIDATE_UNOPENED) {
		end_candidate(t, at, wish->state, wish->why);
		return true;
	}
	candidate->sha256 = wish->sha256;
	if (candidate->place != WS_PLACE_FOLDER && !t->memory->pins->bundled) {
		ws_url_digest_remember(t->memory->ctx->store, candidate->url, candidate->sha256);
	}
	return add_judge(t, at, err);
}

static bool
open_candidates(struct trying *t, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	struct ws_wheel_wish *wishes = WS_NEW_N(t->a, struct ws_wheel_wish, t->count + 1);
	struct attempt **wanting = WS_NEW_N(t->a, struct attempt *, t->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		choose_next(at);
		if (!at->open) {
			continue;
		}
		const struct ws_candidate *candidate = &at->list.at[at->next];
		bool renewed = ws_package_wheels_of(m, at->product->recipe)->renewed;
		wanting[count] = at;
		wishes[count++] = (struct ws_wheel_wish){
			.product = at->product,
			.pin = ws_candidate_pin(m, at->product, candidate),
			.likely = renewed ? NULL : ws_url_digest_recall(m->ctx->store, candidate->url, m->a),
			.candidate = candidate,
		};
	}
	bool done = ws_wheel_files_get(&t->fetch, wishes, count, m->a, err);
	for (size_t i = 0; i < count && done; i++) {
		done = accept(t, &wishes[i], wanting[i], err);
	}
	return done;
}

static bool
run_judges(struct trying *t, struct ws_err *err)
{
	const struct ws_context *ctx = t->memory->ctx;
	struct ws_work work = WS_WORK_CLOSED;
	struct ws_budget budget = ws_budget_make(ctx->host, ctx->jobs, ctx->memory_bytes);
	struct ws_run_summary summary;
	if (!ws_work_open(ctx->store, ctx->program, t->a, &work, err)) {
		return false;
	}
	struct ws_engine engine = {
		.store = ctx->store,
		.ledger = ctx->ledger,
		.runner = ws_local_runner(&work, ctx->host, ctx->stop, t->a),
		.work = &work,
		.budget = &budget,
		.events = ctx->events,
		.stop = ctx->stop,
		.keep_going = true,
	};
	bool ran = ws_engine_run(&engine, t->graph, &summary, err);
	ws_work_close(&work, false);
	return ran || err->kind == WS_ERR_BUILD; /* a failed judge ends its candidate alone */
}

static bool
pin(struct trying *t, const struct attempt *at, const struct ws_candidate *candidate,
	struct ws_err *err)
{
	struct ws_pin_prebuilt pin = {
		.package = at->product->recipe->name,
		.version = at->product->recipe->version.text,
		.wheel = candidate->file,
		.from = candidate->origin,
		.sha256 = candidate->sha256,
	};
	return ws_pins_put(t->memory->pins, WS_PIN_PREBUILT, &pin, err);
}

/* A judge that was killed or timed out leaves no verdict: the next run judges again. */
static bool
read_verdict(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	struct ws_candidate *candidate = &at->list.at[at->next];
	const struct ws_node *node = at->node;
	struct ws_wheel_verdict verdict;
	if (node->state != WS_NODE_DONE) {
		const char *why = node->failure ? node->failure->text : "it was not judged";
		end_candidate(t, at, WS_CANDIDATE_UNKNOWN, why);
		return true;
	}
	if (!ws_verdict_recall(m->ctx->store, node->result.outputs[0].hex, m->a, &verdict, err)
		|| (verdict.verdict == WS_VERDICT_OK && !pin(t, at, candidate, err))) {
		return false;
	}
	ws_candidate_end_judged(m, at->product, candidate, &verdict);
	at->done = candidate->state == WS_CANDIDATE_LOADS;
	at->next++;
	return true;
}

/* Tries one candidate of each product that still has none. */
static bool
run_round(struct trying *t, struct ws_err *err)
{
	t->graph = ws_graph_make(t->a);
	if (!open_candidates(t, err) || (t->graph->nodes.len > 0 && !run_judges(t, err))) {
		return false;
	}
	for (size_t i = 0; i < t->count; i++) {
		if (t->attempts[i].open && !read_verdict(t, &t->attempts[i], err)) {
			return false;
		}
	}
	return true;
}

static bool
is_open(const struct trying *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!t->attempts[i].done) {
			return true;
		}
	}
	return false;
}

/* ---- before the first round ---- */

/* No known wheel serves the product: its places are read now. */
static bool
wants_more(struct trying *t, const struct attempt *at)
{
	struct ws_candidate_memory *m = t->memory;
	const struct ws_package_wheels *package = ws_package_wheels_of(m, at->product->recipe);
	bool enough = package->wheels.complete && ws_candidates_may_build(m, at->product);
	return !package->read && package->places.count > 0 && !t->fetch.offline && !m->pins->locked
		&& (package->renewed || (!enough && !ws_candidate_that_loads(&at->list)));
}

/* Connects to all servers at once. */
static bool
preconnect(struct trying *t, struct ws_err *err)
{
	ws_name_list urls = {0};
	for (size_t i = 0; i < t->count; i++) {
		const struct attempt *at = &t->attempts[i];
		const struct ws_package_wheels *package =
			ws_package_wheels_of(t->memory, at->product->recipe);
		for (size_t k = 0; wants_more(t, at) && k < package->places.count; k++) {
			*ws_vec_push(&urls, t->a) = package->places.at[k];
		}
		for (size_t k = 0; k < at->list.count; k++) {
			if (at->list.at[k].state == WS_CANDIDATE_UNOPENED) {
				*ws_vec_push(&urls, t->a) = at->list.at[k].url;
			}
		}
	}
	return t->fetch.offline || ws_http_preconnect(t->fetch.http, urls.at, urls.len, err);
}

static bool
read_places(struct trying *t, struct ws_err *err)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct ws_recipe *recipe = t->attempts[i].product->recipe;
		struct ws_package_wheels *package = ws_package_wheels_of(t->memory, recipe);
		struct ws_index_wheels wheels;
		if (!wants_more(t, &t->attempts[i])) {
			continue;
		}
		if (!ws_index_wheels_read(&t->fetch, &package->places, &t->memory->pins->lock, recipe,
				&t->memory->warned, t->memory->a, &wheels, err)) {
			return false;
		}
		package->wheels = wheels;
		package->read = true;
	}
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		at->list = ws_candidate_list(t->memory, at->product);
	}
	return true;
}

static struct ws_http *
open_impatient(const struct ws_fetch *fetch, struct ws_err *err)
{
	struct ws_http_config config = {
		.ca_path = fetch->indexes->ca_path,
		.netrc_path = fetch->indexes->netrc_path,
		.offline = fetch->offline,
		.first_byte_ms = PATIENCE_MS,
		.retries = 2,
		.impatient = true,
		.stop = fetch->stop,
		.events = fetch->events,
	};
	return ws_http_open(&config, err);
}

static bool
try_all(struct trying *t, struct ws_err *err)
{
	bool done = preconnect(t, err) && read_places(t, err);
	while (done && is_open(t)) {
		done = run_round(t, err);
	}
	return done;
}

bool
ws_candidates_try(struct ws_candidate_memory *memory, struct ws_resolver *resolver,
	const struct ws_product *const *products, size_t count, struct ws_err *err)
{
	struct trying t = {
		.memory = memory,
		.resolver = resolver,
		.fetch = *memory->ctx->fetch,
		.attempts = WS_NEW_N(memory->a, struct attempt, count + 1),
		.a = memory->a,
	};
	for (size_t i = 0; i < count; i++) {
		const struct ws_package_wheels *package = ws_package_wheels_of(memory, products[i]->recipe);
		struct attempt at = {.product = products[i]};
		at.list = ws_candidate_list(memory, products[i]);
		if (at.list.count > 0 || package->places.count > 0) {
			t.attempts[t.count++] = at;
		}
	}
	if (t.count == 0) {
		return true;
	}
	if (!(t.fetch.http = open_impatient(&t.fetch, err))) {
		return false;
	}
	t.fetch.index = ws_index_open(t.fetch.http, memory->a);
	bool done = try_all(&t, err);
	ws_http_close(t.fetch.http);
	return done;
}
