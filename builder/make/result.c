#include "make/result.h"

#include "store/cas.h"

const char *const ws_supply_words[] = {
	[WS_SUPPLY_NONE] = "",
	[WS_SUPPLY_CACHED] = "cached",
	[WS_SUPPLY_PREBUILT] = "prebuilt",
	[WS_SUPPLY_BUILT] = "build",
	[WS_SUPPLY_FALLBACK] = "fallback",
	[WS_SUPPLY_PUBLISHED] = "cached",
	[WS_SUPPLY_PUBLISHED + 1] = NULL,
};

bool
ws_supply_is_open(const struct ws_supply *supply)
{
	return supply->kind == WS_SUPPLY_NONE && !supply->failure;
}

bool
ws_supply_is_prebuilt(const struct ws_supply *supply)
{
	return ws_supply_is_open(supply) && supply->product->cells[0]->decision == WS_DECISION_PREBUILT;
}

bool
ws_supply_fail_prebuilt(const struct ws_supply *supply, struct ws_err *err)
{
	const struct ws_candidates *all = &supply->product->candidates;
	const char *cell = supply->product->cells[0]->name;
	for (size_t i = 0; i < all->count; i++) {
		const struct ws_candidate *candidate = &all->at[i];
		if (candidate->state == WS_CANDIDATE_UNOPENED) {
			return ws_err_set(err, WS_ERR_FETCH, "%s: no prebuilt wheel: %s", cell,
				candidate->why ? candidate->why : "candidates were not opened");
		}
	}
	return ws_err_set(
		err, WS_ERR_FETCH, "%s: no prebuilt wheel: no index could be asked for one", cell);
}

enum ws_cell_state
ws_cell_state(const struct ws_cell_result *result)
{
	const struct ws_supply *supply = result->supply;
	if (!supply) {
		/* To be built, and of no product: a fault of the plan's that must not look like success. */
		return result->cell->decision == WS_DECISION_EXCLUDED ? WS_CELL_EXCLUDED
															  : WS_CELL_CANCELLED;
	}
	if (supply->kind == WS_SUPPLY_NONE) {
		return supply->failure ? WS_CELL_FAILED : WS_CELL_CANCELLED;
	}
	return supply->kind == WS_SUPPLY_FALLBACK ? WS_CELL_FALLBACK
		: supply->kind == WS_SUPPLY_PUBLISHED ? WS_CELL_PUBLISHED
											  : WS_CELL_READY;
}

const char *
ws_cell_state_name(const struct ws_cell_result *result)
{
	static const char *const names[] = {
		[WS_CELL_EXCLUDED] = "excluded",
		[WS_CELL_FAILED] = "failed",
		[WS_CELL_CANCELLED] = "cancelled",
	};
	enum ws_cell_state state = ws_cell_state(result);
	return state == WS_CELL_READY || state == WS_CELL_FALLBACK || state == WS_CELL_PUBLISHED
		? ws_supply_words[result->supply->kind]
		: names[state];
}

const char *
ws_cell_reason(const struct ws_cell_result *result)
{
	const struct ws_supply *supply = result->supply;
	if (supply && supply->why) {
		return supply->why;
	}
	return supply && supply->failure ? supply->failure->text : result->cell->why;
}

void
ws_attempts_add(const struct ws_candidates *candidates, const struct ws_candidate *chosen,
	struct ws_arena *a, ws_attempt_list *tried)
{
	for (size_t i = 0; i < candidates->count && &candidates->at[i] != chosen; i++) {
		const struct ws_candidate *candidate = &candidates->at[i];
		const char *state = ws_candidate_state_words[candidate->state];
		if (candidate->state != WS_CANDIDATE_UNOPENED && candidate->state != WS_CANDIDATE_LOADS) {
			*ws_vec_push(tried, a) = (struct ws_attempt){WS_SUPPLY_PREBUILT, candidate->file,
				candidate->why ? ws_arena_printf(a, "%s: %s", state, candidate->why) : state};
		}
	}
}

void
ws_supplies_open(struct ws_supplies *supplies, const struct ws_plan *plan, struct ws_arena *a)
{
	struct ws_supply **of = WS_NEW_N(a, struct ws_supply *, plan->product_count + 1);
	*supplies = (struct ws_supplies){
		.at = WS_NEW_N(a, struct ws_supply, plan->product_count + 1),
		.cells = WS_NEW_N(a, struct ws_cell_result, plan->cell_count + 1),
		.cell_count = plan->cell_count,
	};
	for (size_t i = 0; i < plan->product_count; i++) {
		const struct ws_product *product = plan->products[i];
		const char *why = NULL;
		/* The planned decision: the best of its cells. */
		enum ws_decision decision = WS_DECISION_EXCLUDED;
		for (size_t k = 0; k < product->cell_count; k++) {
			if (product->cells[k]->decision < decision) {
				decision = product->cells[k]->decision;
				why = product->cells[k]->why;
			}
		}
		if (decision == WS_DECISION_EXCLUDED) {
			continue;
		}
		struct ws_supply *supply = of[product->number] = &supplies->at[supplies->count++];
		supply->product = product;
		ws_attempts_add(&product->candidates, product->chosen, a, &supply->tried);
		if (decision == WS_DECISION_FALLBACK || product->published) {
			supply->kind = product->published ? WS_SUPPLY_PUBLISHED : WS_SUPPLY_FALLBACK;
			supply->why = why;
		}
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		bool waits = cell->product && cell->decision != WS_DECISION_EXCLUDED;
		supplies->cells[i] =
			(struct ws_cell_result){cell, waits ? of[cell->product->number] : NULL};
	}
}

/* The exit code of a finished check is a verdict or an error of the host (a full disk). A check
 * that timed out has not shown that the module loads, so it fails too. */
static void
refine(const struct ws_node *node)
{
	bool imports = strcmp(node->action->stage, "import") == 0;
	bool judges = imports || strcmp(node->action->stage, "check") == 0;
	if (!judges || node->failure->kind != WS_ERR_BUILD) {
		return;
	}
	int code = node->result.exit_code;
	if (code == ws_err_exit_code(WS_ERR_IO)) {
		node->failure->kind = WS_ERR_IO;
	} else if (code == ws_err_exit_code(WS_ERR_VERIFY)) {
		ws_err_set(node->failure, WS_ERR_VERIFY, "%s %s", node->action->subject,
			imports ? "cannot be imported" : "would not load");
	} else {
		node->failure->kind = WS_ERR_VERIFY;
	}
}

struct ws_failed_action
ws_failed_action_of(
	const struct ws_node *node, bool keep_work, const struct ws_store *store, struct ws_arena *a)
{
	size_t ask_count = 0;
	const struct ws_asking *asks = NULL;
	WS_AUTO_BUF struct ws_buf log = {0}, line = {0};
	refine(node);
	/* The units that need the symbols that a check misses. */
	if (strcmp(node->action->stage, "check") == 0 && node->result.log.hex[0]
		&& ws_cas_read(store, node->result.log.hex, &log, NULL)) {
		asks = ws_asking_find(node, ws_buf_str(&log), store, a, &ask_count);
	}
	const char *const *words =
		ws_action_words(node->action, node->action->argv, node->dir ? node->dir : "{work}", a);
	for (size_t i = 0; words[i]; i++) {
		ws_buf_puts(&line, i ? " " : "");
		ws_buf_put_quoted(&line, words[i]);
	}
	return (struct ws_failed_action){
		.cell = node->action->group,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.err = node->failure,
		.command = ws_buf_copy(&line, a),
		.log_digest = node->result.log,
		.elsewhere = node->action->platform != NULL,
		.folder = keep_work ? node->dir : NULL,
		.asks = asks,
		.ask_count = ask_count,
	};
}
