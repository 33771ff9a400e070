/* verdict.c - the tables of verdict.json, and a verdict made of the outcomes in each place. */
#include "judge/verdict.h"

#include "judge/wheel_facts.h"
#include "store/cas.h"

const char *const ws_verdict_words[] = {[WS_VERDICT_OK] = "loads",
	[WS_VERDICT_EXCLUDED] = "excluded",
	[WS_VERDICT_UNKNOWN] = "unknown",
	[WS_VERDICT_FAILS] = "fails",
	NULL};

const char *const ws_finding_words[] = {[WS_VERDICT_OK] = "ok",
	[WS_VERDICT_EXCLUDED] = "excluded",
	[WS_VERDICT_UNKNOWN] = "unknown",
	[WS_VERDICT_FAILS] = "fails",
	NULL};

/* ---- tables ---- */

static const struct ws_type type_cause = {
	.name = "a cause",
	.plural = "causes",
	.size = sizeof(const char *),
	.kind = WS_KIND_TEXT,
	.schema =
		"{\"enum\": [\"cxx11abi\", \"torch\", \"python\", \"no-python\", \"cuda\", "
		"\"driver\", \"library\", \"sibling\", \"glibc\", \"gpu\", \"tags\", \"label\", "
		"\"module\", \"requires-python\", \"requires-torch\", \"damaged\", \"unreadable\", "
		"\"symbol\", \"trust\", \"loader\", \"known-bad\", \"optional\", \"replaces\", null]}",
};

#define VERDICT(owner, what) \
	WS_WORD("verdict", owner, verdict, ws_verdict_words, WS_ALWAYS, what), \
		WS_VALUE("why", owner, why, WS_OR_NULL, "the finding that decided; null: it loads"), \
		WS_VALUE_AS("cause", owner, cause, type_cause, WS_OR_NULL, \
			"the subject of that finding; null: another one")

static const struct ws_field finding_fields[] = {
	WS_WORD("finding", struct ws_finding, verdict, ws_finding_words, WS_ALWAYS, NULL),
	WS_VALUE_AS("cause", struct ws_finding, cause, type_cause, WS_OR_NULL, NULL),
	WS_VALUE("text", struct ws_finding, text, WS_ALWAYS, NULL),
	WS_LIST("evidence", struct ws_finding, evidence, evidence_count, WS_ALWAYS, NULL),
};
static const struct ws_table finding_table = {"a finding", finding_fields, WS_LEN(finding_fields)};

#define MODULE struct ws_wheel_module_verdict
static const struct ws_field module_fields[] = {
	VERDICT(MODULE, NULL),
	WS_VALUE("module", MODULE, module, WS_ALWAYS, "as it is installed: torchvision/_C.so"),
	WS_VALUE("required", MODULE, required, WS_ALWAYS, "the wheel's verdict depends on it"),
	WS_VALUE("symbols", MODULE, symbols, WS_ALWAYS, "undefined symbols, weak ones not counted"),
	WS_VALUE("assumed", MODULE, assumed, WS_ALWAYS, "of them, those in libraries not read"),
	WS_LIST("unread", MODULE, unread, unread_count, WS_ALWAYS, "these libraries"),
	WS_LIST("missing", MODULE, missing, missing_count, WS_ALWAYS, "mangled names"),
};
static const struct ws_table module_table = {"a module", module_fields, WS_LEN(module_fields)};

#define PLACE struct ws_wheel_place_verdict
static const struct ws_field place_fields[] = {
	VERDICT(PLACE, NULL),
	WS_VALUE("torch", PLACE, torch, WS_OR_NULL, NULL),
	WS_VALUE("python", PLACE, python, WS_OR_NULL, "ABI tag: cp311, cp313t"),
	WS_LIST_OF("findings", PLACE, findings, finding_count, finding_table, WS_ALWAYS, NULL),
	WS_LIST_OF("modules", PLACE, modules, module_count, module_table, WS_ALWAYS, NULL),
};
static const struct ws_table place_table = {"a place", place_fields, WS_LEN(place_fields)};

#define GPU_CODE struct ws_measured_gpu_code
static const struct ws_field gpu_code_fields[] = {
	WS_VALUE("module", GPU_CODE, module, WS_ALWAYS, NULL),
	WS_VALUE("archs", GPU_CODE, archs, WS_ALWAYS, "with machine code; +PTX: and PTX"),
	WS_VALUE("ptx_only", GPU_CODE, ptx_only, WS_ALWAYS, NULL),
	WS_VALUE("driver", GPU_CODE, driver, WS_OR_NULL, "the oldest that unpacks it; null: any"),
};
static const struct ws_table gpu_code_table = {NULL, gpu_code_fields, WS_LEN(gpu_code_fields)};

#define MEASURED \
	WS_VALUE("platform", struct ws_measured, platform, WS_OR_NULL, \
		"the tag that the symbol versions allow"), \
		WS_VALUE("glibc", struct ws_measured, glibc, WS_OR_NULL, NULL), \
		WS_VALUE("glibcxx", struct ws_measured, glibcxx, WS_OR_NULL, NULL)
#define ABI WS_WORD("cxx11abi", struct ws_measured, cxx11abi, ws_cxx11abi_words, WS_OR_NULL, NULL)

static const struct ws_field measured_fields[] = {
	MEASURED,
	ABI,
	WS_LIST_OF(
		"gpu_code", struct ws_measured, gpu_code, gpu_code_count, gpu_code_table, WS_ALWAYS, NULL),
};
static const struct ws_table measured_table = {NULL, measured_fields, WS_LEN(measured_fields)};

static const struct ws_field size_fields[] = {
	WS_VALUE("compressed_bytes", struct ws_measured_size, compressed_bytes, WS_ALWAYS, NULL),
	WS_VALUE("bytes", struct ws_measured_size, bytes, WS_ALWAYS, NULL),
	WS_VALUE("driver", struct ws_measured_size, driver, WS_OR_NULL, NULL),
};
static const struct ws_table size_table = {NULL, size_fields, WS_LEN(size_fields)};

#define OWN struct ws_measured_module
static const struct ws_field own_module_fields[] = {
	WS_VALUE("module", OWN, module, WS_ALWAYS, NULL),
	WS_LIST("needed", OWN, needed, needed_count, WS_ALWAYS, NULL),
	WS_VALUE("assumed", OWN, assumed, WS_ALWAYS, NULL),
	WS_LIST("unread", OWN, unread, unread_count, WS_ALWAYS, NULL),
	WS_POINTED("gpu_code", OWN, gpu_code, size_table, WS_IF_ANY, NULL),
};
static const struct ws_table own_module_table = {
	NULL, own_module_fields, WS_LEN(own_module_fields)};

static const struct ws_field own_fields[] = {
	MEASURED,
	WS_VALUE("archs", struct ws_measured, archs, WS_OR_NULL, NULL),
	ABI,
	WS_LIST_OF(
		"modules", struct ws_measured, modules, module_count, own_module_table, WS_ALWAYS, NULL),
};
const struct ws_table ws_own_measured_table = {NULL, own_fields, WS_LEN(own_fields)};

#define WHEEL struct ws_wheel_verdict
#define WHEEL_FIELDS(measured_in) \
	VERDICT(WHEEL, "the worst of its places"), \
		WS_VALUE("wheel", WHEEL, wheel, WS_OR_NULL, "file name"), \
		WS_OBJECT("measured", WHEEL, measured, measured_in, WS_ALWAYS, "in every place"), \
		WS_LIST_OF("places", WHEEL, places, place_count, place_table, WS_ALWAYS, NULL)

static const struct ws_field wheel_fields[] = {WHEEL_FIELDS(measured_table)};
const struct ws_table ws_wheel_verdict_table = {"a wheel", wheel_fields, WS_LEN(wheel_fields)};

static const struct ws_field file_fields[] = {
	WHEEL_FIELDS(measured_table),
	WS_POINTED("facts", WHEEL, facts, ws_wheel_facts_table, WS_IF_ANY, NULL),
};
const struct ws_table ws_verdict_file_table = {"a verdict", file_fields, WS_LEN(file_fields)};

static const struct ws_field own_verdict_fields[] = {WHEEL_FIELDS(ws_own_measured_table)};
const struct ws_table ws_own_verdict_table = {
	"modules", own_verdict_fields, WS_LEN(own_verdict_fields)};

static const struct ws_field result_fields[] = {
	WS_WORD("verdict", struct ws_verify_result, verdict, ws_verdict_words, WS_ALWAYS,
		"the worst; for all releases the best of each wheel. excluded: it would load, its METADATA "
		"asks for another torch or Python"),
	WS_FIXED("schema", "wheelsmith.verify/1"),
	WS_LIST_OF("wheels", struct ws_verify_result, wheels, wheel_count, ws_wheel_verdict_table,
		WS_ALWAYS, NULL),
};
const struct ws_table ws_verify_result_table = {NULL, result_fields, WS_LEN(result_fields)};

/* ---- reading ---- */

const struct ws_finding *
ws_place_decisive(const struct ws_wheel_place_verdict *place)
{
	for (size_t i = 0; place->why && i < place->finding_count; i++) {
		if (ws_same(place->findings[i].text, place->why)) {
			return &place->findings[i];
		}
	}
	return NULL;
}

bool
ws_verdict_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	*verdict = (struct ws_wheel_verdict){0};
	return ws_cas_read(store, digest, &text, err)
		&& ws_table_parse(
			WS_VERDICT_FILE, ws_buf_str(&text), &ws_verdict_file_table, a, verdict, err);
}

/* ---- making ---- */

static void
make_modules(
	const struct ws_verdict *judged, struct ws_arena *a, struct ws_wheel_place_verdict *place)
{
	struct ws_wheel_module_verdict *modules =
		WS_NEW_N(a, struct ws_wheel_module_verdict, judged->count);
	for (size_t i = 0; i < judged->count; i++) {
		const struct ws_module_verdict *m = &judged->modules[i];
		const struct ws_symbols *symbols = &m->symbols;
		const char **missing = WS_NEW_N(a, const char *, symbols->missing_count);
		for (size_t k = 0; k < symbols->missing_count; k++) {
			missing[k] = symbols->missing[k].name;
		}
		modules[i] = (struct ws_wheel_module_verdict){.verdict = m->verdict,
			.module = m->module->name,
			.required = m->module->required,
			.symbols = symbols->wanted_count,
			.assumed = symbols->assumed_count,
			.unread = symbols->unread,
			.unread_count = symbols->unread_count,
			.missing = missing,
			.missing_count = symbols->missing_count};
		for (size_t k = m->finding_count; m->verdict != WS_VERDICT_OK && k-- > 0;) {
			if (m->findings[k].verdict == m->verdict) { /* the first one stays */
				modules[i].why = m->findings[k].text;
				modules[i].cause = m->findings[k].cause;
			}
		}
	}
	place->modules = modules;
	place->module_count = judged->count;
}

static void
measure_gpu_code(const struct ws_verdict *judged, struct ws_arena *a, struct ws_measured *measured)
{
	struct ws_measured_gpu_code *list = WS_NEW_N(a, struct ws_measured_gpu_code, judged->count);
	measured->gpu_code = list;
	for (size_t i = 0; i < judged->count; i++) {
		const struct ws_gpu_code *gpu = &judged->modules[i].gpu;
		if (gpu->image_count > 0) {
			list[measured->gpu_code_count++] =
				(struct ws_measured_gpu_code){.module = judged->modules[i].module->name,
					.archs = ws_arch_set_text(&gpu->archs, a),
					.ptx_only = ws_arch_set_text(&gpu->ptx_only, a),
					.driver = gpu->driver};
		}
	}
}

/* Our own modules that have kernels have code for the same archs. */
static void
measure_own(const struct ws_verdict *judged, struct ws_arena *a, struct ws_measured *measured)
{
	struct ws_measured_module *list = WS_NEW_N(a, struct ws_measured_module, judged->count);
	measured->modules = list;
	measured->module_count = judged->count;
	for (size_t i = 0; i < judged->count; i++) {
		const struct ws_module_verdict *m = &judged->modules[i];
		list[i] = (struct ws_measured_module){.module = m->module->name,
			.needed = m->module->elf->needed,
			.needed_count = m->module->elf->needed_count,
			.assumed = m->symbols.assumed_count,
			.unread = m->symbols.unread,
			.unread_count = m->symbols.unread_count};
		if (m->gpu.image_count > 0) {
			struct ws_measured_size *size = WS_NEW(a, struct ws_measured_size);
			*size = (struct ws_measured_size){m->gpu.stored_bytes, m->gpu.raw_bytes, m->gpu.driver};
			list[i].gpu_code = size;
		}
		if (m->gpu.archs.count > 0) {
			measured->archs = ws_arch_set_text(&m->gpu.archs, a);
		}
	}
}

void
ws_verdict_make(struct ws_judge_outcome *outcomes, size_t count, const char *wheel, bool own,
	struct ws_arena *a, struct ws_wheel_verdict *verdict)
{
	struct ws_wheel_place_verdict *places = WS_NEW_N(a, struct ws_wheel_place_verdict, count);
	struct ws_measured *measured = &verdict->measured;
	const struct ws_verdict *first = NULL;
	const struct ws_floor *floor = NULL;
	*verdict = (struct ws_wheel_verdict){.wheel = wheel, .places = places, .place_count = count};
	for (size_t i = 0; i < count; i++) {
		const struct ws_verdict *judged = &outcomes[i].judged;
		places[i] = outcomes[i].place;
		places[i].findings = outcomes[i].findings.at;
		places[i].finding_count = outcomes[i].findings.len;
		make_modules(judged, a, &places[i]);
		if (i == 0 || places[i].verdict > verdict->verdict) {
			verdict->verdict = places[i].verdict;
			verdict->why = places[i].why;
			verdict->cause = places[i].cause;
		}
		if (judged->count > 0) {
			first = first ? first : judged;
			floor = floor && judged->floor.policy <= floor->policy ? floor : &judged->floor;
		}
	}
	if (!first) {
		return;
	}
	/* All but the floor are of the first place that was judged: the files are the same in each. */
	measured->platform = ws_floor_tag(floor);
	measured->glibc = floor->asked[WS_FLOOR_GLIBC].text;
	measured->glibcxx = floor->asked[WS_FLOOR_GLIBCXX].text;
	measured->cxx11abi = first->cxx11abi;
	(own ? measure_own : measure_gpu_code)(first, a, measured);
}
