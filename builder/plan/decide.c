#include "plan/steps.h"

const char *const ws_decision_words[] = {
	[WS_DECISION_CACHED] = "cached",
	[WS_DECISION_PREBUILT] = "prebuilt",
	[WS_DECISION_BUILD] = "build",
	[WS_DECISION_FALLBACK] = "fallback",
	[WS_DECISION_EXCLUDED] = "excluded",
};

const char *const ws_rule_words[] = {
	[WS_RULE_NONE] = "none",
	[WS_RULE_MATRIX] = "matrix",
	[WS_RULE_INSTALLED] = "not-installed",
	[WS_RULE_PYTHON] = "torch-python",
	[WS_RULE_PLATFORM] = "platform",
	[WS_RULE_TORCH_CUDA] = "torch-cuda",
	[WS_RULE_SOURCE] = "no-source",
	[WS_RULE_KIT] = "no-kit",
	[WS_RULE_TARGET] = "no-target",
	[WS_RULE_CXX_STD] = "cxx-standard",
	[WS_RULE_REQUIRES] = "requires",
	[WS_RULE_ARCHS] = "archs",
	[WS_RULE_KNOWN_BAD] = "known-bad",
	[WS_RULE_ABI] = "cxx11abi",
	[WS_RULE_INTERPRETER] = "no-python",
	[WS_RULE_POLICY] = "policy",
};

const char *const ws_candidate_state_words[] = {
	[WS_CANDIDATE_UNOPENED] = "unopened",
	[WS_CANDIDATE_LOADS] = "loads",
	[WS_CANDIDATE_FAILS] = "fails",
	[WS_CANDIDATE_UNKNOWN] = "unknown",
	[WS_CANDIDATE_REFUSED] = "refused",
	[WS_CANDIDATE_ABSENT] = "absent",
	[WS_CANDIDATE_UNREACHABLE] = "unreachable",
	[WS_CANDIDATE_UNREACHABLE + 1] = NULL,
};

static const char *
size_text(uint64_t bytes, struct ws_arena *a)
{
	return bytes < 1000000 ? ws_arena_printf(a, "%.0f kB", (double)bytes / 1e3)
						   : ws_arena_printf(a, "%.1f MB", (double)bytes / 1e6);
}

/* "built 2026-11-20, 4.0 MB, installed 5.1 MB". */
static const char *
describe_wheel(const struct ws_plan_wheel *wheel, struct ws_arena *a)
{
	const char *when = wheel->date ? ws_arena_printf(a, "built %s", wheel->date) : "in the store";
	return wheel->wheel_bytes ? ws_arena_printf(a, "%s, %s, installed %s", when,
			   size_text(wheel->wheel_bytes, a), size_text(wheel->installed_bytes, a))
							  : when;
}

/* ---- what is published ---- */

/* Compares name, version and tags. The glibc of the platform tag is measured after the link and
 * may be older than the requested one. */
static bool
is_of(const struct ws_wheel_name *wheel, const struct ws_product *product)
{
	const struct ws_point *point = &product->cells[0]->point;
	unsigned minor =
		product->glibc ? (unsigned)strtoul(product->glibc + strlen("2."), NULL, 10) : WS_ANY_GLIBC;
	return ws_wheel_fit(wheel, &point->python->tag, point->machine, 2, minor) > 0
		&& strcmp(wheel->distribution, product->recipe->name) == 0
		&& strcmp(wheel->version.text, product->version) == 0
		&& ws_is_among(product->python_tag, wheel->pythons, wheel->python_count)
		&& ws_is_among(product->abi_tag, wheel->abis, wheel->abi_count);
}

static bool
is_published(const struct ws_plan_against *against, const struct ws_product *product)
{
	for (size_t i = 0; against && i < against->count; i++) {
		if (is_of(&against->wheels[i], product)) {
			return true;
		}
	}
	return false;
}

/* ---- candidates ---- */

static bool
may_serve(const struct ws_candidate *candidate)
{
	return candidate->state == WS_CANDIDATE_UNOPENED || candidate->state == WS_CANDIDATE_LOADS;
}

static bool
is_unopened(const struct ws_candidate *candidate)
{
	return candidate->state == WS_CANDIDATE_UNOPENED;
}

static size_t
count_those(const struct ws_product *product, bool (*is)(const struct ws_candidate *candidate))
{
	size_t count = 0;
	for (size_t i = 0; i < product->candidates.count; i++) {
		count += is(&product->candidates.at[i]);
	}
	return count;
}

/* The first candidate that may serve is chosen if it is known to load. */
static void
find_candidates(const struct ws_plan_lookups *lookups, struct ws_product *product)
{
	struct ws_candidates *all = &product->candidates;
	*all = lookups->candidates(lookups->self, product);
	for (size_t i = 0; i < all->count; i++) {
		if (may_serve(&all->at[i])) {
			product->chosen = all->at[i].state == WS_CANDIDATE_LOADS ? &all->at[i] : NULL;
			return;
		}
	}
}

static const char *
describe_prebuilt(const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_candidate *chosen = product->chosen;
	size_t count = product->candidates.count;
	size_t unopened = count_those(product, is_unopened);
	if (chosen) {
		const char *other =
			chosen->window ? ws_arena_printf(a, " for torch %s", chosen->label.torch) : "";
		return ws_arena_printf(a, "a wheel%s of %s loads", other, chosen->from);
	}
	if (unopened == 0) {
		return "indexes were not asked";
	}
	const char *s = count > 1 ? "s" : "";
	return unopened == count
		? ws_arena_printf(a, "%zu candidate%s, not opened", count, s)
		: ws_arena_printf(a, "%zu candidate%s, %zu not opened", count, s, unopened);
}

/* There are wheels of this package, or templates of published ones. */
static bool
was_looked_for(const struct ws_product *product)
{
	return product->candidates.count > 0 || product->candidates.unpublished_count > 0;
}

/* The reason why no candidate serves. */
static const char *
describe_none(const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_candidates *all = &product->candidates;
	if (all->count > 1) {
		return ws_arena_printf(a, "no candidate of %zu loads", all->count);
	}
	if (all->count == 1) {
		const struct ws_candidate *only = &all->at[0];
		return ws_arena_printf(a, "the wheel of %s: %s", only->from,
			only->why ? only->why : ws_candidate_state_words[only->state]);
	}
	if (all->unpublished_count > 0) {
		const char *what = all->unpublished[0].what;
		return ws_arena_printf(
			a, "no wheel was published for %s", what ? what : "this combination");
	}
	return "no candidate";
}

/* No candidate loads, and no build is allowed or possible. */
static void
give_up(const struct ws_plan_input *in, struct ws_cell *cell, struct ws_arena *a)
{
	bool looked = was_looked_for(cell->product);
	const char *stopped = cell->build_why;
	const char *none =
		in->lookups.candidates ? describe_none(cell->product, a) : "no candidates are known yet";
	const char *fallback = in->matrix->fallback_on_no_candidate
		? ws_matrix_fallback(in->matrix, cell->recipe->name)
		: NULL;
	if (fallback) {
		cell->decision = WS_DECISION_FALLBACK;
		cell->why = ws_arena_printf(a, "%s: %s", fallback, stopped && !looked ? stopped : none);
		return;
	}
	cell->decision = WS_DECISION_EXCLUDED;
	if (!stopped) {
		cell->rule = WS_RULE_POLICY;
		cell->why = ws_arena_printf(
			a, "%s, and the policy is %s", none, ws_policy_words[in->matrix->policy]);
		return;
	}
	cell->rule = cell->build_rule;
	cell->why = looked ? ws_arena_printf(a, "%s; %s", stopped, none) : stopped;
	cell->product = NULL;
}

static void
decide_cell(const struct ws_plan_input *in, struct ws_cell *cell, struct ws_arena *a)
{
	enum ws_policy policy = in->matrix->policy;
	const struct ws_product *product = cell->product;
	bool wants_prebuilt = policy == WS_POLICY_PREFER_PREBUILT || policy == WS_POLICY_PREBUILT_ONLY;
	bool can_build = policy != WS_POLICY_PREBUILT_ONLY && cell->build_rule == WS_RULE_NONE;
	cell->candidates = &product->candidates;
	if (product->published) {
		cell->decision = WS_DECISION_CACHED;
		cell->why = ws_arena_printf(a, "in %s", in->against->name);
	} else if (product->wheel.file) {
		cell->decision = WS_DECISION_CACHED;
		cell->why = describe_wheel(&product->wheel, a);
	} else if ((wants_prebuilt || !can_build)
		&& (count_those(product, may_serve) > 0
			|| (!can_build && product->candidates.asked == WS_INDEXES_NEVER))) {
		cell->decision = WS_DECISION_PREBUILT;
		cell->why = describe_prebuilt(product, a);
	} else if (can_build) {
		cell->decision = WS_DECISION_BUILD;
		cell->why =
			wants_prebuilt && was_looked_for(product) ? describe_none(product, a) : "not built yet";
	} else {
		give_up(in, cell, a);
	}
}

/* Looks for a wheel in the store, on the index of --against, and among prebuilt ones. */
static void
look_up(const struct ws_plan_input *in, struct ws_product *product)
{
	const struct ws_plan_lookups *lookups = &in->lookups;
	if (product->key[0] && lookups->wheel) {
		product->wheel = lookups->wheel(lookups->self, product->key);
	}
	product->published = is_published(in->against, product);
	if (lookups->candidates && in->matrix->policy != WS_POLICY_BUILD_ONLY && !product->wheel.file
		&& !product->published) {
		find_candidates(lookups, product);
	}
}

/* Modules that are compiled with Python's headers take them from this host. */
static void
check_interpreter(struct ws_cell *cell)
{
	const struct ws_product *product = cell->product;
	bool includes_python =
		product && (product->binding == WS_BINDING_PYBIND || ws_same(product->abi_tag, "abi3"));
	if (includes_python && product->point.python->missing && cell->build_rule == WS_RULE_NONE) {
		cell->build_rule = WS_RULE_INTERPRETER;
		cell->build_why = product->point.python->missing->text;
	}
}

bool
ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a)
{
	bool lost = false;
	for (size_t i = 0; i < count; i++) {
		check_interpreter(cells[i]);
	}
	for (size_t i = 0; i < product_count; i++) {
		look_up(in, products[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!cells[i]->product) {
			cells[i]->decision = WS_DECISION_EXCLUDED;
			continue;
		}
		decide_cell(in, cells[i], a);
		lost = lost || !cells[i]->product;
	}
	return lost;
}

/* Names the cell that pays for the product by the axis on which it differs from @cell. */
static const char *
describe_sharer(const struct ws_cell *cell, const struct ws_cell *first, struct ws_arena *a)
{
	const struct ws_point *x = &cell->point;
	const struct ws_point *y = &first->point;
	bool same_torch = x->torch == y->torch
		|| (x->torch && y->torch && strcmp(x->torch->name, y->torch->name) == 0);
	bool same_rest = x->cuda == y->cuda && ws_arch_set_eq(&x->arch->set, &y->arch->set)
		&& x->cxx11abi == y->cxx11abi;
	bool same_python = strcmp(x->python->name, y->python->name) == 0;
	if (same_rest && same_torch) {
		return ws_arena_printf(a, "the wheel of %s serves it", y->python->name);
	}
	if (same_rest && same_python && y->torch) {
		return ws_arena_printf(a, "the wheel of torch %s serves it", y->torch->name);
	}
	return ws_arena_printf(a, "the wheel of %s serves it", first->name);
}

void
ws_decide_reasons(struct ws_cell *const *cells, size_t count, struct ws_arena *a)
{
	for (size_t i = 0; i < count; i++) {
		struct ws_cell *cell = cells[i];
		const struct ws_product *product = cell->product;
		if (cell->decision != WS_DECISION_BUILD) {
			continue;
		}
		if (product->payer != cell) {
			cell->why = describe_sharer(cell, product->payer, a);
		} else if (cell->dropped_count > 0) {
			cell->why = ws_arena_printf(a, "without %s", ws_rule_dropped_text(cell, a));
		} else if (product->kernels && product->candidates.count == 0) {
			cell->why =
				ws_arena_printf(a, "kernels shared with %s", product->kernels->point.python->name);
		}
	}
}
