/* candidate_memory.c - what places have, the order of trying, and states. Verdicts are the judge's
 * (judge/order.c). */
#include "prebuilt/candidate_memory.h"

#include "base/fs.h"
#include "judge/host_libraries.h"
#include "judge/torch_place.h"
#include "model/machine.h"
#include "net/index_config.h"
#include "net/url.h"
#include "store/results.h"

#include <string.h>

#define SCHEMA "wheelsmith.candidate/3"

struct ws_candidate_memory *
ws_candidate_memory_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix)
{
	struct ws_candidate_memory *m = WS_NEW(ctx->a, struct ws_candidate_memory);
	m->ctx = ctx;
	m->pins = pins;
	m->a = ctx->a;
	m->matrix = matrix;
	m->resolver = ws_resolver_open_known(ctx, pins);
	m->verdicts =
		(struct ws_cache){.store = ctx->store, .names = {.ledger = ctx->ledger, .a = ctx->a}};
	return m;
}

/* ---- what places have ---- */

typedef WS_VEC(struct ws_offered_wheel) wheel_list;

/* As a pin says where it came from. */
static const char *
origin_of(enum ws_candidate_place place, const char *url, struct ws_arena *a)
{
	return place == WS_PLACE_FOLDER ? url : ws_url_bare(url, a);
}

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

/* By its bytes, or where it came from: then it is what is pinned, or nothing else may be taken for
 * it. */
static bool
is_offered(const wheel_list *offered, const struct ws_pin_prebuilt *pin, struct ws_arena *a)
{
	for (size_t i = 0; i < offered->len; i++) {
		const struct ws_offered_wheel *wheel = &offered->at[i];
		if (ws_same(wheel->file, pin->wheel)
			&& (ws_same(wheel->sha256, pin->sha256)
				|| ws_same(origin_of(wheel->place, wheel->url, a), pin->from))) {
			return true;
		}
	}
	return false;
}

/* What the lock pins is known without asking the index that had it. */
static struct ws_offered
add_pinned(
	struct ws_candidate_memory *m, const struct ws_recipe *recipe, const struct ws_offered *offered)
{
	const struct ws_lock *lock = &m->pins->lock;
	wheel_list all = {0};
	for (size_t i = 0; i < offered->count; i++) {
		*ws_vec_push(&all, m->a) = offered->at[i];
	}
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		bool folder = ws_index_place_is_folder(pin->from);
		struct ws_url url;
		if (ws_same(pin->package, recipe->name) && ws_same(pin->version, recipe->version.text)
			&& !is_offered(&all, pin, m->a) && !is_published(recipe, pin)) {
			*ws_vec_push(&all, m->a) = (struct ws_offered_wheel){
				.file = pin->wheel,
				.from = !folder && ws_url_parse(pin->from, m->a, &url, NULL)
					? url.host
					: ws_path_dir(m->a, pin->from),
				.url = pin->from,
				.sha256 = pin->sha256,
				.place = folder ? WS_PLACE_FOLDER : WS_PLACE_INDEX,
			};
		}
	}
	return (struct ws_offered){all.at, all.len, offered->complete};
}

void
ws_package_offers_fill(struct ws_candidate_memory *m, struct ws_package_offers *package,
	const struct ws_recipe *recipe, const struct ws_offered *found)
{
	struct ws_offered with_pins = add_pinned(m, recipe, found);
	const struct ws_offered *offered = &with_pins;
	package->offered = *offered;
	package->offers = ws_offers_read(recipe, offered->at, offered->count, m->a);
}

struct ws_package_offers *
ws_package_offers_of(struct ws_candidate_memory *m, const struct ws_recipe *recipe)
{
	const char *key = ws_arena_printf(m->a, "%s %s", recipe->name, recipe->version.text);
	struct ws_package_offers *package = ws_map_get(&m->packages, key);
	if (!package) {
		package = WS_NEW(m->a, struct ws_package_offers);
		package->places = ws_offer_places_of(m->ctx->indexes, recipe);
		struct ws_offered known = ws_offers_recall(m->ctx->store, &package->places, recipe, m->a);
		ws_package_offers_fill(m, package, recipe, &known);
		ws_map_put(&m->packages, key, package, m->a);
	}
	return package;
}

size_t
ws_candidates_offered(struct ws_candidate_memory *m, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, enum ws_indexes_asked *asked)
{
	const struct ws_package_offers *package = ws_package_offers_of(m, recipe);
	bool any = false;
	for (size_t i = 0; i < package->places.count; i++) {
		any = any || !ws_index_place_is_folder(package->places.at[i]);
	}
	*asked = m->pins->locked || !any ? WS_INDEXES_NOW
		: !package->offered.complete ? WS_INDEXES_NEVER
		: package->asked             ? WS_INDEXES_NOW
									 : WS_INDEXES_BEFORE;
	*wheels = package->offered.at;
	return package->offered.count;
}

/* ---- how one is judged ---- */

/* Does @a point bring another place to load in than @a other? */
static bool
is_elsewhere(const struct ws_point *point, const struct ws_point *other)
{
	return point->torch != other->torch || point->python != other->python;
}

/** Each torch and each Python that a product's cells have, once. */
typedef WS_VEC(const struct ws_point *) point_list;

static point_list
list_points(const struct ws_product *product, struct ws_arena *a)
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

static bool
fill_place(struct ws_candidate_memory *m, struct ws_resolver *r, const struct ws_product *product,
	const struct ws_point *point, struct ws_wheel_place *place, struct ws_err *err)
{
	const struct ws_torch_choice *torch = product->binding < WS_BINDING_C_ABI ? point->torch : NULL;
	struct ws_point at = *point;
	ws_list_paths lists = {0};
	at.torch = torch;
	if (!ws_resolve_lists(r, &at, &lists, err)) {
		return false;
	}
	struct ws_judge_place *where = &place->place;
	place->torch = torch ? torch->version.text : NULL;
	where->lists = lists.at;
	where->list_count = lists.len;
	where->libraries = m->libraries.at;
	where->library_count = m->libraries.len;
	where->python_tag = ws_python_tag_text(&point->python->tag, true, m->a);
	where->archs = product->point.archs;
	where->driver = m->matrix->driver.text;
	/* Without one, wherever it will be used: what a torch runs on is asked of our own wheels. */
	where->glibc = ws_same(m->matrix->glibc, WS_GLIBC_HOST) ? NULL : m->matrix->glibc;
	if (point->machine != ws_machine_host()) {
		ws_judge_place_move(where, &lists, m->ctx->data->facts, point->machine, m->a);
	}
	return true;
}

bool
ws_candidate_order(struct ws_candidate_memory *m, struct ws_resolver *r,
	const struct ws_product *product, const struct ws_candidate *candidate,
	struct ws_judge_order *order, struct ws_err *err)
{
	const struct ws_recipe *recipe = product->recipe;
	point_list points = list_points(product, m->a);
	struct ws_wheel_place *places = WS_NEW_N(m->a, struct ws_wheel_place, points.len + 1);
	if (m->libraries.len == 0) {
		ws_host_libraries_usual(NULL, m->a, &m->libraries);
	}
	for (size_t i = 0; i < points.len; i++) {
		if (!fill_place(m, r, product, points.at[i], &places[i], err)) {
			return false;
		}
	}
	*order = (struct ws_judge_order){
		.name = candidate->file,
		.digest = candidate->sha256,
		.places = places,
		.place_count = points.len,
		.subject = candidate->file,
		.unit = ws_arena_printf(m->a, "%s/verify", recipe->name),
		.group = product->cells[0]->name,
	};
	ws_judge_expect(order, recipe, m->a);
	return true;
}

/* The first thing that the decisive finding is about: the symbol that is missing. */
static const char *
find_evidence(const struct ws_wheel_verdict *verdict)
{
	for (size_t i = 0; verdict->why && i < verdict->place_count; i++) {
		const struct ws_finding *f = ws_place_decisive(&verdict->places[i]);
		if (f && f->evidence_count > 0 && ws_same(f->text, verdict->why)) {
			return f->evidence[0];
		}
	}
	return NULL;
}

enum ws_candidate_state
ws_candidate_state_of(const struct ws_wheel_verdict *verdict)
{
	static const enum ws_candidate_state states[] = {
		[WS_VERDICT_OK] = WS_CANDIDATE_LOADS,
		[WS_VERDICT_EXCLUDED] = WS_CANDIDATE_FAILS,
		[WS_VERDICT_UNKNOWN] = WS_CANDIDATE_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_CANDIDATE_FAILS,
	};
	return states[verdict->verdict];
}

const char *
ws_candidate_reason_of(const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	const char *evidence = find_evidence(verdict);
	return evidence    ? ws_arena_printf(a, "%s: %s", verdict->why, evidence)
		: verdict->why ? ws_arena_strdup(a, verdict->why)
					   : NULL;
}

/* ---- what came of one ---- */

/* Between two plans of a run products are others, their cells have the same names. */
static const char *
end_key(const struct ws_product *product, const char *url, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s\n%s", product->cells[0]->name, url);
}

void
ws_candidate_end(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, enum ws_candidate_state state, const char *why)
{
	struct ws_candidate *end = WS_NEW(m->a, struct ws_candidate);
	ws_candidate_set(candidate, state, why);
	*end = *candidate;
	ws_map_put(&m->ends, end_key(product, candidate->url, m->a), end, m->a);
}

/* What it says of itself depends on no host. */
static struct ws_digest
ruling_key(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	point_list points = list_points(product, m->a);
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " " WS_VERSION);
	ws_hasher_add_field(h, candidate->url);
	ws_hasher_add_field(h, candidate->sha256 ? candidate->sha256 : "");
	for (size_t i = 0; i < points.len; i++) {
		ws_hasher_add_field(h, points.at[i]->python->name);
	}
	return ws_hasher_finish(h);
}

void
ws_candidate_rule_out(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate, const char *why)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!m->pins->bundled) {
		ws_buf_puts(&text, why);
		ws_results_put(m->ctx->store, ruling_key(m, product, candidate).hex, &text, NULL);
	}
}

static void
recall_ruling(
	struct ws_candidate_memory *m, const struct ws_product *product, struct ws_candidate *candidate)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_pins_are_renewed(m->pins, product->recipe->name)
		&& ws_results_get(m->ctx->store, ruling_key(m, product, candidate).hex, &text)) {
		const char *why = ws_buf_copy(&text, m->a);
		ws_candidate_end(m, product, candidate, WS_CANDIDATE_FAILS, why);
	}
}

/* The verdict of the action that would judge the bytes @a sha256. */
static bool
recall_verdict(struct ws_candidate_memory *m, const struct ws_product *product, const char *sha256,
	struct ws_candidate *candidate)
{
	struct ws_candidate opened = *candidate;
	struct ws_judge_order order;
	struct ws_wheel_verdict verdict;
	opened.sha256 = sha256;
	if (!ws_candidate_order(m, m->resolver, product, &opened, &order, NULL)
		|| !ws_judge_recall(&order, &m->verdicts, m->ctx->program, m->a, &verdict)) {
		return false;
	}
	candidate->sha256 = sha256;
	ws_candidate_end(m, product, candidate, ws_candidate_state_of(&verdict),
		ws_candidate_reason_of(&verdict, m->a));
	return true;
}

/* The digest that it has, as far as that is known without opening it; NULL: it is not. */
static const char *
find_digest(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_pin_prebuilt *pin, const struct ws_candidate *candidate)
{
	return candidate->sha256 ? candidate->sha256
		: pin                ? pin->sha256
		: ws_pins_are_renewed(m->pins, product->recipe->name)
		? NULL
		: ws_offers_digest(m->ctx->store, candidate->url, m->a);
}

/* Fills what is known of it. What lies where the pinned one lay, and is another, has to be opened,
 * which fails. */
static void
recall(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_pin_prebuilt *pin, struct ws_candidate *candidate)
{
	const struct ws_candidate *end = ws_map_get(&m->ends, end_key(product, candidate->url, m->a));
	if (end) {
		ws_candidate_set(candidate, end->state, end->why);
		candidate->sha256 = end->sha256;
		return;
	}
	const char *digest = find_digest(m, product, pin, candidate);
	bool other = pin && digest && !ws_same(pin->sha256, digest);
	if (!other && !(digest && recall_verdict(m, product, digest, candidate))) {
		recall_ruling(m, product, candidate);
	}
}

/* ---- what is known of one ---- */

const struct ws_pin_prebuilt *
ws_candidate_pin(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	const struct ws_lock *lock = &m->pins->lock;
	return lock->prebuilt.len == 0
		? NULL
		: ws_lock_prebuilt(lock, product->recipe->name, candidate->file, candidate->sha256,
			origin_of(candidate->place, candidate->url, m->a));
}

static bool
can_be_built(const struct ws_candidate_memory *m, const struct ws_product *product)
{
	return m->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& product->cells[0]->build_rule == WS_RULE_NONE;
}

bool
ws_package_offers_are_enough(struct ws_candidate_memory *m, const struct ws_product *product)
{
	return ws_package_offers_of(m, product->recipe)->offered.complete && can_be_built(m, product)
		&& !ws_pins_are_renewed(m->pins, product->recipe->name);
}

/* A file of a folder is what it is now. */
static void
identify(struct ws_candidate_memory *m, struct ws_candidate *candidate)
{
	struct ws_digest digest;
	struct ws_ledger *ledger = m->ctx->ledger;
	if (candidate->place == WS_PLACE_FOLDER && ledger
		&& ws_ledger_file_digest(ledger, candidate->url, &digest)) {
		candidate->sha256 = ws_arena_strdup(m->a, digest.hex);
	}
}

/* By the lock; that it does not load says more. */
static void
refuse(struct ws_candidate *candidate, const char *why)
{
	if (candidate->state != WS_CANDIDATE_FAILS) {
		ws_candidate_set(candidate, WS_CANDIDATE_REFUSED, why);
	}
}

static void
see(struct ws_candidate_memory *m, const struct ws_product *product, struct ws_candidate *candidate)
{
	identify(m, candidate);
	const struct ws_pin_prebuilt *pin = ws_candidate_pin(m, product, candidate);
	recall(m, product, pin, candidate);
	if (candidate->state == WS_CANDIDATE_UNREACHABLE && (pin || !can_be_built(m, product))) {
		/* a build must not stand in without a word; why it did not come is still told */
		ws_candidate_set(candidate, WS_CANDIDATE_UNOPENED, candidate->why);
	}
	if (m->pins->locked && !pin) {
		refuse(candidate, "the lock does not pin it");
	}
}

/* The wheel of the product that the lock pins and that is known to load; NULL: none. */
static const struct ws_candidate *
find_pinned(struct ws_candidate_memory *m, const struct ws_product *product)
{
	const struct ws_candidates *list = &product->candidates;
	for (size_t i = 0; i < list->count; i++) {
		struct ws_candidate candidate = list->at[i];
		if (ws_candidate_pin(m, product, &candidate)) {
			see(m, product, &candidate);
			if (candidate.state == WS_CANDIDATE_LOADS) {
				return &list->at[i];
			}
		}
	}
	return NULL;
}

void
ws_candidate_see(
	struct ws_candidate_memory *m, const struct ws_product *product, struct ws_candidate *candidate)
{
	see(m, product, candidate);
	const struct ws_candidate *pinned =
		ws_candidate_pin(m, product, candidate) ? NULL : find_pinned(m, product);
	if (pinned) {
		refuse(candidate, "the lock pins another wheel");
	}
}

/* ---- the list ---- */

/* Those that the lock pins stand first, in their order. */
static void
put_pinned_first(
	struct ws_candidate_memory *m, const struct ws_product *product, struct ws_candidates *list)
{
	struct ws_candidate *sorted = WS_NEW_N(m->a, struct ws_candidate, list->count + 1);
	size_t count = 0;
	for (int pinned = 1; pinned >= 0; pinned--) {
		for (size_t i = 0; i < list->count; i++) {
			if ((ws_candidate_pin(m, product, &list->at[i]) != NULL) == (pinned == 1)) {
				sorted[count++] = list->at[i];
			}
		}
	}
	list->at = sorted;
}

struct ws_candidates
ws_candidate_list(struct ws_candidate_memory *m, const struct ws_product *product)
{
	const struct ws_package_offers *package = ws_package_offers_of(m, product->recipe);
	struct ws_candidates list =
		ws_candidates_of(product, m->matrix->torch_window, &package->offers, m->a);
	put_pinned_first(m, product, &list);
	for (size_t i = 0; i < list.count; i++) {
		see(m, product, &list.at[i]);
	}
	return list;
}

const struct ws_candidate *
ws_candidate_that_loads(const struct ws_candidates *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->at[i].state == WS_CANDIDATE_LOADS) {
			return &list->at[i];
		}
	}
	return NULL;
}
