/* plan_json.c - each cell and each product is a JSON text on a line of its own, so that plans can
 * be compared line by line. */
#include "report/plan_text.h"

/* ---- types ---- */

/* A word, its JSON Schema; a word that @a its_text makes of a value. */
#define WORDS(its_schema) \
	{ \
		.name = "a word", .plural = "words", .size = sizeof(const char *), .kind = WS_KIND_TEXT, \
		.schema = (its_schema) \
	}
static const char *
arch_text(const void *value, struct ws_arena *a)
{
	return ws_arch_text(value, a);
}

static const struct ws_type type_arch = {
	.size = sizeof(struct ws_arch), .text = arch_text, .schema = "{\"type\": \"string\"}"};
static const struct ws_type type_drop_rule = {.kind = WS_KIND_WORD,
	.words = ws_rule_words,
	.schema = "{\"enum\": [\"archs\", \"known-bad\"]}"};
static const struct ws_type type_rule =
	WORDS("{\"enum\": [\"matrix\", \"not-installed\", \"torch-python\", \"torch-cuda\", "
		  "\"no-source\", \"no-kit\", \"no-target\", \"cxx-standard\", \"requires\", \"archs\", "
		  "\"known-bad\", \"cxx11abi\", \"no-python\", \"platform\", \"policy\", null]}");
static const struct ws_type type_decision =
	WORDS("{\"enum\": [\"cached\", \"prebuilt\", \"build\", \"fallback\", \"excluded\"]}");
static const struct ws_type type_platform = WORDS("{\"enum\": [\"x86_64\", \"aarch64\"]}");
static const struct ws_type type_binding =
	WORDS("{\"enum\": [\"pybind\", \"torch-library\", \"stable-abi\", \"c-abi\", \"none\"]}");
static const struct ws_type type_debug_info = WORDS("{\"enum\": [\"none\", \"lines\", \"full\"]}");
static const struct ws_type type_compress = WORDS("{\"enum\": [\"none\", \"all\", \"size\"]}");
static const struct ws_type type_key =
	WORDS("{\"type\": [\"string\", \"null\"], \"pattern\": \"^[0-9a-f]{64}$\"}");
static const struct ws_type type_abi = {.name = "0 or 1",
	.plural = "numbers",
	.size = sizeof(int),
	.kind = WS_KIND_SIGNED,
	.schema = "{\"enum\": [0, 1, null]}"};

/* ---- cost: an unknown value is null, because 0 would be wrong ---- */

struct cost_row {
	struct ws_cost cost;
	const uint64_t *cpu_ms, *rss_bytes;
};

#define COST struct cost_row
static const struct ws_field cost_fields[] = {
	WS_VALUE("actions", COST, cost.actions, WS_ALWAYS, "compilations, links, checks, packs"),
	WS_VALUE("units", COST, cost.units, WS_ALWAYS, "compilations among them"),
	WS_VALUE("unknown_units", COST, cost.unknown, WS_ALWAYS, "units of unknown CPU time"),
	WS_VALUE("rough_units", COST, cost.rough, WS_ALWAYS, "with the figures of torch's headers"),
	WS_VALUE("unmeasured_units", COST, cost.unmeasured, WS_ALWAYS, "units of unknown peak"),
	WS_POINTED_VALUE("cpu_ms", COST, cpu_ms, WS_OR_NULL, NULL),
	WS_VALUE("known_cpu_ms", COST, cost.cpu_ms, WS_ALWAYS, "of the units that are known"),
	WS_POINTED_VALUE("largest_rss_bytes", COST, rss_bytes, WS_OR_NULL, NULL),
};
static const struct ws_table cost_table = {"a cost", cost_fields, WS_LEN(cost_fields)};

static struct cost_row
row_of_cost(const struct ws_cost *cost)
{
	return (struct cost_row){
		*cost, cost->unknown ? NULL : &cost->cpu_ms, cost->unmeasured ? NULL : &cost->rss_bytes};
}

/* ---- cells ---- */

#define DROPPED struct ws_dropped_arch
static const struct ws_field dropped_fields[] = {
	WS_VALUE_AS("arch", DROPPED, arch, type_arch, WS_ALWAYS, NULL),
	WS_VALUE_AS("rule", DROPPED, rule, type_drop_rule, WS_ALWAYS, NULL),
	WS_VALUE("why", DROPPED, why, WS_ALWAYS, NULL),
	WS_VALUE("see", DROPPED, see, WS_OR_NULL, "a report about it"),
};
static const struct ws_table dropped_table = {NULL, dropped_fields, WS_LEN(dropped_fields)};

struct cell_row {
	struct ws_cell cell;
	struct cost_row cost;
	const char *package, *version, *torch, *torch_cuda, *cuda, *python, *arch, *archs_left,
		*platform, *decision, *rule;
	const bool *torch_known;
	const int *cxx11abi;
	const unsigned *product;
	size_t candidates;
};

#define CELL struct cell_row
static const struct ws_field cell_fields[] = {
	WS_VALUE("cell", CELL, cell.name, WS_ALWAYS, "its name"),
	WS_VALUE("package", CELL, package, WS_ALWAYS, NULL),
	WS_VALUE("version", CELL, version, WS_ALWAYS, NULL),
	WS_VALUE("torch", CELL, torch, WS_OR_NULL, NULL),
	WS_VALUE("torch_cuda", CELL, torch_cuda, WS_OR_NULL, "the CUDA that built this torch"),
	WS_POINTED_VALUE(
		"torch_known", CELL, torch_known, WS_IF_ANY, "false: by another release's rules"),
	WS_VALUE("cuda", CELL, cuda, WS_OR_NULL, NULL),
	WS_VALUE("python", CELL, python, WS_ALWAYS, NULL),
	WS_VALUE("arch", CELL, arch, WS_ALWAYS, "as in the matrix"),
	WS_VALUE("archs_left", CELL, archs_left, WS_ALWAYS, "the rest of it"),
	WS_VALUE_AS("platform", CELL, platform, type_platform, WS_ALWAYS, NULL),
	WS_FIELD_OF(
		"cxx11abi", CELL, cxx11abi, &type_abi, WS_OR_NULL | WS_FIELD_POINTER, NULL, .size = 0),
	WS_VALUE_AS("decision", CELL, decision, type_decision, WS_ALWAYS, NULL),
	WS_VALUE("why", CELL, cell.why, WS_ALWAYS, NULL),
	WS_VALUE_AS("rule", CELL, rule, type_rule, WS_OR_NULL, "the rule that excluded it"),
	WS_LIST_OF(
		"dropped_archs", CELL, cell.dropped, cell.dropped_count, dropped_table, WS_ALWAYS, NULL),
	WS_VALUE("candidates", CELL, candidates, WS_ALWAYS, "prebuilt wheels of the product"),
	WS_VALUE("not_built", CELL, cell.build_why, WS_OR_NULL,
		"why it cannot be built, while something else may serve it"),
	WS_POINTED_VALUE("product", CELL, product, WS_OR_NULL, "index into products"),
	WS_VALUE("group", CELL, cell.group, WS_ALWAYS, "cells of one group share kernels"),
	WS_OBJECT("cost", CELL, cost, cost_table, WS_ALWAYS, "of units that no earlier cell pays"),
};
static const struct ws_table cell_table = {"a cell", cell_fields, WS_LEN(cell_fields)};

/* ---- products ---- */

#define CANDIDATE struct ws_candidate
static const struct ws_field candidate_fields[] = {
	WS_VALUE("file", CANDIDATE, file, WS_ALWAYS, NULL),
	WS_VALUE("from", CANDIDATE, from, WS_ALWAYS, "the publisher, for people"),
	WS_VALUE("window", CANDIDATE, window, WS_ALWAYS, "its name has another torch minor"),
	WS_WORD("state", CANDIDATE, state, ws_candidate_state_words, WS_ALWAYS, NULL),
	WS_VALUE("why", CANDIDATE, why, WS_OR_NULL, NULL),
	WS_VALUE("see", CANDIDATE, see, WS_OR_NULL, NULL),
};
static const struct ws_table candidate_table = {NULL, candidate_fields, WS_LEN(candidate_fields)};

#define UNPUBLISHED struct ws_unpublished
static const struct ws_field unpublished_fields[] = {
	WS_VALUE("file", UNPUBLISHED, file, WS_ALWAYS, NULL),
	WS_VALUE("from", UNPUBLISHED, from, WS_ALWAYS, NULL),
	WS_VALUE("why", UNPUBLISHED, why, WS_ALWAYS, NULL),
};
static const struct ws_table unpublished_table = {
	NULL, unpublished_fields, WS_LEN(unpublished_fields)};

struct product_row {
	struct ws_product product;
	const char *distribution, *binding, *debug_info, *compress, *key, *prebuilt;
	bool build;
};

#define PRODUCT struct product_row
static const struct ws_field product_fields[] = {
	WS_VALUE("distribution", PRODUCT, distribution, WS_ALWAYS, NULL),
	WS_VALUE("version", PRODUCT, product.version, WS_ALWAYS, "with the label"),
	WS_VALUE("label", PRODUCT, product.label, WS_ALWAYS, NULL),
	WS_VALUE_AS("binding", PRODUCT, binding, type_binding, WS_ALWAYS, NULL),
	WS_VALUE_AS("debug_info", PRODUCT, debug_info, type_debug_info, WS_ALWAYS, NULL),
	WS_VALUE("glibc", PRODUCT, product.glibc, WS_OR_NULL,
		"it is linked for; null: this host's, or nothing is linked"),
	WS_VALUE_AS("compress", PRODUCT, compress, type_compress, WS_ALWAYS, "how nvcc packs GPU code"),
	WS_VALUE("python_tag", PRODUCT, product.python_tag, WS_ALWAYS, NULL),
	WS_VALUE("abi_tag", PRODUCT, product.abi_tag, WS_ALWAYS, NULL),
	WS_VALUE("requires_torch", PRODUCT, product.torch, WS_OR_NULL, "as in Requires-Dist"),
	WS_VALUE_AS("key", PRODUCT, key, type_key, WS_OR_NULL, "null: a pin is missing"),
	WS_VALUE("missing_pin", PRODUCT, product.missing_pin, WS_OR_NULL, NULL),
	WS_VALUE("cached", PRODUCT, product.wheel.file, WS_OR_NULL, "file name in the store"),
	WS_VALUE("build", PRODUCT, build, WS_ALWAYS, "it is to be built"),
	WS_VALUE("cells", PRODUCT, product.cell_count, WS_ALWAYS, "the number of its cells"),
	WS_LIST_OF("candidates", PRODUCT, product.candidates.at, product.candidates.count,
		candidate_table, WS_ALWAYS, "prebuilt wheels, in the order of the attempts"),
	WS_LIST_OF("never_published", PRODUCT, product.candidates.unpublished,
		product.candidates.unpublished_count, unpublished_table, WS_ALWAYS,
		"likely names that do not exist"),
	WS_VALUE("prebuilt", PRODUCT, prebuilt, WS_OR_NULL, "the candidate that is known to load"),
};
static const struct ws_table product_table = {"a product", product_fields, WS_LEN(product_fields)};

/* ---- totals ---- */

struct rule_row {
	const char *rule;
	unsigned cells;
};

static const struct ws_field rule_fields[] = {
	WS_VALUE("rule", struct rule_row, rule, WS_ALWAYS, NULL),
	WS_VALUE("cells", struct rule_row, cells, WS_ALWAYS, NULL),
};
static const struct ws_table rule_table = {NULL, rule_fields, WS_LEN(rule_fields)};

struct totals_row {
	struct ws_totals totals;
	struct cost_row cost;
	const struct rule_row *rules;
	size_t rule_count;
	const uint64_t *wall_ms, *peak_bytes;
};

#define TOTALS struct totals_row
#define CELLS(decision) totals.decisions[WS_DECISION_##decision]
static const struct ws_field totals_fields[] = {
	WS_VALUE("cached", TOTALS, CELLS(CACHED), WS_ALWAYS, "cells, as the next four"),
	WS_VALUE("prebuilt", TOTALS, CELLS(PREBUILT), WS_ALWAYS, NULL),
	WS_VALUE("build", TOTALS, CELLS(BUILD), WS_ALWAYS, NULL),
	WS_VALUE("fallback", TOTALS, CELLS(FALLBACK), WS_ALWAYS, NULL),
	WS_VALUE("excluded", TOTALS, CELLS(EXCLUDED), WS_ALWAYS, NULL),
	WS_VALUE("prebuilt_unopened", TOTALS, totals.unopened, WS_ALWAYS,
		"prebuilt cells for which no candidate is known to load"),
	WS_MAP("excluded_by", TOTALS, rules, rule_count, rule_table, WS_ALWAYS, "cells by rule"),
	WS_VALUE("products_to_build", TOTALS, totals.products, WS_ALWAYS, NULL),
	WS_OBJECT("cost", TOTALS, cost, cost_table, WS_ALWAYS, NULL),
	WS_VALUE("cores", TOTALS, totals.cores, WS_ALWAYS, "wall_ms is for so many"),
	WS_POINTED_VALUE("wall_ms", TOTALS, wall_ms, WS_OR_NULL, "at most, on this host"),
	WS_POINTED_VALUE("peak_bytes", TOTALS, peak_bytes, WS_OR_NULL, "memory of all jobs at once"),
};
static const struct ws_table totals_table = {NULL, totals_fields, WS_LEN(totals_fields)};

static void
write_totals(const struct ws_totals *totals, struct ws_buf *out)
{
	struct rule_row rules[WS_RULES];
	struct totals_row row = {
		.totals = *totals,
		.cost = row_of_cost(&totals->cost),
		.rules = rules,
		.wall_ms = totals->cost.unknown ? NULL : &totals->wall_ms,
		.peak_bytes = totals->cost.unmeasured ? NULL : &totals->peak_bytes,
	};
	for (int i = WS_RULE_NONE + 1; i < WS_RULES; i++) {
		if (totals->rules[i] > 0) {
			rules[row.rule_count++] = (struct rule_row){ws_rule_words[i], totals->rules[i]};
		}
	}
	ws_table_text(&totals_table, &row, WS_JSON_COMPACT, out);
}

/* ---- the plan ---- */

/* As the schema describes it; the rows are written one by one. */
struct plan_rows {
	const struct cell_row *cells;
	const struct product_row *products;
	struct totals_row totals;
	const char *const *warnings;
	size_t cell_count, product_count, warning_count;
};

#define PLAN struct plan_rows
static const struct ws_field plan_fields[] = {
	WS_FIXED("schema", "wheelsmith.plan/1"),
	WS_LIST_OF("cells", PLAN, cells, cell_count, cell_table, WS_ALWAYS, NULL),
	WS_LIST_OF("products", PLAN, products, product_count, product_table, WS_ALWAYS, NULL),
	WS_OBJECT("totals", PLAN, totals, totals_table, WS_ALWAYS, NULL),
	WS_LIST("warnings", PLAN, warnings, warning_count, WS_ALWAYS, NULL),
};
const struct ws_table ws_plan_table = {NULL, plan_fields, WS_LEN(plan_fields)};

void
ws_plan_json_write(const struct ws_plan *plan, struct ws_buf *out)
{
	ws_buf_puts(out, "{\n  \"schema\": \"wheelsmith.plan/1\",\n  \"cells\": [");
	for (size_t i = 0; i < plan->cell_count; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		ws_buf_puts(out, i > 0 ? ",\n    " : "\n    ");
		const struct ws_point *point = &plan->cells[i]->point;
		const struct ws_torch_choice *torch = point->torch;
		const struct ws_product *product = plan->cells[i]->product;
		struct cell_row row = {
			.cell = *plan->cells[i],
			.cost = row_of_cost(&plan->cells[i]->cost),
			.package = plan->cells[i]->recipe->name,
			.version = plan->cells[i]->recipe->version.text,
			.torch = torch ? torch->name : NULL,
			.torch_cuda = torch ? torch->cuda : NULL,
			.torch_known = torch ? &torch->known : NULL,
			.cuda = point->cuda ? point->cuda->name : NULL,
			.python = point->python->text,
			.arch = ws_arch_set_text(&point->arch->set, a),
			.archs_left = ws_arch_set_text(&point->archs, a),
			.platform = point->machine->name,
			.cxx11abi = point->cxx11abi >= 0 ? &point->cxx11abi : NULL,
			.decision = ws_decision_words[plan->cells[i]->decision],
			.rule = plan->cells[i]->decision == WS_DECISION_EXCLUDED
				? ws_rule_words[plan->cells[i]->rule]
				: NULL,
			.candidates = product ? product->candidates.count : 0,
			.product = product ? &product->number : NULL,
		};
		ws_table_text(&cell_table, &row, WS_JSON_COMPACT, out);
	}
	ws_buf_puts(out, "\n  ],\n  \"products\": [");
	for (size_t i = 0; i < plan->product_count; i++) {
		ws_buf_puts(out, i > 0 ? ",\n    " : "\n    ");
		struct product_row row = {
			.product = *plan->products[i],
			.distribution = plan->products[i]->recipe->distribution,
			.binding = ws_binding_words[plan->products[i]->binding],
			.debug_info = ws_debug_info_words[plan->products[i]->size.debug_info],
			.compress = ws_compress_words[plan->products[i]->size.compress],
			.key = plan->products[i]->key[0] ? plan->products[i]->key : NULL,
			.prebuilt = plan->products[i]->chosen ? plan->products[i]->chosen->file : NULL,
			.build = plan->products[i]->payer,
		};
		ws_table_text(&product_table, &row, WS_JSON_COMPACT, out);
	}
	ws_buf_puts(out, "\n  ],\n  \"totals\": ");
	write_totals(&plan->totals, out);
	ws_buf_puts(out, ",\n  \"warnings\": ");
	struct ws_json_writer *w = ws_json_begin();
	ws_json_add_texts(w, NULL, plan->warnings, plan->warning_count);
	ws_json_finish(w, WS_JSON_COMPACT, out);
	ws_buf_puts(out, "\n}\n");
}
