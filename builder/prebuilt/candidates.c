/* candidates.c - the rounds in which candidates are tried: each takes one of every product that
 * still has none, brings them together and judges them together. What is known is
 * candidate_memory.c's. */
#include "prebuilt/candidates.h"

#include "engine/engine.h"
#include "engine/local.h"
#include "judge/order.h"
#include "net/http.h"
#include "net/index.h"
#include "net/url.h"
#include "prebuilt/candidate_memory.h"
#include "prebuilt/candidate_wheel.h"

#define PATIENCE_MS 5000

/* A product on its way through its candidates. */
struct attempt {
	const struct ws_product *product;
	struct ws_candidates list;
	size_t next;          /* the candidate that is tried */
	bool open;            /* in this round */
	struct ws_node *node; /* that judges it; NULL: nothing to judge in this round */
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

/* The server's silence is reported once, however many candidates it has. */
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

/* The next candidate that may serve. One that is known to load is opened too: it may have to be
 * fetched and pinned, and its verdict costs a look into the store. */
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

/* The candidate that is tried came to its end. */
static void
end_candidate(struct trying *t, struct attempt *at, enum ws_candidate_state state, const char *why)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	ws_candidate_end(t->memory, at->product, candidate, state, why);
	if (candidate->state == WS_CANDIDATE_UNREACHABLE) {
		report_unreachable(t, candidate);
	}
	at->done = candidate->state == WS_CANDIDATE_LOADS;
	at->open = false;
	at->next++;
}

/* What torch exports may not be to be had now; then nothing can be said about the wheel. */
static bool
add_judge(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	const struct ws_candidate *candidate = &at->list.at[at->next];
	struct ws_judge_order order;
	struct ws_err why = {0};
	const struct ws_action *action = NULL;
	if (ws_candidate_order(m, t->resolver, at->product, candidate, &order, &why)) {
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

/* One that was brought is to be judged; the others are at their end. */
static bool
accept(
	struct trying *t, const struct ws_candidate_wish *wish, struct attempt *at, struct ws_err *err)
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
		ws_offers_learn(t->memory->ctx->store, candidate->url, candidate->sha256);
	}
	return add_judge(t, at, err);
}

static bool
open_candidates(struct trying *t, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	struct ws_candidate_wish *wishes = WS_NEW_N(t->a, struct ws_candidate_wish, t->count + 1);
	struct attempt **wanting = WS_NEW_N(t->a, struct attempt *, t->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		choose_next(at);
		if (!at->open) {
			continue;
		}
		const struct ws_candidate *candidate = &at->list.at[at->next];
		bool renewed = ws_pins_are_renewed(m->pins, at->product->recipe->name);
		wanting[count] = at;
		wishes[count++] = (struct ws_candidate_wish){
			.product = at->product,
			.pin = ws_candidate_pin(m, at->product, candidate),
			.likely = renewed ? NULL : ws_offers_digest(m->ctx->store, candidate->url, m->a),
			.candidate = candidate,
		};
	}
	bool done = ws_candidate_wheels_get(&t->fetch, wishes, count, m->a, err);
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
	return ran
		|| err->kind == WS_ERR_BUILD; /* a judge that failed is what its candidate ends with */
}

static bool
pin(struct trying *t, const struct attempt *at, const struct ws_candidate *candidate,
	struct ws_err *err)
{
	struct ws_pin_prebuilt pin = {
		.package = at->product->recipe->name,
		.version = at->product->recipe->version.text,
		.wheel = candidate->file,
		.from = candidate->place == WS_PLACE_FOLDER ? candidate->url
													: ws_url_bare(candidate->url, t->memory->a),
		.sha256 = candidate->sha256,
	};
	return ws_pins_put(t->memory->pins, WS_PIN_PREBUILT, &pin, err);
}

/* A judge that was killed, or ran out of time, has said nothing: the next run asks again. */
static bool
read_verdict(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	const struct ws_candidate *candidate = &at->list.at[at->next];
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
	end_candidate(t, at, ws_candidate_state_of(&verdict), ws_candidate_reason_of(&verdict, m->a));
	return true;
}

/* One candidate of each product that still has none. */
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

/* Nothing of what is known serves: then places are asked what they have now. */
static bool
wants_more(struct trying *t, const struct attempt *at)
{
	const struct ws_package_offers *package = ws_package_offers_of(t->memory, at->product->recipe);
	return !package->asked && package->places.count > 0 && !t->fetch.offline
		&& !t->memory->pins->locked && !ws_package_offers_are_enough(t->memory, at->product)
		&& (!ws_candidate_that_loads(&at->list)
			|| ws_pins_are_renewed(t->memory->pins, at->product->recipe->name));
}

/* Servers that will be asked are connected to together. */
static bool
preconnect(struct trying *t, struct ws_err *err)
{
	ws_name_list urls = {0};
	for (size_t i = 0; i < t->count; i++) {
		const struct attempt *at = &t->attempts[i];
		const struct ws_package_offers *package =
			ws_package_offers_of(t->memory, at->product->recipe);
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
ask_places(struct trying *t, struct ws_err *err)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct ws_recipe *recipe = t->attempts[i].product->recipe;
		struct ws_package_offers *package = ws_package_offers_of(t->memory, recipe);
		struct ws_offered offered;
		if (!wants_more(t, &t->attempts[i])) {
			continue;
		}
		if (!ws_offers_ask(&t->fetch, &package->places, recipe, &t->memory->warned, t->memory->a,
				&offered, err)) {
			return false;
		}
		ws_package_offers_fill(t->memory, package, recipe, &offered);
		package->asked = true;
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
	bool done = preconnect(t, err) && ask_places(t, err);
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
		const struct ws_package_offers *package = ws_package_offers_of(memory, products[i]->recipe);
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
