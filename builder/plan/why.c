#include "plan/plan.h"

#include <inttypes.h>

#define MOST_CELLS 12
#define DIGITS 12 /* of a digest: enough to compare by eye */

/* "  title     text"; an empty title goes on below the one before. */
WS_PRINTF(3, 4)
static void
line(struct ws_buf *out, const char *title, const char *format, ...)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	va_list values;
	va_start(values, format);
	ws_buf_printf(out, "  %-9s %s\n", title, ws_arena_vprintf(a, format, values));
	va_end(values);
}

static void
write_decision(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out,
	struct ws_err *cures, struct ws_arena *a)
{
	line(out, "decision", "%s: %s", ws_decision_words[cell->decision], cell->why);
	if (cell->see) {
		line(out, "", "see %s", cell->see);
	}
	if (cell->rule == WS_RULE_TARGET) { /* toolkits of torch's CUDA major that have the targets */
		const struct ws_torch_choice *torch = cell->point.torch;
		const struct ws_arch_set *archs = &cell->point.arch->set;
		unsigned major = torch ? torch->cuda_major : 0;
		const char *first = NULL;
		WS_AUTO_BUF struct ws_buf list = {0};
		for (size_t i = 0; i < in->facts->cuda_count; i++) {
			const struct ws_cuda_toolkit *toolkit = &in->facts->cuda[i];
			if ((major == 0 || toolkit->version.major == major)
				&& ws_cuda_has_targets(toolkit, archs)) {
				ws_buf_printf(&list, "%s%s", first ? ", " : "", toolkit->version.text);
				first = first ? first : toolkit->version.text;
			}
		}
		if (first) {
			line(out, "", "CUDA %s can", ws_buf_text(&list));
			ws_err_cure_code(cures, WS_CURE_CUDA, first);
		} else if (torch) {
			line(out, "", "no CUDA %u toolkit has %s, as far as is known", major,
				ws_arch_set_text(archs, a));
		}
	}
	const struct ws_err *missing = cell->point.python->missing;
	if (cell->rule == WS_RULE_INTERPRETER && missing) {
		for (size_t i = 0; i < missing->cure_count; i++) {
			ws_err_cure_code(cures, missing->cures[i].code, missing->cures[i].subject);
		}
	}
	if (cell->build_why && cell->decision != WS_DECISION_EXCLUDED
		&& cell->decision != WS_DECISION_CACHED) {
		line(out, "", "not built: %s", cell->build_why);
	}
}

/* The state of each candidate in their order, and names that were never published. */
static void
write_candidates(const struct ws_candidates *candidates, struct ws_buf *out)
{
	for (size_t i = 0; i < candidates->count; i++) {
		const struct ws_candidate *candidate = &candidates->at[i];
		bool unopened = candidate->state == WS_CANDIDATE_UNOPENED;
		line(out, i > 0 ? "" : "wheels", "%s", candidate->file);
		line(out, "", "  of %s%s: %s%s%s%s%s", candidate->from,
			candidate->window ? ", for another torch" : "",
			unopened ? "not opened yet" : ws_candidate_state_words[candidate->state],
			candidate->why ? ": " : "", candidate->why ? candidate->why : "",
			candidate->see ? "; see " : "", candidate->see ? candidate->see : "");
	}
	for (size_t i = 0; i < candidates->unpublished_count; i++) {
		const struct ws_unpublished *name = &candidates->unpublished[i];
		line(out, i + candidates->count > 0 ? "" : "wheels", "never published: %s", name->file);
		line(out, "", "  of %s: %s", name->from, name->why);
	}
}

static void
write_torch(const struct ws_cell *cell, struct ws_buf *out, struct ws_arena *a)
{
	static const char *const sources[] = {
		[WS_TORCH_FACTS] = "facts",
		[WS_TORCH_LOCK] = "lock",
		[WS_TORCH_INTERPRETER] = "it was asked",
		[WS_TORCH_GUESS] = "a guess",
	};
	const struct ws_torch_choice *torch = cell->point.torch;
	if (!torch) {
		line(out, "torch", "not in the matrix; this package does not need it");
		return;
	}
	if (!torch->version.text) {
		line(out, "torch", "\"installed\", but this Python has no torch");
		return;
	}
	line(out, "torch", "%s%s", torch->name, torch->installed ? ", installed in this Python" : "");
	if (!torch->known) {
		line(out, "", "the facts do not know it: the rules are those of torch %s",
			torch->release->version.text);
	}
	line(out, "", "built %s%s and with cxx11abi %d (%s)%s",
		torch->cuda ? "for CUDA " : "without CUDA", torch->cuda ? torch->cuda : "", torch->cxx11abi,
		sources[torch->source], torch->standard ? "" : ", not the default index's build");
	line(out, "", "its headers need C++%u", torch->release->cxx_std);
	if (!torch->installed) {
		const struct ws_torch_release *release = torch->release;
		WS_AUTO_BUF struct ws_buf list = {0};
		for (size_t i = 0; i < release->python_count; i++) {
			ws_buf_printf(&list, " %s", ws_python_version_text(&release->pythons[i], a));
		}
		line(
			out, "", "torch %s has wheels for Python%s", release->version.text, ws_buf_text(&list));
	}
}

static void
write_cuda(const struct ws_cell *cell, struct ws_buf *out, struct ws_arena *a)
{
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	if (!cuda) {
		line(out, "cuda", "\"auto\", without a torch or a kit to decide");
		return;
	}
	const struct ws_torch_choice *torch = cell->point.torch;
	const char *choice = !cell->point.cuda_auto ? ""
		: !torch                                ? ", \"auto\": the newest kit"
		: ws_same(torch->cuda, cuda->name)
		? ", \"auto\": what this torch was built with"
		: ", \"auto\": the nearest of this torch's CUDA major that serves";
	line(out, "cuda", "%s%s", cuda->name, choice);
	if (cuda->origin == WS_KIT_HOST) {
		line(out, "", "compiled with this host's toolkit%s", cuda->pin ? ", locked" : "");
	} else if (cuda->origin == WS_KIT_ARCHIVE) {
		line(out, "", "compiled with the archive kit %s%s", cuda->kit, cuda->pin ? ", locked" : "");
	} else if (cuda->origin == WS_KIT_REDIST) {
		line(out, "", "compiled with NVIDIA's redistributables%s", cuda->pin ? ", locked" : "");
	} else {
		line(out, "", "no toolkit of that version is available");
	}
	if (torch && torch->cuda && !ws_same(torch->cuda, cuda->name)
		&& cuda->version.major == torch->cuda_major) {
		line(out, "", "this torch was built with %s: majors must agree, minors need not",
			torch->cuda);
	}
	if (!cuda->toolkit) {
		line(out, "", "the facts do not know it");
		return;
	}
	line(out, "", "its targets are %s", ws_arch_set_text(&cuda->toolkit->archs, a));
	if (cuda->toolkit->cxx_std_max > 0) {
		line(out, "", "it supports up to C++%u", cuda->toolkit->cxx_std_max);
	}
}

static void
write_archs(const struct ws_cell *cell, struct ws_buf *out, struct ws_arena *a)
{
	const struct ws_arch_choice *arch = cell->point.arch;
	const char *asked = ws_arch_set_text(&arch->set, a);
	if (arch->set.count == 0) {
		line(out, "archs", "any: this package has no compiled code");
	} else if (arch->value->host) {
		line(out, "archs", "%s, \"host\": the GPUs of this host", asked);
	} else if (ws_same(asked, arch->value->text)) {
		line(out, "archs", "%s", asked);
	} else {
		line(out, "archs", "%s, \"%s\"", asked, arch->value->text);
	}
	for (size_t i = 0; i < cell->dropped_count; i++) {
		const struct ws_dropped_arch *dropped = &cell->dropped[i];
		line(out, "", "%s left: %s%s%s", ws_arch_text(&dropped->arch, a), dropped->why,
			dropped->see ? "; see " : "", dropped->see ? dropped->see : "");
	}
}

/* Rules are asked in the order of their enum, up to the first that excludes. */
static void
write_rules(const struct ws_cell *cell, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf asked = {0};
	int last = cell->rule == WS_RULE_NONE ? WS_RULES : (int)cell->rule;
	for (int rule = WS_RULE_NONE + 1; rule < last; rule++) {
		ws_buf_printf(&asked, "%s%s", asked.len > 0 ? ", " : "", ws_rule_words[rule]);
	}
	bool none = cell->rule == WS_RULE_NONE;
	line(out, "rules", "%s excludes it", none ? "none" : ws_rule_words[cell->rule]);
	if (asked.len > 0) {
		line(out, "", "%s: %s", none ? "asked" : "asked before", ws_buf_text(&asked));
	}
}

/* ---- its wheel ---- */

static void
write_wheel(const struct ws_cell *cell, struct ws_buf *out)
{
	const struct ws_product *product = cell->product;
	line(out, "wheel", "%s %s, %s-%s%s", product->recipe->distribution, product->version,
		product->python_tag, product->abi_tag,
		product->pure ? "-any" : ", platform measured when linked");
	if (product->torch) {
		line(out, "", "it will ask for %s", product->torch);
	}
	if (product->point.torch && cell->point.torch && product->binding != WS_BINDING_NONE) {
		bool other =
			ws_version_cmp(&product->point.torch->version, &cell->point.torch->version) != 0;
		line(out, "", "made for torch %s%s", product->point.torch->version.text,
			other ? ", the lowest that it serves" : "");
	}
	size_t shown = 0;
	for (size_t i = 0; i < product->cell_count && shown < MOST_CELLS; i++) {
		if (product->cells[i] != cell) {
			line(out, shown++ ? "" : "serves", "%s", product->cells[i]->name);
		}
	}
	if (product->cell_count > shown + 1) {
		line(out, "", "and %zu more", product->cell_count - shown - 1);
	}
}

static void
write_pins(const struct ws_plan_input *in, const struct ws_product *product, struct ws_buf *out)
{
	const struct ws_point *point = &product->point;
	const struct ws_pin_source *source =
		ws_lock_source(in->lock, product->recipe->name, product->recipe->version.text);
	const char *title = "pins";
	if (source) {
		line(out, title, "source: %s %s, tree %.*s", source->how, source->from, DIGITS,
			source->tree);
		title = "";
	}
	if (point->cuda && point->cuda->pin) {
		const struct ws_pin_cuda *pin = point->cuda->pin;
		line(out, title, "cuda: %s %s, %.*s", pin->how, pin->name, DIGITS, pin->digest);
		title = "";
	}
	if (point->torch && point->torch->pin) {
		const struct ws_pin_torch *pin = point->torch->pin;
		line(out, title, "torch: %s, tree %.*s", pin->wheel, DIGITS, pin->tree);
		title = "";
	}
	if (point->torch && point->torch->record) {
		line(out, title, "torch: installed, RECORD %.*s", DIGITS, point->torch->record);
		title = "";
	}
	if (product->missing_pin) {
		line(out, title, "%s is not locked, so nothing can be cached", product->missing_pin);
	} else {
		line(out, "key", "%s", product->key);
	}
}

/* "112 s, 1149 MiB (ledger)". */
static const char *
unit_cost(const struct ws_plan_unit *unit, struct ws_arena *a)
{
	const char *from = unit->measured ? "ledger"
		: unit->rough                 ? "rough: torch's headers"
									  : "recipe";
	const char *memory = unit->cost.rss_bytes
		? ws_arena_printf(a, "%" PRIu64 " MiB", unit->cost.rss_bytes >> 20)
		: "memory unknown";
	if (unit->cost.cpu_ms) {
		return ws_arena_printf(
			a, "%" PRIu64 " s cpu, %s (%s)", (unit->cost.cpu_ms + 999) / 1000, memory, from);
	}
	return unit->cost.rss_bytes ? ws_arena_printf(a, "cpu unknown, %s (%s)", memory, from)
								: "cost unknown";
}

static void
write_units(const struct ws_cell *cell, struct ws_buf *out, struct ws_arena *a)
{
	const struct ws_product *product = cell->product;
	const struct ws_plan_units *units = product->units;
	const struct ws_cost *cost = &cell->cost;
	for (size_t i = 0; i < units->count; i++) {
		const struct ws_plan_unit *unit = &units->at[i];
		const char *files = unit->files > 1 ? ws_arena_printf(a, "%u of ", unit->files) : "";
		line(out, i > 0 ? "" : "units", "%s%s: %s", files, unit->path, unit_cost(unit, a));
	}
	if (product->kernels) {
		line(
			out, "", "the .cu units are compiled for %s already", product->kernels->cells[0]->name);
	}
	if (cell != product->payer) {
		line(out, "cost", "%s pays for the wheel", product->payer->name);
		return;
	}
	const char *known = cost->cpu_ms ? ws_arena_printf(a, "%s %" PRIu64 " s cpu",
							cost->rough ? "about" : "at most", (cost->cpu_ms + 999) / 1000)
									 : "";
	const char *unknown =
		cost->unknown ? ws_arena_printf(a, "%u units of unknown cost", cost->unknown) : "";
	line(out, "cost", "%u actions, %s%s%s", cost->actions, cost->units ? known : "no compilations",
		known[0] && unknown[0] ? " and " : "", unknown);
}

void
ws_why_write(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out,
	struct ws_err *cures)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_recipe *recipe = cell->recipe;
	ws_buf_printf(out, "%s\n", cell->name);
	write_decision(in, cell, out, cures, a);
	if (cell->candidates) {
		write_candidates(cell->candidates, out);
	}
	if (cell->candidates && cell->candidates->asked == WS_INDEXES_BEFORE
		&& cell->decision == WS_DECISION_BUILD && in->matrix->policy == WS_POLICY_PREFER_PREBUILT) {
		line(out, "indexes", "asked in an earlier run; wheels that are newer are not looked for");
		ws_err_cure_code(cures, WS_CURE_ASK_AGAIN, recipe->name);
	}
	line(out, "package", "%s %s, binding %s", recipe->name, recipe->version.text,
		ws_binding_words[ws_recipe_binding(recipe)]);
	line(out, "", "recipe %s", recipe->path);
	if (cell->extra) {
		line(out, "", "an extra point of the matrix");
	}
	write_torch(cell, out, a);
	write_cuda(cell, out, a);
	const struct ws_python_choice *python = cell->point.python;
	line(out, "python", "%s%s%s", python->text,
		python->value->path       ? ", "
			: python->value->host ? ", \"host\": the python3 on PATH"
								  : "",
		python->value->path ? python->value->path : "");
	write_archs(cell, out, a);
	if (cell->point.cxx11abi >= 0) {
		line(out, "cxx11abi", "%d%s", cell->point.cxx11abi,
			cell->point.abi_auto ? ", \"auto\": this torch's own" : ", from the matrix");
	}
	write_rules(cell, out);
	const struct ws_product *product = cell->product;
	if (!product) {
		return;
	}
	write_wheel(cell, out);
	write_pins(in, product, out);
	if (product->wheel.file) {
		line(out, "store", "%s%s%s", product->wheel.file, product->wheel.date ? ", built " : "",
			product->wheel.date ? product->wheel.date : "");
	}
	if (product->units) {
		write_units(cell, out, a);
	}
}
