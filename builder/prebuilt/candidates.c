#include "prebuilt/candidates.h"

#include "base/fs.h"
#include "judge/torch_place.h"
#include "net/url.h"
#include "store/results.h"

struct ws_candidate_memory *
ws_candidate_memory_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix)
{
	struct ws_candidate_memory *m = WS_NEW(ctx->a, struct ws_candidate_memory);
	m->ctx = ctx;
	m->pins = pins;
	m->a = ctx->a;
	m->matrix = matrix;
	m->verdicts =
		(struct ws_cache){.store = ctx->store, .names = {.ledger = ctx->ledger, .a = ctx->a}};
	return m;
}

/* ---- the wheels of a package ---- */

struct ws_package_wheels *
ws_package_wheels_of(struct ws_candidate_memory *m, const struct ws_recipe *recipe)
{
	const char *key = ws_arena_printf(m->a, "%s %s", recipe->name, recipe->version.text);
	struct ws_package_wheels *package = ws_map_get(&m->packages, key);
	if (!package) {
		package = WS_NEW(m->a, struct ws_package_wheels);
		package->places = ws_wheel_places_of(m->ctx->indexes, recipe);
		package->wheels =
			ws_index_wheels_recall(m->ctx->store, &package->places, &m->pins->lock, recipe, m->a);
		package->renewed = ws_pins_are_renewed(m->pins, recipe->name);
		ws_map_put(&m->packages, key, package, m->a);
	}
	return package;
}

static enum ws_indexes_asked
when_asked(const struct ws_candidate_memory *m, const struct ws_package_wheels *package)
{
	bool any = false;
	for (size_t i = 0; i < package->places.count; i++) {
		any = any || !ws_index_place_is_folder(package->places.at[i]);
	}
	return m->pins->locked || !any  ? WS_INDEXES_NOW
		: !package->wheels.complete ? WS_INDEXES_NEVER
		: package->read             ? WS_INDEXES_NOW
									: WS_INDEXES_BEFORE;
}

/* ---- the places in which a candidate is judged ---- */

ws_point_list
ws_candidate_points(const struct ws_product *product, struct ws_arena *a)
{
	ws_point_list points = {0};
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		bool known = false;
		for (size_t j = 0; j < points.len && !known; j++) {
			known = point->torch == points.at[j]->torch && point->python == points.at[j]->python;
		}
		if (!known) {
			*ws_vec_push(&points, a) = point;
		}
	}
	return points;
}

/* The release whose dependencies have the CUDA runtime of a wheel that does not use torch: the
 * cell's own, else the newest of that CUDA major. A build links such a wheel with the same library
 * of its toolkit. */
static const struct ws_version *
find_cuda_release(const struct ws_facts *facts, const struct ws_point *point)
{
	const struct ws_torch_release *found = NULL;
	for (size_t i = 0; point->cuda && i < facts->torch_count; i++) {
		const struct ws_torch_release *release = &facts->torch[i];
		unsigned major = (unsigned)strtoul(release->standard.cuda, NULL, 10);
		bool own = point->torch && point->torch->release == release;
		if (major == point->cuda->version.major && (!found || !point->torch || own)) {
			found = release;
		}
	}
	return found ? &found->version : NULL;
}

/* The wheel of a package that does not use torch may still need the CUDA runtime. */
static bool
find_own_lists(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_point *point, ws_list_paths *lists)
{
	if (product->binding >= WS_BINDING_C_ABI || !point->torch) {
		const struct ws_version *release =
			product->binding == WS_BINDING_C_ABI ? find_cuda_release(m->ctx->facts, point) : NULL;
		return ws_torch_dependencies(m->ctx->data->facts, release, m->a, lists, NULL);
	}
	for (size_t i = 0; point->lists && point->lists[i]; i++) {
		*ws_vec_push(lists, m->a) = point->lists[i];
	}
	return point->lists;
}

static void
fill_place(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_point *point, ws_list_paths *lists, struct ws_wheel_place *place)
{
	const struct ws_torch_choice *torch = product->binding < WS_BINDING_C_ABI ? point->torch : NULL;
	place->torch = torch ? torch->version.text : NULL;
	place->place = (struct ws_judge_place){
		.lists = lists->at,
		.list_count = lists->len,
		.libraries = m->libraries.at,
		.library_count = m->libraries.len,
		.python_tag = point->python->name,
		.archs = product->point.archs,
		.driver = m->matrix->driver.text,
		/* NULL: for any system. Only our own wheels must run on the systems of a torch release. */
		.glibc = ws_same(m->matrix->glibc, WS_GLIBC_HOST) ? NULL : m->matrix->glibc,
	};
	if (point->machine != ws_machine_host()) {
		ws_judge_place_move(&place->place, lists, m->ctx->data->facts, point->machine, m->a);
	}
}

bool
ws_candidate_order(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate, ws_list_paths *lists, struct ws_judge_order *order)
{
	ws_point_list points = ws_candidate_points(product, m->a);
	struct ws_wheel_place *places = WS_NEW_N(m->a, struct ws_wheel_place, points.len + 1);
	if (m->libraries.len == 0) {
		ws_host_libraries_usual(NULL, m->a, &m->libraries);
	}
	for (size_t i = 0; i < points.len; i++) {
		ws_list_paths own = {0};
		if (!lists && !find_own_lists(m, product, points.at[i], &own)) {
			return false;
		}
		fill_place(m, product, points.at[i], lists ? &lists[i] : &own, &places[i]);
	}
	*order = (struct ws_judge_order){
		.name = candidate->file,
		.digest = candidate->sha256,
		.places = places,
		.place_count = points.len,
		.subject = candidate->file,
		.unit = ws_arena_printf(m->a, "%s/verify", product->recipe->name),
		.group = product->cells[0]->name,
	};
	ws_judge_expect(order, product->recipe, m->a);
	return true;
}

bool
ws_candidate_lists(struct ws_candidate_memory *m, struct ws_resolver *r,
	const struct ws_product *product, ws_list_paths **lists, struct ws_err *err)
{
	ws_point_list points = ws_candidate_points(product, m->a);
	*lists = WS_NEW_N(m->a, ws_list_paths, points.len + 1);
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_point *point = points.at[i];
		bool needs_torch = product->binding < WS_BINDING_C_ABI && point->torch;
		if (!(needs_torch ? ws_resolve_lists(r, point, &(*lists)[i], err)
						  : find_own_lists(m, product, point, &(*lists)[i]))) {
			return false;
		}
	}
	return true;
}

/* ---- states ---- */

/* The state that @url got for the product in this run; new ones are unopened. Products of two plans
 * of a run are different objects; their cells have the same names. */
static struct ws_candidate *
find_end(struct ws_candidate_memory *m, const struct ws_product *product, const char *url)
{
	const char *key = ws_arena_printf(m->a, "%s\n%s", product->cells[0]->name, url);
	struct ws_candidate *end = ws_map_get(&m->ends, key);
	if (!end) {
		end = WS_NEW(m->a, struct ws_candidate);
		ws_map_put(&m->ends, key, end, m->a);
	}
	return end;
}

static void
set_end(struct ws_candidate *end, struct ws_candidate *candidate, enum ws_candidate_state state,
	const char *why)
{
	candidate->state = state;
	candidate->why = why;
	*end = *candidate;
}

void
ws_candidate_end(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, enum ws_candidate_state state, const char *why)
{
	set_end(find_end(m, product, candidate->url), candidate, state, why);
}

/* The first evidence of the decisive finding: the symbol that is missing. */
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

static void
set_end_judged(struct ws_candidate *end, struct ws_candidate *candidate,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	static const enum ws_candidate_state states[] = {
		[WS_VERDICT_OK] = WS_CANDIDATE_LOADS,
		[WS_VERDICT_EXCLUDED] = WS_CANDIDATE_FAILS,
		[WS_VERDICT_UNKNOWN] = WS_CANDIDATE_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_CANDIDATE_FAILS,
	};
	const char *evidence = find_evidence(verdict);
	set_end(end, candidate, states[verdict->verdict],
		evidence           ? ws_arena_printf(a, "%s: %s", verdict->why, evidence)
			: verdict->why ? ws_arena_strdup(a, verdict->why)
						   : NULL);
}

void
ws_candidate_end_judged(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, const struct ws_wheel_verdict *verdict)
{
	set_end_judged(find_end(m, product, candidate->url), candidate, verdict, m->a);
}

/* A wheel's own metadata does not depend on the host. */
static struct ws_digest
ruling_key(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	ws_point_list points = ws_candidate_points(product, m->a);
	const char *key = ws_arena_printf(m->a, "wheelsmith.candidate/4 " WS_VERSION "\n%s\n%s",
		candidate->url, candidate->sha256 ? candidate->sha256 : "");
	for (size_t i = 0; i < points.len; i++) {
		key = ws_arena_printf(m->a, "%s\n%s", key, points.at[i]->python->name);
	}
	return ws_digest_bytes(key, strlen(key));
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

/* The verdict of the action that would judge the bytes @sha256 now. */
static bool
recall_verdict(struct ws_candidate_memory *m, const struct ws_product *product, const char *sha256,
	struct ws_candidate *candidate, struct ws_candidate *end)
{
	struct ws_candidate opened = *candidate;
	struct ws_judge_order order;
	struct ws_wheel_verdict verdict;
	opened.sha256 = sha256;
	if (!ws_candidate_order(m, product, &opened, NULL, &order)
		|| !ws_judge_recall(&order, &m->verdicts, m->ctx->program, m->a, &verdict)) {
		return false;
	}
	candidate->sha256 = sha256;
	set_end_judged(end, candidate, &verdict, m->a);
	return true;
}

const struct ws_pin_prebuilt *
ws_candidate_pin(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return ws_lock_prebuilt(&m->pins->lock, product->recipe->name, candidate->file,
		candidate->sha256, candidate->origin);
}

/* A state from this run, from the store's verdict, or from the wheel's metadata. A file that
 * replaced the pinned one stays unopened: opening it is an error. */
static void
recall_state(struct ws_candidate_memory *m, const struct ws_product *product, bool renewed,
	const struct ws_pin_prebuilt *pin, struct ws_candidate *candidate)
{
	WS_AUTO_BUF struct ws_buf ruling = {0};
	const struct ws_store *store = m->ctx->store;
	struct ws_candidate *end = find_end(m, product, candidate->url);
	if (end->state != WS_CANDIDATE_UNOPENED) {
		candidate->state = end->state;
		candidate->why = end->why;
		candidate->sha256 = end->sha256;
		return;
	}
	const char *digest = candidate->sha256 ? candidate->sha256
		: pin                              ? pin->sha256
		: renewed                          ? NULL
										   : ws_url_digest_recall(store, candidate->url, m->a);
	bool other = pin && digest && !ws_same(pin->sha256, digest);
	if (other || (digest && recall_verdict(m, product, digest, candidate, end))) {
		return;
	}
	if (!renewed && ws_results_get(store, ruling_key(m, product, candidate).hex, &ruling)) {
		set_end(end, candidate, WS_CANDIDATE_FAILS, ws_buf_copy(&ruling, m->a));
	}
}

bool
ws_candidates_may_build(const struct ws_candidate_memory *m, const struct ws_product *product)
{
	return m->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& product->cells[0]->build_rule == WS_RULE_NONE;
}

/* True: the lock pins the candidate. */
static bool
find_state(struct ws_candidate_memory *m, const struct ws_product *product, bool renewed,
	struct ws_candidate *candidate)
{
	struct ws_digest digest;
	bool refused = candidate->state == WS_CANDIDATE_REFUSED; /* by its name */
	if (candidate->place == WS_PLACE_FOLDER && m->ctx->ledger && !refused
		&& ws_ledger_file_digest(m->ctx->ledger, candidate->url, &digest)) {
		candidate->sha256 = ws_arena_strdup(m->a, digest.hex);
	}
	const struct ws_pin_prebuilt *pin = ws_candidate_pin(m, product, candidate);
	if (refused) {
		return pin;
	}
	recall_state(m, product, renewed, pin, candidate);
	if (candidate->state == WS_CANDIDATE_UNREACHABLE
		&& (pin || !ws_candidates_may_build(m, product))) {
		candidate->state = WS_CANDIDATE_UNOPENED; /* a build must not replace it silently */
	}
	if (m->pins->locked && !pin && candidate->state != WS_CANDIDATE_FAILS) {
		candidate->state = WS_CANDIDATE_REFUSED;
		candidate->why = "the lock does not pin it";
	}
	return pin;
}

/* The ranked candidates with their states; @pinned gets an entry for each. */
static struct ws_candidates
list_ranked(struct ws_candidate_memory *m, const struct ws_product *product, bool **pinned)
{
	const struct ws_package_wheels *package = ws_package_wheels_of(m, product->recipe);
	struct ws_candidates list =
		ws_candidates_rank(product, m->matrix->torch_window, &package->wheels, m->a);
	list.asked = when_asked(m, package);
	*pinned = WS_NEW_N(m->a, bool, list.count + 1);
	for (size_t i = 0; i < list.count; i++) {
		(*pinned)[i] = find_state(m, product, package->renewed, &list.at[i]);
	}
	return list;
}

struct ws_candidates
ws_candidate_list(struct ws_candidate_memory *m, const struct ws_product *product)
{
	bool *pinned;
	struct ws_candidates list = list_ranked(m, product, &pinned);
	struct ws_candidate *at = WS_NEW_N(m->a, struct ws_candidate, list.count + 1);
	size_t count = 0;
	for (int first = 1; first >= 0; first--) {
		for (size_t i = 0; i < list.count; i++) {
			if (pinned[i] == (first == 1)) {
				at[count++] = list.at[i];
			}
		}
	}
	list.at = at;
	return list;
}

struct ws_candidates
ws_candidate_list_planned(struct ws_candidate_memory *m, const struct ws_product *product)
{
	bool *pinned, loads = false;
	struct ws_candidates list = list_ranked(m, product, &pinned);
	for (size_t i = 0; i < list.count; i++) {
		loads = loads || (pinned[i] && list.at[i].state == WS_CANDIDATE_LOADS);
	}
	for (size_t i = 0; i < list.count && loads; i++) {
		if (!pinned[i] && list.at[i].state != WS_CANDIDATE_FAILS) {
			list.at[i].state = WS_CANDIDATE_REFUSED;
			list.at[i].why = "the lock pins another wheel";
		}
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
