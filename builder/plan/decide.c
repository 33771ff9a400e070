/* decide.c - see decide.h. What building costs is cost.c's. */
#include "plan/decide.h"

#include "plan/rule.h"

#include <string.h>

const char *
ws_decision_name(enum ws_decision decision)
{
	static const char *const names[] = {
		[WS_DECISION_CACHED] = "cached",
		[WS_DECISION_PREBUILT] = "prebuilt",
		[WS_DECISION_BUILD] = "build",
		[WS_DECISION_FALLBACK] = "fallback",
		[WS_DECISION_EXCLUDED] = "excluded",
	};
	return names[decision];
}

const char *
ws_rule_name(enum ws_rule rule)
{
	static const char *const names[] = {
		[WS_RULE_NONE] = "none",
		[WS_RULE_MATRIX] = "matrix",
		[WS_RULE_INSTALLED] = "not-installed",
		[WS_RULE_PYTHON] = "torch-python",
		[WS_RULE_TORCH_CUDA] = "torch-cuda",
		[WS_RULE_KIT] = "no-kit",
		[WS_RULE_TARGET] = "no-target",
		[WS_RULE_CXX_STD] = "cxx-standard",
		[WS_RULE_REQUIRES] = "requires",
		[WS_RULE_ARCHS] = "archs",
		[WS_RULE_KNOWN_BAD] = "known-bad",
		[WS_RULE_ABI] = "cxx11abi",
		[WS_RULE_POLICY] = "policy",
	};
	return names[rule];
}

/* Nothing may be built, and there is nothing else. */
static void
give_up(const struct ws_plan_input *in, struct ws_cell *cell, struct ws_arena *a)
{
	const char *none = in->lookups.candidates ? "no candidate" : "no candidates are known yet";
	const char *fallback = in->matrix->fallback_on_no_candidate
		? ws_matrix_fallback(in->matrix, cell->recipe->name)
		: NULL;
	if (fallback) {
		cell->decision = WS_DECISION_FALLBACK;
		cell->why = ws_arena_printf(a, "%s: %s", fallback, none);
		return;
	}
	cell->decision = WS_DECISION_EXCLUDED;
	cell->rule = WS_RULE_POLICY;
	cell->why =
		ws_arena_printf(a, "%s, and the policy is %s", none, ws_policy_name(in->matrix->policy));
}

static const char *
size_text(uint64_t bytes, struct ws_arena *a)
{
	return bytes < 1000000 ? ws_arena_printf(a, "%.0f kB", (double)bytes / 1e3)
						   : ws_arena_printf(a, "%.1f MB", (double)bytes / 1e6);
}

/* "built 2026-11-20, 4.0 MB, installed 5.1 MB". */
static const char *
tell_wheel(const struct ws_plan_wheel *wheel, struct ws_arena *a)
{
	const char *when = wheel->date ? ws_arena_printf(a, "built %s", wheel->date) : "in the store";
	return wheel->wheel_bytes ? ws_arena_printf(a, "%s, %s, installed %s", when,
			   size_text(wheel->wheel_bytes, a), size_text(wheel->installed_bytes, a))
							  : when;
}

static void
decide_cell(const struct ws_plan_input *in, struct ws_cell *cell, struct ws_arena *a)
{
	enum ws_policy policy = in->matrix->policy;
	bool wants_prebuilt = policy == WS_POLICY_PREFER_PREBUILT || policy == WS_POLICY_PREBUILT_ONLY;
	if (cell->product->wheel.file) {
		cell->decision = WS_DECISION_CACHED;
		cell->why = tell_wheel(&cell->product->wheel, a);
		return;
	}
	if (in->lookups.candidates && policy != WS_POLICY_BUILD_ONLY) {
		cell->candidate_count = in->lookups.candidates(in->lookups.self, cell, &cell->candidates);
	}
	if (wants_prebuilt && cell->candidate_count > 0) {
		cell->decision = WS_DECISION_PREBUILT;
		cell->why = ws_arena_printf(a, "%zu candidate%s, not opened", cell->candidate_count,
			cell->candidate_count > 1 ? "s" : "");
	} else if (policy == WS_POLICY_PREBUILT_ONLY) {
		give_up(in, cell, a);
	} else {
		cell->decision = WS_DECISION_BUILD;
	}
}

void
ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a)
{
	for (size_t i = 0; i < product_count && in->lookups.wheel; i++) {
		if (products[i]->key[0]) {
			products[i]->wheel = in->lookups.wheel(in->lookups.self, products[i]->key);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (cells[i]->product) {
			decide_cell(in, cells[i], a);
		} else {
			cells[i]->decision = WS_DECISION_EXCLUDED;
		}
	}
}

/* The cell of the product that pays for it, as seen from another: by the one axis that differs. */
static const char *
tell_sharer(const struct ws_cell *cell, const struct ws_cell *first, struct ws_arena *a)
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
			cell->why = tell_sharer(cell, product->payer, a);
		} else if (cell->dropped_count > 0) {
			cell->why = ws_arena_printf(a, "without %s", ws_rule_dropped_text(cell, a));
		} else if (product->kernels) {
			cell->why =
				ws_arena_printf(a, "kernels shared with %s", product->kernels->point.python->name);
		} else {
			cell->why = "not built yet";
		}
	}
}
