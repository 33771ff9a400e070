/* plan_json.c - each cell and each product is a JSON text on a line of its own, so that plans can
 * be compared line by line. */
#include "base/json.h"
#include "report/plan_text.h"

/* An unknown value is null, because 0 would be wrong. */
static void
add_known(struct ws_json_writer *w, const char *key, uint64_t value, bool known)
{
	if (known) {
		ws_json_add_u64(w, key, value);
	} else {
		ws_json_add_null(w, key);
	}
}

static void
add_cost(struct ws_json_writer *w, const struct ws_cost *cost)
{
	ws_json_open_object(w, "cost");
	ws_json_add_u64(w, "actions", cost->actions);
	ws_json_add_u64(w, "units", cost->units);
	ws_json_add_u64(w, "unknown_units", cost->unknown);
	ws_json_add_u64(w, "rough_units", cost->rough);
	ws_json_add_u64(w, "unmeasured_units", cost->unmeasured);
	add_known(w, "cpu_ms", cost->cpu_ms, cost->unknown == 0);
	ws_json_add_u64(w, "known_cpu_ms", cost->cpu_ms);
	add_known(w, "largest_rss_bytes", cost->rss_bytes, cost->unmeasured == 0);
	ws_json_close(w);
}

static void
add_dropped(struct ws_json_writer *w, const struct ws_cell *cell, struct ws_arena *a)
{
	ws_json_open_list(w, "dropped_archs");
	for (size_t i = 0; i < cell->dropped_count; i++) {
		const struct ws_dropped_arch *dropped = &cell->dropped[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "arch", ws_arch_text(&dropped->arch, a));
		ws_json_add_text(w, "rule", ws_rule_name(dropped->rule));
		ws_json_add_text(w, "why", dropped->why);
		ws_json_add_text(w, "see", dropped->see);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
add_point(struct ws_json_writer *w, const struct ws_point *point, struct ws_arena *a)
{
	const struct ws_torch_choice *torch = point->torch;
	ws_json_add_text(w, "torch", torch ? torch->name : NULL);
	ws_json_add_text(w, "torch_cuda", torch ? torch->cuda : NULL);
	if (torch) {
		ws_json_add_bool(w, "torch_known", torch->known);
	}
	ws_json_add_text(w, "cuda", point->cuda ? point->cuda->name : NULL);
	ws_json_add_text(w, "python", point->python->text);
	ws_json_add_text(w, "arch", ws_arch_set_text(&point->arch->set, a));
	ws_json_add_text(w, "archs_left", ws_arch_set_text(&point->archs, a));
	ws_json_add_text(w, "platform", point->machine->name);
	add_known(w, "cxx11abi", (uint64_t)point->cxx11abi, point->cxx11abi >= 0);
}

static void
write_cell(const struct ws_cell *cell, struct ws_buf *out, struct ws_arena *a)
{
	bool excluded = cell->decision == WS_DECISION_EXCLUDED;
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "cell", cell->name);
	ws_json_add_text(w, "package", cell->recipe->name);
	ws_json_add_text(w, "version", cell->recipe->version.text);
	add_point(w, &cell->point, a);
	ws_json_add_text(w, "decision", ws_decision_name(cell->decision));
	ws_json_add_text(w, "why", cell->why);
	ws_json_add_text(w, "rule", excluded ? ws_rule_name(cell->rule) : NULL);
	add_dropped(w, cell, a);
	ws_json_add_u64(w, "candidates", cell->product ? cell->product->candidates.count : 0);
	ws_json_add_text(w, "not_built", cell->build_why);
	add_known(w, "product", cell->product ? cell->product->number : 0, cell->product);
	ws_json_add_u64(w, "group", cell->group);
	add_cost(w, &cell->cost);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

static void
add_candidates(struct ws_json_writer *w, const struct ws_product *product)
{
	const struct ws_candidates *all = &product->candidates;
	ws_json_open_list(w, "candidates");
	for (size_t i = 0; i < all->count; i++) {
		const struct ws_candidate *candidate = &all->at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "file", candidate->file);
		ws_json_add_text(w, "from", candidate->from);
		ws_json_add_bool(w, "window", candidate->window);
		ws_json_add_text(w, "state", ws_candidate_state_name(candidate->state));
		ws_json_add_text(w, "why", candidate->why);
		ws_json_add_text(w, "see", candidate->see);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "never_published");
	for (size_t i = 0; i < all->unpublished_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "file", all->unpublished[i].file);
		ws_json_add_text(w, "from", all->unpublished[i].from);
		ws_json_add_text(w, "why", all->unpublished[i].why);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_add_text(w, "prebuilt", product->chosen ? product->chosen->file : NULL);
}

static void
write_product(const struct ws_product *product, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "distribution", product->recipe->distribution);
	ws_json_add_text(w, "version", product->version);
	ws_json_add_text(w, "label", product->label);
	ws_json_add_text(w, "binding", ws_binding_name(product->binding));
	ws_json_add_text(w, "debug_info", ws_debug_info_name(product->size.debug_info));
	ws_json_add_text(w, "glibc", product->glibc);
	ws_json_add_text(w, "compress", ws_compress_name(product->size.compress));
	ws_json_add_text(w, "python_tag", product->python_tag);
	ws_json_add_text(w, "abi_tag", product->abi_tag);
	ws_json_add_text(w, "requires_torch", product->torch);
	ws_json_add_text(w, "key", product->key[0] ? product->key : NULL);
	ws_json_add_text(w, "missing_pin", product->missing_pin);
	ws_json_add_text(w, "cached", product->wheel.file);
	ws_json_add_bool(w, "build", product->payer);
	ws_json_add_u64(w, "cells", product->cell_count);
	add_candidates(w, product);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

static void
write_totals(const struct ws_totals *totals, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	for (int i = 0; i < WS_DECISIONS; i++) {
		ws_json_add_u64(w, ws_decision_name((enum ws_decision)i), totals->decisions[i]);
	}
	ws_json_add_u64(w, "prebuilt_unopened", totals->unopened);
	ws_json_open_object(w, "excluded_by");
	for (int i = WS_RULE_NONE + 1; i < WS_RULES; i++) {
		if (totals->rules[i] > 0) {
			ws_json_add_u64(w, ws_rule_name((enum ws_rule)i), totals->rules[i]);
		}
	}
	ws_json_close(w);
	ws_json_add_u64(w, "products_to_build", totals->products);
	add_cost(w, &totals->cost);
	ws_json_add_u64(w, "cores", totals->cores);
	add_known(w, "wall_ms", totals->wall_ms, totals->cost.unknown == 0);
	add_known(w, "peak_bytes", totals->peak_bytes, totals->cost.unmeasured == 0);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

static void
write_warnings(const struct ws_plan *plan, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_list(w, NULL);
	for (size_t i = 0; i < plan->warning_count; i++) {
		ws_json_add_text(w, NULL, plan->warnings[i]);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

void
ws_plan_json_write(const struct ws_plan *plan, struct ws_buf *out)
{
	ws_buf_puts(out, "{\n  \"schema\": \"wheelsmith.plan/1\",\n  \"cells\": [");
	for (size_t i = 0; i < plan->cell_count; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		ws_buf_puts(out, i > 0 ? ",\n    " : "\n    ");
		write_cell(plan->cells[i], out, a);
	}
	ws_buf_puts(out, "\n  ],\n  \"products\": [");
	for (size_t i = 0; i < plan->product_count; i++) {
		ws_buf_puts(out, i > 0 ? ",\n    " : "\n    ");
		write_product(plan->products[i], out);
	}
	ws_buf_puts(out, "\n  ],\n  \"totals\": ");
	write_totals(&plan->totals, out);
	ws_buf_puts(out, ",\n  \"warnings\": ");
	write_warnings(plan, out);
	ws_buf_puts(out, "\n}\n");
}
