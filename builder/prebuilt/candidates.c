/* candidates.c - the states of candidates, and the rounds that fetch and judge them. */
#include "prebuilt/candidates.h"

#include "engine/engine.h"
#include "judge/torch_place.h"
#include "net/url.h"
#include "prebuilt/wheel_files.h"
#include "store/results.h"

#define PATIENCE_MS 5000

struct ws_candidate_memory *
ws_candidate_memory_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix)
{
	struct ws_candidate_memory *m = WS_NEW(ctx->a, struct ws_candidate_memory);
	*m = (struct ws_candidate_memory){.ctx = ctx,
		.pins = pins,
		.a = ctx->a,
		.matrix = matrix,
		.verdicts = {.store = ctx->store, .names = {.ledger = ctx->ledger, .a = ctx->a}}};
	return m;
}

/* The known wheels of a package: as the store remembers them, until a round reads its places. */
static struct ws_package_wheels *
wheels_of(struct ws_candidate_memory *m, const struct ws_recipe *recipe)
{
	const struct ws_pins *pins = m->pins;
	const char *key = ws_arena_printf(m->a, "%s %s", recipe->name, recipe->version.text);
	struct ws_package_wheels *package = ws_map_get(&m->packages, key);
	if (!package) {
		package = WS_NEW(m->a, struct ws_package_wheels);
		package->places = ws_wheel_places_of(m->ctx->indexes, recipe);
		package->wheels =
			ws_index_wheels_list(m->ctx->store, &package->places, NULL, &pins->lock, recipe, m->a);
		package->renewed = ws_is_among(recipe->name, pins->renewed, pins->renewed_count)
			|| ws_is_among("all", pins->renewed, pins->renewed_count);
		ws_map_put(&m->packages, key, package, m->a);
	}
	return package;
}

/* ---- the places in which a candidate is judged ---- */

/* One point for each torch and Python of the product's cells. */
typedef WS_VEC(const struct ws_point *) point_list;

static point_list
points_of(const struct ws_product *product, struct ws_arena *a)
{
	point_list points = {0};
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
add_runtime_lists(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_point *point, ws_list_paths *lists, struct ws_err *err)
{
	const struct ws_version *release =
		product->binding == WS_BINDING_C_ABI ? find_cuda_release(m->ctx->facts, point) : NULL;
	return ws_torch_dependencies(m->ctx->data->facts, release, m->a, lists, err);
}

static bool
uses_torch(const struct ws_product *product, const struct ws_point *point)
{
	return product->binding < WS_BINDING_C_ABI && point->torch;
}

/* The order that judges the candidate, whose digest is known, in all its places. @lists: the export
 * lists of each point; NULL: those that are here already, or false. */
static bool
make_order(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate, ws_list_paths *lists, struct ws_judge_order *order)
{
	const point_list points = points_of(product, m->a);
	struct ws_wheel_place *places = WS_NEW_N(m->a, struct ws_wheel_place, points.len + 1);
	const char *glibc = m->matrix->glibc;
	if (m->libraries.len == 0) {
		ws_host_libraries_usual(NULL, m->a, &m->libraries);
	}
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_point *point = points.at[i];
		bool bound = uses_torch(product, point);
		ws_list_paths own = lists ? lists[i] : (ws_list_paths){0};
		for (size_t k = 0; !lists && bound && point->lists && point->lists[k]; k++) {
			*ws_vec_push(&own, m->a) = point->lists[k];
		}
		if (!lists && (bound ? !point->lists : !add_runtime_lists(m, product, point, &own, NULL))) {
			return false;
		}
		places[i].torch = bound ? point->torch->version.text : NULL;
		places[i].place = (struct ws_judge_place){
			.lists = own.at,
			.list_count = own.len,
			.libraries = m->libraries.at,
			.library_count = m->libraries.len,
			.python_tag = point->python->name,
			.archs = product->point.archs,
			.driver = m->matrix->driver.text,
			/* NULL: any system. Only our own wheels must run on the systems of a torch release. */
			.glibc = ws_same(glibc, WS_GLIBC_HOST) ? NULL : glibc,
		};
		if (point->machine != ws_machine_host()) {
			ws_judge_place_move(&places[i].place, &own, m->ctx->data->facts, point->machine, m->a);
		}
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

/* ---- states ---- */

/* The candidate with the state that it got in this run; new ones are unopened. Products of two
 * plans of a run are different objects; their cells have the same names. */
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

/* Gives the candidate a state and keeps it for this run. */
static void
end_as(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, enum ws_candidate_state state, const char *why)
{
	candidate->state = state;
	candidate->why = why;
	*find_end(m, product, candidate->url) = *candidate;
}

/* The reason has the first evidence of the decisive finding: the symbol that is missing. */
static void
end_judged(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, const struct ws_wheel_verdict *verdict)
{
	static const enum ws_candidate_state states[] = {
		[WS_VERDICT_OK] = WS_CANDIDATE_LOADS,
		[WS_VERDICT_EXCLUDED] = WS_CANDIDATE_FAILS,
		[WS_VERDICT_UNKNOWN] = WS_CANDIDATE_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_CANDIDATE_FAILS,
	};
	const char *why = ws_arena_strdup(m->a, verdict->why);
	for (size_t i = 0; verdict->why && i < verdict->place_count; i++) {
		const struct ws_finding *f = ws_place_decisive(&verdict->places[i]);
		if (f && f->evidence_count > 0 && ws_same(f->text, verdict->why)) {
			why = ws_arena_printf(m->a, "%s: %s", verdict->why, f->evidence[0]);
			break;
		}
	}
	end_as(m, product, candidate, states[verdict->verdict], why);
}

/* Under it the store keeps why a wheel's own metadata rules it out, which is so on every host. */
static struct ws_digest
ruling_key(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	const point_list points = points_of(product, m->a);
	const char *key = ws_arena_printf(m->a, "wheelsmith.candidate/4 " WS_VERSION "\n%s\n%s",
		candidate->url, candidate->sha256 ? candidate->sha256 : "");
	for (size_t i = 0; i < points.len; i++) {
		key = ws_arena_printf(m->a, "%s\n%s", key, points.at[i]->python->name);
	}
	return ws_digest_bytes(key, strlen(key));
}

/* The lock's pin of these bytes, else of the same origin (then the bytes differ). NULL: none. */
static const struct ws_pin_prebuilt *
pin_of(const struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return ws_lock_prebuilt(&m->pins->lock, product->recipe->name, candidate->file,
		candidate->sha256, candidate->origin);
}

/* The digest of the bytes that the URL returned last; NULL: it was never fetched, or is renewed. */
static const char *
likely_digest(const struct ws_candidate_memory *m, const struct ws_package_wheels *package,
	const struct ws_candidate *candidate)
{
	return package->renewed ? NULL : ws_url_digest_recall(m->ctx->store, candidate->url, m->a);
}

/* A state from this run, from the verdict of the action that would judge these bytes now, or from
 * the wheel's metadata. A file that replaced the pinned one stays unopened: opening it is an
 * error. */
static void
recall_state(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_package_wheels *package, const struct ws_pin_prebuilt *pin,
	struct ws_candidate *candidate)
{
	WS_AUTO_BUF struct ws_buf ruling = {0};
	struct ws_candidate opened = *candidate;
	struct ws_judge_order order;
	struct ws_wheel_verdict verdict;
	const struct ws_candidate *end = find_end(m, product, candidate->url);
	if (end->state != WS_CANDIDATE_UNOPENED) {
		candidate->state = end->state;
		candidate->why = end->why;
		candidate->sha256 = end->sha256;
		return;
	}
	opened.sha256 = candidate->sha256 ? candidate->sha256
		: pin                         ? pin->sha256
									  : likely_digest(m, package, candidate);
	if (pin && opened.sha256 && !ws_same(pin->sha256, opened.sha256)) {
		return;
	}
	if (opened.sha256 && make_order(m, product, &opened, NULL, &order)
		&& ws_judge_recall(&order, &m->verdicts, m->ctx->program, m->a, &verdict)) {
		candidate->sha256 = opened.sha256;
		end_judged(m, product, candidate, &verdict);
	} else if (!package->renewed
		&& ws_results_get(m->ctx->store, ruling_key(m, product, candidate).hex, &ruling)) {
		end_as(m, product, candidate, WS_CANDIDATE_FAILS, ws_buf_copy(&ruling, m->a));
	}
}

/* Can the product be built, if no candidate loads? */
static bool
may_build(const struct ws_candidate_memory *m, const struct ws_product *product)
{
	return m->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& product->cells[0]->build_rule == WS_RULE_NONE;
}

/* True: the lock pins the candidate. */
static bool
find_state(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_package_wheels *package, struct ws_candidate *candidate)
{
	struct ws_digest digest;
	bool refused = candidate->state == WS_CANDIDATE_REFUSED; /* by its name */
	if (candidate->place == WS_PLACE_FOLDER && m->ctx->ledger && !refused
		&& ws_ledger_file_digest(m->ctx->ledger, candidate->url, &digest)) {
		candidate->sha256 = ws_arena_strdup(m->a, digest.hex);
	}
	const struct ws_pin_prebuilt *pin = pin_of(m, product, candidate);
	if (refused) {
		return pin;
	}
	recall_state(m, product, package, pin, candidate);
	if (candidate->state == WS_CANDIDATE_UNREACHABLE && (pin || !may_build(m, product))) {
		candidate->state = WS_CANDIDATE_UNOPENED; /* a build must not replace it silently */
	}
	if (m->pins->locked && !pin && candidate->state != WS_CANDIDATE_FAILS) {
		candidate->state = WS_CANDIDATE_REFUSED;
		candidate->why = "the lock does not pin it";
	}
	return pin;
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

struct ws_candidates
ws_candidate_list(
	struct ws_candidate_memory *m, const struct ws_product *product, bool for_planning)
{
	const struct ws_package_wheels *package = wheels_of(m, product->recipe);
	struct ws_candidates ranked =
		ws_candidates_rank(product, m->matrix->torch_window, &package->wheels, m->a);
	ranked.asked = when_asked(m, package);
	struct ws_candidates list = ranked;
	bool *pinned = WS_NEW_N(m->a, bool, ranked.count + 1), loads = false;
	for (size_t i = 0; i < ranked.count; i++) {
		pinned[i] = find_state(m, product, package, &ranked.at[i]);
		loads = loads || (pinned[i] && ranked.at[i].state == WS_CANDIDATE_LOADS);
	}
	for (size_t i = 0; i < ranked.count && loads && for_planning; i++) {
		if (!pinned[i] && ranked.at[i].state != WS_CANDIDATE_FAILS) {
			ranked.at[i].state = WS_CANDIDATE_REFUSED;
			ranked.at[i].why = "the lock pins another wheel";
		}
	}
	if (for_planning) {
		return ranked;
	}
	list.at = WS_NEW_N(m->a, struct ws_candidate, ranked.count + 1);
	list.count = 0;
	for (unsigned later = 0; later <= 1; later++) {
		for (size_t i = 0; i < ranked.count; i++) {
			if (pinned[i] == !later) {
				list.at[list.count++] = ranked.at[i];
			}
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

/* ---- a round ---- */

/* A product and its candidates. */
struct attempt {
	const struct ws_product *product;
	struct ws_package_wheels *package;
	struct ws_candidates list;
	size_t next;               /* the candidate that is tried */
	bool open;                 /* in this round */
	bool done;                 /* one loads, or all were tried */
	struct ws_wheel_wish wish; /* for the file of the candidate */
	struct ws_node *node;      /* judges the candidate in this round; NULL: nothing to judge */
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

/* One warning per server that does not answer, however many candidates it has. */
static void
end_candidate(struct trying *t, struct attempt *at, enum ws_candidate_state state, const char *why)
{
	struct ws_candidate *candidate = &at->list.at[at->next];
	struct ws_url url;
	end_as(t->memory, at->product, candidate, state, why);
	at->open = false;
	at->next++;
	if (state == WS_CANDIDATE_UNREACHABLE && !t->fetch.offline) {
		bool known = ws_url_parse(candidate->url, t->a, &url, NULL);
		if (ws_map_add(&t->memory->warned, known ? url.origin : candidate->url, t->a)) {
			ws_events_warn(t->fetch.events, "prebuilt wheels: %s", why);
		}
	}
}

/* Adds a judge for a wheel that arrived, and ends the others. Without torch's export list the wheel
 * cannot be judged now. */
static bool
accept(struct trying *t, struct attempt *at, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_candidate_memory *m = t->memory;
	const struct ws_wheel_wish *wish = &at->wish;
	struct ws_candidate *candidate = &at->list.at[at->next];
	struct ws_judge_order order;
	struct ws_err why = {0};
	if (wish->ruled_out && !m->pins->bundled) {
		ws_buf_puts(&text, wish->why);
		ws_results_put(m->ctx->store, ruling_key(m, at->product, candidate).hex, &text, NULL);
	}
	if (wish->state != WS_CANDIDATE_UNOPENED) {
		end_candidate(t, at, wish->state, wish->why);
		return true;
	}
	candidate->sha256 = wish->sha256;
	if (candidate->place != WS_PLACE_FOLDER && !m->pins->bundled) {
		ws_url_digest_remember(m->ctx->store, candidate->url, candidate->sha256);
	}
	const point_list points = points_of(at->product, m->a);
	ws_list_paths *lists = WS_NEW_N(m->a, ws_list_paths, points.len + 1);
	bool found = true;
	for (size_t i = 0; i < points.len && found; i++) {
		found = uses_torch(at->product, points.at[i])
			? ws_resolve_lists(t->resolver, points.at[i], &lists[i], &why)
			: add_runtime_lists(m, at->product, points.at[i], &lists[i], &why);
	}
	const struct ws_action *action = found && make_order(m, at->product, candidate, lists, &order)
		? ws_judge_action(&order, m->ctx->store, m->ctx->program, t->a, &why)
		: NULL;
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

/* The next candidate of each product that may serve. A wheel that is known to load is opened as
 * well: it may have to be fetched and pinned, and its verdict is in the store. @count: all of
 * them. */
static bool
open_candidates(struct trying *t, size_t *count, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	struct ws_wheel_wish **wishes = WS_NEW_N(t->a, struct ws_wheel_wish *, t->count + 1);
	*count = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct attempt *at = &t->attempts[i];
		at->node = NULL;
		while (at->next < at->list.count && at->list.at[at->next].state != WS_CANDIDATE_UNOPENED
			&& at->list.at[at->next].state != WS_CANDIDATE_LOADS) {
			at->next++;
		}
		at->open = !at->done && at->next < at->list.count;
		if (at->open) {
			const struct ws_candidate *candidate = &at->list.at[at->next];
			at->wish = (struct ws_wheel_wish){
				.product = at->product,
				.candidate = candidate,
				.pin = pin_of(m, at->product, candidate),
				.likely = likely_digest(m, at->package, candidate),
			};
			wishes[(*count)++] = &at->wish;
		}
	}
	if (!ws_wheel_files_get(&t->fetch, wishes, *count, m->a, err)) {
		return false;
	}
	for (size_t i = 0; i < t->count; i++) {
		if (t->attempts[i].open && !accept(t, &t->attempts[i], err)) {
			return false;
		}
	}
	return true;
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

/* Pins a wheel that loads. A judge that was killed or timed out leaves no verdict: the next run
 * judges again. */
static bool
read_verdict(struct trying *t, struct attempt *at, struct ws_err *err)
{
	struct ws_candidate_memory *m = t->memory;
	struct ws_candidate *candidate = &at->list.at[at->next];
	const struct ws_node *node = at->node;
	struct ws_wheel_verdict verdict;
	const struct ws_pin_prebuilt pin = {
		.package = at->product->recipe->name,
		.version = at->product->recipe->version.text,
		.wheel = candidate->file,
		.from = candidate->origin,
		.sha256 = candidate->sha256,
	};
	if (node->state != WS_NODE_DONE) {
		const char *why = node->failure ? node->failure->text : "it was not judged";
		end_candidate(t, at, WS_CANDIDATE_UNKNOWN, why);
		return true;
	}
	if (!ws_verdict_recall(m->ctx->store, node->result.outputs[0].hex, m->a, &verdict, err)
		|| (verdict.verdict == WS_VERDICT_OK
			&& !ws_pins_put(m->pins, WS_PIN_PREBUILT, &pin, err))) {
		return false;
	}
	end_judged(m, at->product, candidate, &verdict);
	at->done = candidate->state == WS_CANDIDATE_LOADS;
	at->next++;
	return true;
}

/* Tries one candidate of each product that has none yet, until no product has another one. */
static bool
run_rounds(struct trying *t, struct ws_err *err)
{
	size_t open;
	do {
		t->graph = ws_graph_make(t->a);
		if (!open_candidates(t, &open, err) || (t->graph->nodes.len > 0 && !run_judges(t, err))) {
			return false;
		}
		for (size_t i = 0; i < t->count; i++) {
			if (t->attempts[i].open && !read_verdict(t, &t->attempts[i], err)) {
				return false;
			}
		}
	} while (open > 0);
	return true;
}

/* ---- before the first round ---- */

/* No known wheel serves the product: its places are read now. */
static bool
wants_more(struct trying *t, const struct attempt *at)
{
	const struct ws_candidate_memory *m = t->memory;
	const struct ws_package_wheels *package = at->package;
	bool enough = package->wheels.complete && may_build(m, at->product);
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
		for (size_t k = 0; wants_more(t, at) && k < at->package->places.count; k++) {
			*ws_vec_push(&urls, t->a) = at->package->places.at[k];
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
	struct ws_candidate_memory *m = t->memory;
	for (size_t i = 0; i < t->count; i++) {
		const struct ws_recipe *recipe = t->attempts[i].product->recipe;
		struct ws_package_wheels *package = t->attempts[i].package;
		const struct ws_index_page **pages;
		if (!wants_more(t, &t->attempts[i])) {
			continue;
		}
		if (!ws_index_pages_read(
				&t->fetch, &package->places, recipe->name, &m->warned, t->a, &pages, err)) {
			return false;
		}
		package->wheels = ws_index_wheels_list(
			t->fetch.store, &package->places, pages, &m->pins->lock, recipe, t->a);
		package->read = true;
	}
	for (size_t i = 0; i < t->count; i++) {
		t->attempts[i].list = ws_candidate_list(m, t->attempts[i].product, false);
	}
	return true;
}

bool
ws_candidates_try(struct ws_candidate_memory *memory, const struct ws_product *const *products,
	size_t count, struct ws_err *err)
{
	struct trying t = {
		.memory = memory,
		.resolver = ws_resolver_open(memory->ctx, memory->pins, NULL, 0),
		.fetch = *memory->ctx->fetch,
		.attempts = WS_NEW_N(memory->a, struct attempt, count + 1),
		.a = memory->a,
	};
	const struct ws_http_config impatient = {
		.ca_path = t.fetch.indexes->ca_path,
		.netrc_path = t.fetch.indexes->netrc_path,
		.offline = t.fetch.offline,
		.first_byte_ms = PATIENCE_MS,
		.retries = 2,
		.impatient = true,
		.stop = t.fetch.stop,
		.events = t.fetch.events,
	};
	for (size_t i = 0; i < count; i++) {
		struct attempt at = {
			.product = products[i], .package = wheels_of(memory, products[i]->recipe)};
		at.list = ws_candidate_list(memory, products[i], false);
		if (at.list.count > 0 || at.package->places.count > 0) {
			t.attempts[t.count++] = at;
		}
	}
	if (t.count == 0) {
		return true;
	}
	if (!(t.fetch.http = ws_http_open(&impatient, err))) {
		return false;
	}
	t.fetch.index = ws_index_open(t.fetch.http, memory->a);
	bool done = preconnect(&t, err) && read_places(&t, err) && run_rounds(&t, err);
	ws_http_close(t.fetch.http);
	return done;
}
