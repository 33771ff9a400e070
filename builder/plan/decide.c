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

/* ---- what is published ---- */

static bool
is_published(const struct ws_plan_against *against, const struct ws_product *product)
{
	const struct ws_point *point = &product->cells[0]->point;
	unsigned minor =
		product->glibc ? (unsigned)strtoul(product->glibc + strlen("2."), NULL, 10) : WS_ANY_GLIBC;
	for (size_t i = 0; against && i < against->count; i++) {
		const struct ws_wheel_name *wheel = &against->wheels[i];
		if (ws_wheel_fit(wheel, &point->python->tag, point->machine, 2, minor) > 0
			&& strcmp(wheel->distribution, product->recipe->name) == 0
			&& strcmp(wheel->version.text, product->version) == 0
			&& ws_is_among(product->python_tag, wheel->pythons, wheel->python_count)
			&& ws_is_among(product->abi_tag, wheel->abis, wheel->abi_count)) {
			return true;
		}
	}
	return false;
}

/* ---- candidates ---- */

/* NULL: none may serve. */
static const struct ws_candidate *
first_candidate(const struct ws_candidates *all)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->at[i].state == WS_CANDIDATE_UNOPENED || all->at[i].state == WS_CANDIDATE_LOADS) {
			return &all->at[i];
		}
	}
	return NULL;
}

static const char *
describe_prebuilt(const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_candidate *chosen = product->chosen;
	size_t count = product->candidates.count, unopened = 0;
	for (size_t i = 0; i < count; i++) {
		unopened += product->candidates.at[i].state == WS_CANDIDATE_UNOPENED;
	}
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
		/* "built 2026-11-20, 4.0 MB, installed 5.1 MB" */
		const struct ws_plan_wheel *wheel = &product->wheel;
		cell->why = wheel->date ? ws_arena_printf(a, "built %s", wheel->date) : "in the store";
		if (wheel->wheel_bytes) {
			cell->why = ws_arena_printf(a, "%s, %s, installed %s", cell->why,
				size_text(wheel->wheel_bytes, a), size_text(wheel->installed_bytes, a));
		}
	} else if ((wants_prebuilt || !can_build)
		&& (first_candidate(&product->candidates)
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

bool
ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a)
{
	const struct ws_plan_lookups *lookups = &in->lookups;
	bool lost = false;
	/* Modules that are compiled with Python's headers take them from this host. The look-up of
	 * candidates reads this. */
	for (size_t i = 0; i < count; i++) {
		const struct ws_product *product = cells[i]->product;
		const struct ws_err *missing = product ? product->point.python->missing : NULL;
		if (missing && cells[i]->build_rule == WS_RULE_NONE && product->includes_python) {
			cells[i]->build_rule = WS_RULE_INTERPRETER;
			cells[i]->build_why = missing->text;
		}
	}
	for (size_t i = 0; i < product_count; i++) {
		struct ws_product *product = products[i];
		if (product->key[0] && lookups->wheel) {
			product->wheel = lookups->wheel(lookups->self, product->key);
		}
		product->published = is_published(in->against, product);
		if (lookups->candidates && in->matrix->policy != WS_POLICY_BUILD_ONLY
			&& !product->wheel.file && !product->published) {
			product->candidates = lookups->candidates(lookups->self, product);
			const struct ws_candidate *first = first_candidate(&product->candidates);
			product->chosen = first && first->state == WS_CANDIDATE_LOADS ? first : NULL;
		}
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
			/* Names the payer by the axis on which it differs. */
			const struct ws_point *x = &cell->point, *y = &product->payer->point;
			bool same_torch = x->torch == y->torch
				|| (x->torch && y->torch && strcmp(x->torch->name, y->torch->name) == 0);
			bool same_rest = x->cuda == y->cuda && ws_arch_set_eq(&x->arch->set, &y->arch->set)
				&& x->cxx11abi == y->cxx11abi;
			bool same_python = strcmp(x->python->name, y->python->name) == 0;
			const char *name = same_rest && same_torch ? y->python->name
				: same_rest && same_python && y->torch
				? ws_arena_printf(a, "torch %s", y->torch->name)
				: product->payer->name;
			cell->why = ws_arena_printf(a, "the wheel of %s serves it", name);
		} else if (cell->dropped_count > 0) {
			cell->why = ws_arena_printf(a, "without %s", ws_rule_dropped_text(cell, a));
		} else if (product->kernels && product->candidates.count == 0) {
			cell->why =
				ws_arena_printf(a, "kernels shared with %s", product->kernels->point.python->name);
		}
	}
}
