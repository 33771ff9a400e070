/* test_produce_run.c - what no selection leads to must still not be taken for success. Real builds
 * are in cli/. */
#include "test.h"

#include "base/fs.h"
#include "produce/run.h"

WS_TEST(a_cell_that_was_not_done_is_not_a_success)
{
	struct ws_err err = {0};
	const char *dir = ws_test_dir(a);
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, dir, "store", NULL), a, &store, &err), err);
	struct ws_ledger *ledger = store.ledger;
	assert_ok(ledger != NULL, err);
	struct ws_host host = ws_host_read("", a);
	struct ws_pins pins = {.a = a, .store = &store};
	struct ws_context ctx = {.a = a, .host = &host, .store = &store, .ledger = ledger};
	struct ws_recipe recipe = {.name = "tiny"};
	/* To be built, and of no product: a mistake of the plan's. */
	struct ws_cell cell = {
		.name = "tiny-1.0", .recipe = &recipe, .decision = WS_DECISION_BUILD, .why = "to be built"};
	struct ws_cell *cells[] = {&cell};
	struct ws_plan plan = {.cells = cells, .cell_count = 1};
	struct ws_matrix matrix = {0};
	struct ws_build_options options = {
		.matrix = &matrix, .output = ws_path_join(a, dir, "dist", NULL)};
	struct ws_build_result result;
	assert_fails(
		ws_build_run(&ctx, &pins, &plan, &options, a, &result, &err), err, WS_ERR_INTERNAL);
	assert_contains(err.text, "1 of 1 cells have no result");
	assert_contains(err.cure, "report");
	ws_store_close(&store);
}
