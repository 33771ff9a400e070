/* test_plan_cases.c - matrices and what is planned for them: tests/cases/plan. plan_world.h
 * documents the members of a case; @args selects the output:
 *
 *   (nothing)      each cell: name, decision, reason; then warnings
 *   --only GLOBS --shard I/N      as the command's
 *   --products --totals --keys    more lines; --wheels: as --products, without costs
 *   --table WIDTH --json --github --why GLOB      that instead of the cells */
#include "test.h"

#include "plan_world.h"
#include "report/plan_text.h"

#include <inttypes.h>

struct args {
	const char *why;
	const char *table; /* its width */
	bool json, github, products, wheels, totals, keys;
};

static void
read_args(const char *text, struct ws_arena *a, struct args *args, struct ws_plan_input *input)
{
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str word = ws_str_cut(&rest, ' ');
		args->json = args->json || ws_str_is(word, "--json");
		args->github = args->github || ws_str_is(word, "--github");
		args->products = args->products || ws_str_is(word, "--products");
		args->wheels = args->wheels || ws_str_is(word, "--wheels");
		args->totals = args->totals || ws_str_is(word, "--totals");
		args->keys = args->keys || ws_str_is(word, "--keys");
		const char **into = ws_str_is(word, "--why") ? &args->why
			: ws_str_is(word, "--table")             ? &args->table
			: ws_str_is(word, "--only")              ? &input->only
													 : NULL;
		if (into) {
			*into = ws_str_copy(ws_str_cut(&rest, ' '), a);
		} else if (ws_str_is(word, "--shard")) {
			const char *shard = ws_str_copy(ws_str_cut(&rest, ' '), a);
			assert_true(ws_shard_parse(shard, &input->shard, &input->shards));
		}
	}
}

static void
print_cells(const struct ws_plan *plan, struct ws_buf *got)
{
	size_t widest = 0;
	for (size_t i = 0; i < plan->cell_count; i++) {
		size_t len = strlen(plan->cells[i]->name);
		widest = len > widest ? len : widest;
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		ws_buf_printf(got, "%-*s   %-8s   %s\n", (int)widest, cell->name,
			ws_decision_words[cell->decision], cell->why);
	}
	for (size_t i = 0; i < plan->warning_count; i++) {
		ws_buf_printf(got, "warning: %s\n", plan->warnings[i]);
	}
}

static void
print_cost(const struct ws_cost *cost, struct ws_buf *got)
{
	ws_buf_printf(got, "%u actions, %u units (%u unknown), %" PRIu64 " s, largest %" PRIu64 " MiB",
		cost->actions, cost->units, cost->unknown, cost->cpu_ms / 1000, cost->rss_bytes >> 20);
}

static void
print_products(const struct ws_plan *plan, const struct args *args, struct ws_buf *got)
{
	for (size_t i = 0; i < plan->product_count; i++) {
		const struct ws_product *product = plan->products[i];
		ws_buf_printf(got, "%s %s %s-%s%s, %s, for torch %s and CUDA %s, %zu cells\n",
			product->recipe->distribution, product->version, product->python_tag, product->abi_tag,
			product->pure ? "-any" : "", product->torch ? product->torch : "no torch of its own",
			product->point.torch ? product->point.torch->version.text : "none",
			product->point.cuda ? product->point.cuda->name : "none", product->cell_count);
		if (args->keys) {
			ws_buf_printf(
				got, "    key %s\n", product->missing_pin ? product->missing_pin : product->key);
		} else if (product->payer && !args->wheels) {
			ws_buf_puts(got, "    ");
			print_cost(&product->cost, got);
			ws_buf_putc(got, '\n');
		}
	}
}

static void
print_totals(const struct ws_totals *totals, struct ws_buf *got)
{
	ws_buf_printf(got, "total: %u products, ", totals->products);
	print_cost(&totals->cost, got);
	ws_buf_printf(got, ", %" PRIu64 " s on %u cores, peak %" PRIu64 " MiB\n",
		totals->wall_ms / 1000, totals->cores, totals->peak_bytes >> 20);
}

static bool
print_plan(const struct world *world, const struct ws_plan *plan, const struct args *args,
	struct ws_buf *got, struct ws_err *err)
{
	if (args->why) {
		const struct ws_cell *cell = ws_plan_find(plan, args->why, err);
		if (cell) {
			struct ws_err cures = {0};
			ws_why_write(&world->input, cell, got, &cures);
			for (size_t i = 0; i < cures.cure_count; i++) {
				ws_buf_printf(got, "(cure: %s %s)\n", ws_cure_words[cures.cures[i].code],
					cures.cures[i].subject);
			}
		}
		return cell;
	}
	if (args->table) {
		ws_plan_table_write(plan, (unsigned)strtoul(args->table, NULL, 10), got);
	} else if (args->json) {
		ws_plan_json_write(plan, got);
	} else if (args->github) {
		ws_buf_printf(got, "%zu jobs\n", ws_plan_github_write(plan, got));
	} else {
		print_cells(plan, got);
	}
	if (args->products || args->wheels || args->keys) {
		print_products(plan, args, got);
	}
	if (args->totals) {
		print_totals(&plan->totals, got);
	}
	return true;
}

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	char printed[WS_ERR_PRINTED];
	struct ws_err err = {0};
	struct world world;
	struct ws_plan plan;
	struct args args = {0};
	bool ok = world_read(c, a, &world, &err);
	if (ok) {
		read_args(ws_case_text(c, "args"), a, &args, &world.input);
		ok = ws_plan_make(&world.input, a, &plan, &err)
			&& print_plan(&world, &plan, &args, got, &err);
	}
	if (!ok) {
		ws_buf_puts(got, ws_err_print(&err, printed));
	}
}

WS_TEST(cases)
{
	ws_cases_check(WS_TESTS_DIR "/cases/plan", run_case);
}
