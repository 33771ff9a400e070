/* candidates.c - the rounds in which candidates are tried: each round takes one of every product that
 * still has none, and judges them together. What is known is candidate_book.c's, the bytes are
 * candidate_wheel.c's, names of wheels that somebody has are offers.c's. */
#include "prebuilt/candidates.h"

#include "base/map.h"
#include "engine/engine.h"
#include "engine/local.h"
#include "judge/host_libraries.h"
#include "judge/order.h"
#include "net/greet.h"
#include "net/index.h"
#include "net/url.h"
#include "prebuilt/candidate_book.h"
#include "prebuilt/candidate_wheel.h"

#include <string.h>

#define PATIENCE_MS 5000

/* ---- trying ---- */

/* A product on its way through its candidates. */
struct attempt {
	const struct ws_product *product;
	struct ws_candidates list;
	const char **keys;    /* of the list */
	size_t next;          /* the candidate that is tried */
	struct ws_node *node; /* that judges it; NULL: nothing to judge in this round */
	bool done;            /* one loads, or all were tried */
};

struct trying {
	struct ws_candidate_book *book;
	struct ws_resolver *resolver;
	struct ws_fetch fetch; /* with an impatient session of its own */
	struct attempt *attempts;
	size_t count;
	struct ws_graph *graph;
	struct ws_arena *a;
};

/* The server's silence is reported once, however many candidates it has. */
static void
tell_unreachable(struct trying *t, const struct ws_candidate *candidate)
{
	struct ws_url url;
	bool known = ws_url_parse(candidate->url, t->a, &url, NULL);
	if (!t->fetch.offline
		&& ws_map_add(&t->book->warned, known ? url.origin : candidate->url, t->a)) {
		ws_events_warn(t->fetch.events, "prebuilt wheels: %s", candidate->why);
	}
}

/* One place for each torch and each Python that the cells have. */
static bool
add_places(struct trying *t, const struct ws_product *product, struct ws_judge_order *order,
	struct ws_err *err)
{
	ws_candidate_points_list points = ws_candidate_points(product, t->a);
	struct ws_wheel_place *places = WS_NEW_N(t->a, struct ws_wheel_place, points.len + 1);
	bool bound = product->binding < WS_BINDING_C_ABI;
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_torch_choice *torch = bound ? points.at[i]->torch : NULL;
		ws_list_paths lists = {0};
		struct ws_point point = *points.at[i];
		point.torch = torch;
		if (!ws_resolve_lists(t->resolver, &point, &lists, err)) {
			return false;
		}
		places[i] = (struct ws_wheel_place){
			.torch = torch ? torch->version.text : NULL,
			.place =
				{
					.lists = lists.at,
					.list_count = lists.len,
					.libraries = t->book->libraries.at,
					.library_count = t->book->libraries.len,
					.python_tag = ws_python_tag_text(&points.at[i]->python->tag, true, t->a),
					.archs = product->point.archs,
					.driver = t->book->matrix->driver.text,
				},
		};
	}
	order->places = places;
	order->place_count = points.len;
	return true;
}

static bool
add_judge(struct trying *t, struct attempt *at, struct ws_err *err)
{
	const struct ws_product *product = at->product;
	const struct ws_candidate *candidate = &at->list.at[at->next];
	struct ws_judge_order order = {
		.name = candidate->file,
		.digest = candidate->sha256,
		.subject = candidate->file,
		.unit = ws_arena_printf(t->a, "%s/verify", product->recipe->name),
		.group = product->cells[0]->name,
	};
	const struct ws_action *action = NULL;
	ws_judge_expect(&order, product->recipe, t->a);
	if (add_places(t, product, &order, err)) {
		action = ws_judge_action(&order, t->book->ctx->store, t->book->ctx->program, t->a, err);
	}
	at->node = action ? ws_graph_add(t->graph, action) : NULL;
	return action;
}

/* The candidate that is tried came to its end; the next one's turn. */
static void
settle(struct trying *t, struct attempt *at)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	ws_candidate_remember(t->book, at->keys[at->next], candidate);
	if (candidate->state == WS_CANDIDATE_UNREACHABLE) {
		tell_unreachable(t, candidate);
	}
	at->done = candidate->state == WS_CANDIDATE_LOADS;
	at->node = NULL;
	at->next++;
}

/* Brings the candidate and has it judged; one that needs no judging is settled. */
static bool
open_candidate(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_book *book = t->book;
	const struct ws_recipe *recipe = at->product->recipe;
	struct ws_candidate *candidate = &at->list.at[at->next];
	const struct ws_pin_prebuilt *pin = ws_candidate_pin(book, at->product, candidate);
	struct ws_candidate_wish wish = {
		.product = at->product,
		.sha256 = pin ? pin->sha256 : NULL,
		.likely = ws_candidate_seen_at(book, recipe, candidate->url),
	};
	struct ws_err why = {0};
	candidate->state = WS_CANDIDATE_UNOPENED;
	if (!ws_candidate_wheel_get(&t->fetch, &wish, book->a, candidate, err)) {
		return ws_err_wrap(err, "%s", at->product->cells[0]->name);
	}
	if (candidate->state != WS_CANDIDATE_UNOPENED) {
		settle(t, at);
		return true;
	}
	if (candidate->place != WS_PLACE_FOLDER) {
		ws_candidate_note_seen(book, candidate->url, candidate->sha256);
	}
	if (add_judge(t, at, &why)) {
		return true;
	}
	if (ws_err_is_stop(&why) || why.kind == WS_ERR_IO) {
		*err = why;
		return false;
	}
	/* What torch exports cannot be had now. */
	candidate->state = WS_CANDIDATE_UNREACHABLE;
	candidate->why = ws_arena_strdup(book->a, why.text);
	settle(t, at);
	return true;
}

/* Skips known failures; looks known successes up again. */
static bool
go_on(struct trying *t, struct attempt *at, struct ws_err *err)
{
	while (!at->done && !at->node) {
		if (at->next == at->list.count) {
			at->done = true;
			return true;
		}
		enum ws_candidate_state state = at->list.at[at->next].state;
		if (state != WS_CANDIDATE_UNOPENED && state != WS_CANDIDATE_LOADS) {
			at->next++;
		} else if (!open_candidate(t, at, err)) {
			return false;
		}
	}
	return true;
}

static bool
run_judges(struct trying *t, struct ws_err *err)
{
	const struct ws_context *ctx = t->book->ctx;
	struct ws_work work = {.lock_fd = -1, .sweep_fd = -1};
	struct ws_budget budget = ws_budget_make(ctx->host, ctx->jobs, ctx->memory_bytes);
	struct ws_run_summary summary;
	if (!ws_work_open(ctx->store, ctx->program, t->a, &work, err)) {
		return false;
	}
	struct ws_engine engine = {
		.store = ctx->store,
		.ledger = ctx->ledger,
		.runner = ws_local_runner(ctx->stop, t->a),
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
													: ws_url_bare(candidate->url, t->book->a),
		.sha256 = candidate->sha256,
	};
	return ws_pins_put(t->book->pins, WS_PIN_PREBUILT, &pin, err);
}

/* The first thing that the decisive finding is about: the symbol that is missing. */
static const char *
evidence_of(const struct ws_wheel_verdict *verdict)
{
	for (size_t i = 0; verdict->why && i < verdict->place_count; i++) {
		const struct ws_json *list = ws_json_find(verdict->places[i].json, "findings");
		for (const struct ws_json *f = list ? list->first : NULL; f; f = f->next) {
			const struct ws_json *evidence = ws_json_find(f, "evidence");
			if (ws_same(ws_json_text(f, "text"), verdict->why) && evidence && evidence->first) {
				return evidence->first->text;
			}
		}
	}
	return NULL;
}

static const char *
word_verdict(const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	const char *evidence = evidence_of(verdict);
	return evidence    ? ws_arena_printf(a, "%s: %s", verdict->why, evidence)
		: verdict->why ? ws_arena_strdup(a, verdict->why)
					   : NULL;
}

static bool
take_verdict(struct trying *t, struct attempt *at, struct ws_err *err)
{
	static const enum ws_candidate_state states[] = {
		[WS_VERDICT_OK] = WS_CANDIDATE_LOADS,
		[WS_VERDICT_EXCLUDED] = WS_CANDIDATE_FAILS,
		[WS_VERDICT_UNKNOWN] = WS_CANDIDATE_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_CANDIDATE_FAILS,
	};
	struct ws_candidate *candidate = &at->list.at[at->next];
	const struct ws_node *node = at->node;
	struct ws_wheel_verdict verdict = {.verdict = WS_VERDICT_UNKNOWN};
	if (node->state == WS_NODE_DONE) {
		if (!ws_verdict_recall(
				t->book->ctx->store, node->result.outputs[0].hex, t->book->a, &verdict, err)) {
			return false;
		}
	} else {
		verdict.why = node->failure ? node->failure->text : "it was not judged";
	}
	candidate->state = states[verdict.verdict];
	candidate->why = word_verdict(&verdict, t->book->a);
	if (candidate->state == WS_CANDIDATE_LOADS && !pin(t, at, candidate, err)) {
		return false;
	}
	settle(t, at);
	return true;
}

/* One candidate of each product that still has none. */
static bool
run_round(struct trying *t, struct ws_err *err)
{
	t->graph = ws_graph_make(t->a);
	for (size_t i = 0; i < t->count; i++) {
		if (!go_on(t, &t->attempts[i], err)) {
			return false;
		}
	}
	if (t->graph->nodes.len > 0 && !run_judges(t, err)) {
		return false;
	}
	for (size_t i = 0; i < t->count; i++) {
		if (t->attempts[i].node && !take_verdict(t, &t->attempts[i], err)) {
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
	const struct ws_candidate_shelf *shelf = ws_candidate_shelf_of(t->book, at->product->recipe);
	return !shelf->asked && shelf->places.count > 0 && !t->fetch.offline && !t->book->pins->locked
		&& !ws_candidate_shelf_is_enough(t->book, at->product)
		&& !ws_candidate_that_loads(&at->list);
}

/* Servers that will be asked are greeted together. */
static bool
greet(struct trying *t, struct ws_err *err)
{
	ws_name_list urls = {0};
	for (size_t i = 0; i < t->count; i++) {
		const struct attempt *at = &t->attempts[i];
		const struct ws_candidate_shelf *shelf =
			ws_candidate_shelf_of(t->book, at->product->recipe);
		for (size_t k = 0; wants_more(t, at) && k < shelf->places.count; k++) {
			*ws_vec_push(&urls, t->a) = shelf->places.at[k];
		}
		for (size_t k = 0; k < at->list.count; k++) {
			if (at->list.at[k].state == WS_CANDIDATE_UNOPENED) {
				*ws_vec_push(&urls, t->a) = at->list.at[k].url;
			}
		}
	}
	return t->fetch.offline || ws_http_greet(t->fetch.http, urls.at, urls.len, err);
}

static bool
ask_places(struct trying *t, struct ws_err *err)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct ws_recipe *recipe = t->attempts[i].product->recipe;
		struct ws_candidate_shelf *shelf = ws_candidate_shelf_of(t->book, recipe);
		struct ws_offered offered;
		if (!wants_more(t, &t->attempts[i])) {
			continue;
		}
		if (!ws_offers_ask(
				&t->fetch, &shelf->places, recipe, &t->book->warned, t->book->a, &offered, err)) {
			return false;
		}
		ws_candidate_shelf_fill(t->book, shelf, recipe, &offered);
		shelf->asked = true;
	}
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		at->list = ws_candidate_list(t->book, at->product, &at->keys);
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
	bool done = greet(t, err) && ask_places(t, err);
	while (done && is_open(t)) {
		done = run_round(t, err);
	}
	return done;
}

bool
ws_candidates_try(struct ws_candidate_book *book, struct ws_resolver *resolver,
	const struct ws_product *const *products, size_t count, struct ws_err *err)
{
	struct trying t = {
		.book = book,
		.resolver = resolver,
		.fetch = *book->ctx->fetch,
		.attempts = WS_NEW_N(book->a, struct attempt, count + 1),
		.a = book->a,
	};
	for (size_t i = 0; i < count; i++) {
		const struct ws_candidate_shelf *shelf = ws_candidate_shelf_of(book, products[i]->recipe);
		struct attempt at = {.product = products[i]};
		at.list = ws_candidate_list(book, products[i], &at.keys);
		if (at.list.count > 0 || shelf->places.count > 0) {
			t.attempts[t.count++] = at;
		}
	}
	if (t.count == 0) {
		return true;
	}
	if (!(t.fetch.http = open_impatient(&t.fetch, err))) {
		return false;
	}
	t.fetch.index = ws_index_open(t.fetch.http, book->a);
	if (book->libraries.len == 0) {
		ws_host_libraries_usual(NULL, book->a, &book->libraries);
	}
	bool done = try_all(&t, err);
	ws_http_close(t.fetch.http);
	return done;
}
