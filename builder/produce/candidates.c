/* candidates.c - the book of what is known, and the rounds in which candidates are tried: each round takes one
 * of every product that still has none, and judges them together. The bytes are candidate_wheel.c's, names of
 * wheels that somebody has are offers.c's. */
#include "produce/candidates.h"

#include "base/fs.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/local.h"
#include "net/greet.h"
#include "net/index.h"
#include "net/index_config.h"
#include "net/url.h"
#include "produce/candidate_wheel.h"
#include "produce/host_libraries.h"
#include "produce/judge_wheel.h"
#include "produce/offers.h"
#include "produce/pins.h"
#include "store/cas.h"
#include "store/results.h"

#include <string.h>

#define SCHEMA "wheelsmith.candidate/1"
#define PATIENCE_MS 5000

/* What is known of a candidate for a product. */
struct note {
	enum ws_candidate_state state;
	const char *sha256; /* of the wheel; NULL: it was not fetched */
	const char *why;
};

/* A package and the wheels that places have of it. */
struct shelf {
	struct ws_offer_places places;
	struct ws_offered offered;
	struct ws_offers offers; /* the same, read */
	bool asked;              /* in this run */
};

struct ws_candidate_book {
	struct ws_context *ctx;
	struct ws_arena *a;
	const struct ws_matrix *matrix;
	struct ws_map shelves;  /* by name and version */
	struct ws_map notes;    /* of this run, by key */
	struct ws_map seen;     /* of this run, by key of a URL: sha256 */
	struct ws_map warned;   /* servers that were told to be silent */
	ws_name_list libraries; /* of this host */
};

struct ws_candidate_book *
ws_candidate_book_open(struct ws_context *ctx, const struct ws_matrix *matrix)
{
	struct ws_candidate_book *book = WS_NEW(ctx->a, struct ws_candidate_book);
	book->ctx = ctx;
	book->a = ctx->a;
	book->matrix = matrix;
	return book;
}

/* ---- what places have ---- */

/* A template of the recipe names it: it is a candidate by that. */
static bool
is_published(const struct ws_recipe *recipe, const struct ws_pin_prebuilt *pin)
{
	for (size_t i = 0; i < recipe->prebuilt_count; i++) {
		const char *url = recipe->prebuilt[i].url;
		if (strncmp(pin->from, url, strcspn(url, "{")) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_offered(const struct ws_offered *offered, const char *file)
{
	for (size_t i = 0; i < offered->count; i++) {
		if (ws_same(offered->at[i].file, file)) {
			return true;
		}
	}
	return false;
}

/* What the lock pins is known without asking the index that had it. */
static struct ws_offered
add_pinned(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered *offered)
{
	const struct ws_lock *lock = book->ctx->lock;
	WS_VEC(struct ws_offered_wheel) all = {0};
	for (size_t i = 0; i < offered->count; i++) {
		*ws_vec_push(&all, book->a) = offered->at[i];
	}
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		bool folder = ws_index_place_is_folder(pin->from);
		struct ws_url url;
		if (ws_same(pin->package, recipe->name) && ws_same(pin->version, recipe->version.text)
			&& !is_offered(offered, pin->wheel) && !is_published(recipe, pin)) {
			*ws_vec_push(&all, book->a) = (struct ws_offered_wheel){
				.file = pin->wheel,
				.from = !folder && ws_url_parse(pin->from, book->a, &url, NULL)
					? url.host
					: ws_path_dir(book->a, pin->from),
				.url = pin->from,
				.sha256 = pin->sha256,
				.place = folder ? WS_PLACE_FOLDER : WS_PLACE_INDEX,
			};
		}
	}
	return (struct ws_offered){all.at, all.len, offered->complete};
}

static void
fill_shelf(struct ws_candidate_book *book, struct shelf *shelf, const struct ws_recipe *recipe,
	const struct ws_offered *found)
{
	struct ws_offered with_pins = add_pinned(book, recipe, found);
	const struct ws_offered *offered = &with_pins;
	shelf->offered = *offered;
	shelf->offers = ws_offers_read(recipe, offered->at, offered->count, book->a);
}

static struct shelf *
shelf_of(struct ws_candidate_book *book, const struct ws_recipe *recipe)
{
	const char *key = ws_arena_printf(book->a, "%s %s", recipe->name, recipe->version.text);
	struct shelf *shelf = ws_map_get(&book->shelves, key);
	if (!shelf) {
		shelf = WS_NEW(book->a, struct shelf);
		shelf->places = ws_offer_places_of(book->ctx->indexes, recipe);
		struct ws_offered known =
			ws_offers_recall(book->ctx->store, &shelf->places, recipe, book->a);
		fill_shelf(book, shelf, recipe, &known);
		ws_map_put(&book->shelves, key, shelf, book->a);
	}
	return shelf;
}

size_t
ws_candidates_offered(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, bool *unasked)
{
	const struct shelf *shelf = shelf_of(book, recipe);
	*unasked = !shelf->offered.complete && !book->ctx->locked;
	*wheels = shelf->offered.at;
	return shelf->offered.count;
}

/* ---- what is remembered ---- */

/* Does @a point bring another place to load in than @a other? */
static bool
is_elsewhere(const struct ws_point *point, const struct ws_point *other)
{
	return point->torch != other->torch || point->python != other->python;
}

typedef WS_VEC(const struct ws_point *) point_list;

static point_list
points_of(const struct ws_product *product, struct ws_arena *a)
{
	point_list points = {0};
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		bool known = false;
		for (size_t j = 0; j < points.len && !known; j++) {
			known = !is_elsewhere(point, points.at[j]);
		}
		if (!known) {
			*ws_vec_push(&points, a) = point;
		}
	}
	return points;
}

/* Everything that a verdict depends on, but for this host's libraries: the action's own key has those. */
static const char *
key_of(struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	point_list points = points_of(product, book->a);
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " " WS_VERSION);
	ws_hasher_add_field(h, candidate->url);
	ws_hasher_add_field(h, candidate->sha256 ? candidate->sha256 : "");
	ws_hasher_add_field(h, ws_arch_set_text(&product->point.archs, book->a));
	ws_hasher_add_field(h, book->matrix->driver.text ? book->matrix->driver.text : "");
	for (size_t i = 0; i < product->recipe->check.import_count; i++) {
		ws_hasher_add_field(h, product->recipe->check.imports[i]);
	}
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_torch_choice *torch = points.at[i]->torch;
		ws_hasher_add_field(h, torch ? torch->version.text : "");
		ws_hasher_add_field(h, torch && torch->record ? torch->record : "");
		ws_hasher_add_field(h, points.at[i]->python->name);
	}
	return ws_arena_strdup(book->a, ws_hasher_finish(h).hex);
}

/* "loads <sha256 or -> <why>" */
static void
remember(struct ws_candidate_book *book, const char *key, const struct ws_candidate *candidate)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct note *note = WS_NEW(book->a, struct note);
	*note = (struct note){candidate->state, candidate->sha256, candidate->why};
	ws_map_put(&book->notes, key, note, book->a);
	bool lasts = note->state == WS_CANDIDATE_LOADS || note->state == WS_CANDIDATE_FAILS
		|| note->state == WS_CANDIDATE_UNKNOWN;
	ws_buf_printf(&text, "%s %s %s\n", ws_candidate_state_name(note->state),
		note->sha256 ? note->sha256 : "-", note->why ? note->why : "");
	if (lasts) {
		/* One that cannot be written costs judging again. */
		ws_results_put(book->ctx->store, key, &text, NULL);
	}
}

static bool
is_renewed(const struct ws_context *ctx, const struct ws_recipe *recipe)
{
	for (size_t i = 0; i < ctx->renewed_count; i++) {
		if (ws_same(ctx->renewed[i], "all") || ws_same(ctx->renewed[i], recipe->name)) {
			return true;
		}
	}
	return false;
}

static const struct note *
read_note(struct ws_candidate_book *book, const char *key)
{
	static const enum ws_candidate_state states[] = {
		WS_CANDIDATE_LOADS, WS_CANDIDATE_FAILS, WS_CANDIDATE_UNKNOWN};
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_results_get(book->ctx->store, key, &text)) {
		return NULL;
	}
	struct ws_str rest = ws_str_trim(ws_buf_str(&text));
	struct ws_str word = ws_str_cut(&rest, ' '), digest = ws_str_cut(&rest, ' ');
	struct note *note = WS_NEW(book->a, struct note);
	for (size_t i = 0; i < WS_LEN(states); i++) {
		if (ws_str_is(word, ws_candidate_state_name(states[i]))) {
			note->state = states[i];
		}
	}
	note->sha256 = ws_str_is(digest, "-") ? NULL : ws_str_copy(digest, book->a);
	note->why = rest.n ? ws_str_copy(rest, book->a) : NULL;
	return note->state == WS_CANDIDATE_UNOPENED ? NULL : note;
}

static const struct note *
recall(struct ws_candidate_book *book, const struct ws_product *product, const char *key)
{
	const struct note *note = ws_map_get(&book->notes, key);
	if (!note && !is_renewed(book->ctx, product->recipe) && (note = read_note(book, key))) {
		ws_map_put(&book->notes, key, note, book->a);
	}
	return note;
}

/* ---- what is known of one ---- */

static const struct ws_pin_prebuilt *
pin_of(const struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return ws_lock_prebuilt(book->ctx->lock, product->recipe->name, candidate->file);
}

static bool
can_be_built(const struct ws_candidate_book *book, const struct ws_product *product)
{
	return book->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& product->cells[0]->build_rule == WS_RULE_NONE;
}

/* A build must not stand in for it without a word. */
static bool
is_needed(const struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return !can_be_built(book, product) || pin_of(book, product, candidate);
}

/* As it was offered, with the digest that a folder's file has now: the key that its notes are kept by. */
static const char *
identify(struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidate *c)
{
	struct ws_digest digest;
	struct ws_ledger *ledger = book->ctx->ledger;
	if (c->place == WS_PLACE_FOLDER && ledger && ws_ledger_file_digest(ledger, c->url, &digest)) {
		c->sha256 = ws_arena_strdup(book->a, digest.hex);
	}
	return key_of(book, product, c);
}

/* Returns the key. */
static const char *
see(struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidate *c)
{
	const char *key = identify(book, product, c);
	const struct note *note = recall(book, product, key);
	if (note) {
		c->state = note->state;
		c->why = note->why;
		c->sha256 = note->sha256 ? note->sha256 : c->sha256;
	}
	if (c->state == WS_CANDIDATE_UNREACHABLE && is_needed(book, product, c)) {
		c->state = WS_CANDIDATE_UNOPENED;
	}
	if (book->ctx->locked && !pin_of(book, product, c) && c->state != WS_CANDIDATE_FAILS) {
		c->state = WS_CANDIDATE_REFUSED;
		c->why = "the lock does not pin it";
	}
	return key;
}

/* The wheel of the product that the lock pins and that is known to load; NULL: none. */
static const struct ws_candidate *
find_pinned(struct ws_candidate_book *book, const struct ws_product *product)
{
	const struct ws_candidates *list = &product->candidates;
	for (size_t i = 0; i < list->count; i++) {
		struct ws_candidate candidate = list->at[i];
		if (pin_of(book, product, &candidate)) {
			see(book, product, &candidate);
			if (candidate.state == WS_CANDIDATE_LOADS) {
				return &list->at[i];
			}
		}
	}
	return NULL;
}

void
ws_candidate_see(struct ws_candidate_book *book, const struct ws_product *product,
	struct ws_candidate *candidate)
{
	see(book, product, candidate);
	const struct ws_candidate *pinned =
		pin_of(book, product, candidate) ? NULL : find_pinned(book, product);
	if (pinned && candidate->state != WS_CANDIDATE_FAILS) {
		candidate->state = WS_CANDIDATE_REFUSED;
		candidate->why = "the lock pins another wheel";
	}
}

/* ---- the list ---- */

/* Those that the lock pins stand first, in their order. */
static void
put_pinned_first(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list)
{
	struct ws_candidate *sorted = WS_NEW_N(book->a, struct ws_candidate, list->count + 1);
	size_t count = 0;
	for (int pinned = 1; pinned >= 0; pinned--) {
		for (size_t i = 0; i < list->count; i++) {
			if ((pin_of(book, product, &list->at[i]) != NULL) == (pinned == 1)) {
				sorted[count++] = list->at[i];
			}
		}
	}
	list->at = sorted;
}

/* In the order in which they are tried; @a keys gets the key of each. */
static struct ws_candidates
list_of(struct ws_candidate_book *book, const struct ws_product *product, const char ***keys)
{
	const struct shelf *shelf = shelf_of(book, product->recipe);
	struct ws_candidates list =
		ws_candidates_of(product, book->matrix->torch_window, &shelf->offers, book->a);
	const char **all = *keys = WS_NEW_N(book->a, const char *, list.count + 1);
	put_pinned_first(book, product, &list);
	for (size_t i = 0; i < list.count; i++) {
		all[i] = see(book, product, &list.at[i]);
	}
	return list;
}

static bool
has_one_that_loads(const struct ws_candidates *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->at[i].state == WS_CANDIDATE_LOADS) {
			return true;
		}
	}
	return false;
}

const struct ws_candidate *
ws_candidate_chosen(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list)
{
	const char **keys;
	*list = list_of(book, product, &keys);
	for (size_t i = 0; i < list->count; i++) {
		if (list->at[i].state == WS_CANDIDATE_LOADS) {
			return &list->at[i];
		}
	}
	return NULL;
}

/* ---- which bytes a URL gave ---- */

/* Servers that publish no digests would have to be asked for the same wheel by every product. */
static const char *
key_of_url(struct ws_candidate_book *book, const char *url)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " seen");
	ws_hasher_add_field(h, url);
	return ws_arena_strdup(book->a, ws_hasher_finish(h).hex);
}

static const char *
seen_at(struct ws_candidate_book *book, const struct ws_recipe *recipe, const char *url)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *key = key_of_url(book, url);
	const char *seen = ws_map_get(&book->seen, key);
	struct ws_digest digest;
	if (seen || is_renewed(book->ctx, recipe) || !ws_results_get(book->ctx->store, key, &text)
		|| !ws_digest_parse(ws_str_copy(ws_str_trim(ws_buf_str(&text)), book->a), &digest)) {
		return seen;
	}
	return ws_arena_strdup(book->a, digest.hex);
}

static void
note_seen(struct ws_candidate_book *book, const char *url, const char *sha256)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *key = key_of_url(book, url);
	ws_map_put(&book->seen, key, sha256, book->a);
	ws_buf_printf(&text, "%s\n", sha256);
	ws_results_put(book->ctx->store, key, &text, NULL);
}

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

/* The server's silence is told once, however many candidates it has. */
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
add_places(struct trying *t, const struct ws_product *product, struct ws_judge_wheel_order *order,
	struct ws_err *err)
{
	point_list points = points_of(product, t->a);
	struct ws_wheel_place *places = WS_NEW_N(t->a, struct ws_wheel_place, points.len + 1);
	bool bound = product->binding < WS_BINDING_C_ABI;
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_torch_choice *torch = bound ? points.at[i]->torch : NULL;
		ws_list_paths lists = {0};
		if (!ws_resolve_lists(t->resolver, torch, points.at[i]->python, &lists, err)) {
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
	struct ws_judge_wheel_order order = {
		.name = candidate->file,
		.digest = candidate->sha256,
		.required = product->recipe->check.imports,
		.required_count = product->recipe->check.import_count,
		.subject = candidate->file,
		.unit = ws_arena_printf(t->a, "%s/verify", product->recipe->name),
		.group = product->cells[0]->name,
	};
	const struct ws_action *action = NULL;
	if (add_places(t, product, &order, err)) {
		action =
			ws_judge_wheel_action(&order, t->book->ctx->store, t->book->ctx->program, t->a, err);
	}
	at->node = action ? ws_graph_add(t->graph, action) : NULL;
	return action;
}

/* The candidate that is tried came to its end; the next one's turn. */
static void
settle(struct trying *t, struct attempt *at)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	remember(t->book, at->keys[at->next], candidate);
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
	const struct ws_pin_prebuilt *pin = pin_of(book, at->product, candidate);
	struct ws_candidate_wish wish = {
		.product = at->product,
		.sha256 = pin ? pin->sha256 : NULL,
		.likely = seen_at(book, recipe, candidate->url),
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
		note_seen(book, candidate->url, candidate->sha256);
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

/* What is known to be of no use is passed over; what is known to load is judged once more, which costs a look
 * into the store. */
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
	struct ws_context *ctx = t->book->ctx;
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
	return ws_pin_prebuilt_wheel(t->book->ctx, &pin, err);
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
		[WS_VERDICT_UNKNOWN] = WS_CANDIDATE_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_CANDIDATE_FAILS,
	};
	struct ws_candidate *candidate = &at->list.at[at->next];
	const struct ws_node *node = at->node;
	struct ws_wheel_verdict verdict = {.verdict = WS_VERDICT_UNKNOWN};
	if (node->state == WS_NODE_DONE) {
		if (!ws_judge_wheel_recall(
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

/* Nothing of what is known serves: then places are asked what they have now. Where a build serves as well, what
 * they had is enough. */
static bool
wants_more(struct trying *t, const struct attempt *at)
{
	const struct shelf *shelf = shelf_of(t->book, at->product->recipe);
	bool known = shelf->offered.complete && can_be_built(t->book, at->product)
		&& !is_renewed(t->book->ctx, at->product->recipe);
	return !shelf->asked && shelf->places.count > 0 && !t->fetch.offline && !t->book->ctx->locked
		&& !known && !has_one_that_loads(&at->list);
}

/* Servers that will be asked are greeted together. */
static bool
greet(struct trying *t, struct ws_err *err)
{
	ws_name_list urls = {0};
	for (size_t i = 0; i < t->count; i++) {
		const struct attempt *at = &t->attempts[i];
		const struct shelf *shelf = shelf_of(t->book, at->product->recipe);
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
		struct shelf *shelf = shelf_of(t->book, recipe);
		struct ws_offered offered;
		if (!wants_more(t, &t->attempts[i])) {
			continue;
		}
		if (!ws_offers_ask(
				&t->fetch, &shelf->places, recipe, &t->book->warned, t->book->a, &offered, err)) {
			return false;
		}
		fill_shelf(t->book, shelf, recipe, &offered);
		shelf->asked = true;
	}
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		at->list = list_of(t->book, at->product, &at->keys);
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
		const struct shelf *shelf = shelf_of(book, products[i]->recipe);
		struct attempt at = {.product = products[i]};
		at.list = list_of(book, products[i], &at.keys);
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
