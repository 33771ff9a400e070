/* test_make_result.c - the result of a cell, from the supply of its product. */
#include "test.h"

#include "make/result.h"

/* A product of one cell, and a second cell that shares it. */
struct world {
	struct ws_recipe recipe;
	struct ws_cell cells[3], *wanted[2];
	const struct ws_cell *all[3];
	struct ws_product product;
	const struct ws_product *products[1];
	struct ws_plan plan;
	struct ws_supplies supplies;
};

static void
open_world(struct world *w, enum ws_decision first, enum ws_decision second, struct ws_arena *a)
{
	*w = (struct world){.recipe = {.name = "tiny"}};
	w->product = (struct ws_product){.recipe = &w->recipe, .cells = w->wanted, .cell_count = 2};
	for (size_t i = 0; i < 3; i++) {
		w->cells[i] = (struct ws_cell){.name = ws_arena_printf(a, "cell %zu", i),
			.recipe = &w->recipe,
			.why = ws_arena_printf(a, "why %zu", i),
			.decision = i == 0 ? first
				: i == 1       ? second
							   : WS_DECISION_EXCLUDED,
			.product = i < 2 ? &w->product : NULL};
		w->all[i] = &w->cells[i];
	}
	w->wanted[0] = &w->cells[0];
	w->wanted[1] = &w->cells[1];
	w->products[0] = &w->product;
	w->plan = (struct ws_plan){.cells = (void *)w->all,
		.cell_count = 3,
		.products = (void *)w->products,
		.product_count = 1};
	ws_supplies_open(&w->supplies, &w->plan, a);
}

static void
assert_cell(const struct world *w, size_t number, const char *state, const char *reason)
{
	const struct ws_cell_result *cell = &w->supplies.cells[number];
	assert_string_equal(ws_cell_state_name(cell), state);
	assert_string_equal(ws_cell_reason(cell), reason);
}

WS_TEST(a_product_without_a_waiting_cell_has_no_supply)
{
	struct world w;
	open_world(&w, WS_DECISION_EXCLUDED, WS_DECISION_EXCLUDED, a);
	assert_int_equal(w.supplies.count, 0);
	assert_cell(&w, 0, "excluded", "why 0");
	assert_cell(&w, 2, "excluded", "why 2");
}

WS_TEST(cells_that_share_a_product_share_its_supply)
{
	struct world w;
	struct ws_err failure = {.kind = WS_ERR_BUILD, .text = "nvcc failed"};
	open_world(&w, WS_DECISION_BUILD, WS_DECISION_EXCLUDED, a);
	assert_int_equal(w.supplies.count, 1);
	assert_true(ws_supply_is_open(&w.supplies.at[0]));
	assert_false(ws_supply_is_prebuilt(&w.supplies.at[0]));
	/* Not begun is not success. */
	assert_cell(&w, 0, "cancelled", "why 0");
	assert_cell(&w, 1, "excluded", "why 1");
	w.supplies.at[0].failure = &failure;
	assert_cell(&w, 0, "failed", "nvcc failed");
	w.supplies.at[0].failure = NULL;
	w.supplies.at[0].kind = WS_SUPPLY_BUILT;
	assert_cell(&w, 0, "build", "why 0");
	w.supplies.at[0].kind = WS_SUPPLY_FALLBACK;
	w.supplies.at[0].why = "sdpa: the build failed";
	assert_cell(&w, 0, "fallback", "sdpa: the build failed");
}

WS_TEST(a_fallback_of_the_plan_is_there_at_once)
{
	struct world w;
	open_world(&w, WS_DECISION_FALLBACK, WS_DECISION_FALLBACK, a);
	assert_int_equal(w.supplies.at[0].kind, WS_SUPPLY_FALLBACK);
	assert_false(ws_supply_is_open(&w.supplies.at[0]));
	assert_cell(&w, 1, "fallback", "why 0");
}

WS_TEST(a_prebuilt_wheel_that_cannot_be_fetched_has_a_reason)
{
	struct world w;
	struct ws_err err = {0};
	struct ws_candidate candidates[] = {
		{.file = "a.whl", .state = WS_CANDIDATE_FAILS, .why = "it does not load"},
		{.file = "b.whl", .state = WS_CANDIDATE_UNOPENED, .why = "no answer in 5 s"},
	};
	open_world(&w, WS_DECISION_PREBUILT, WS_DECISION_PREBUILT, a);
	struct ws_supply *supply = &w.supplies.at[0];
	assert_true(ws_supply_is_prebuilt(supply));
	assert_fails(ws_supply_fail_prebuilt(supply, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "no index could be asked for one");
	w.product.candidates = (struct ws_candidates){.at = candidates, .count = 2};
	assert_fails(ws_supply_fail_prebuilt(supply, &err), err, WS_ERR_FETCH);
	assert_string_equal(err.text, "cell 0: no prebuilt wheel: no answer in 5 s");
}

WS_TEST(tried_candidates_are_the_opened_ones_before_the_chosen_one)
{
	struct ws_candidate candidates[] = {
		{.file = "a.whl", .state = WS_CANDIDATE_FAILS, .why = "it does not load"},
		{.file = "b.whl", .state = WS_CANDIDATE_UNOPENED},
		{.file = "c.whl", .state = WS_CANDIDATE_ABSENT},
		{.file = "d.whl", .state = WS_CANDIDATE_LOADS},
		{.file = "e.whl", .state = WS_CANDIDATE_REFUSED, .why = "by its name"},
	};
	struct ws_candidates all = {.at = candidates, .count = WS_LEN(candidates)};
	ws_attempt_list tried = {0}, everything = {0};
	ws_attempts_add(&all, &candidates[3], a, &tried);
	assert_int_equal(tried.len, 2);
	assert_string_equal(tried.at[0].name, "a.whl");
	assert_string_equal(tried.at[0].why, "fails: it does not load");
	assert_string_equal(tried.at[1].why, "absent");
	ws_attempts_add(&all, NULL, a, &everything);
	assert_int_equal(everything.len, 3);
	assert_string_equal(everything.at[2].why, "refused: by its name");
}
