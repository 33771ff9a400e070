/* extensions.c - the CUDA extensions that are installed in a Python, judged against the torch
 * there. */
#include "doctor/doctor.h"
#include "explain/remedy.h"
#include "inspect/site.h"
#include "judge/torch_place.h"
#include "store/store.h"

const char *
ws_doctor_build(const struct ws_doctor *d, const char *package, const char *version)
{
	const struct ws_remedy remedy = {
		.package = package,
		.version = version,
		.python = d->kit.interpreter,
		.recipes = d->recipes,
	};
	const char *draft = ws_remedy_draft(d->catalog, &remedy, d->a);
	const char *build = ws_remedy_command(d->catalog, &remedy, d->a);
	return ws_arena_printf(d->a, "%s%s%sbuild it for this torch:  %s",
		draft ? "it has no recipe yet; first:  " : "", draft ? draft : "", draft ? "\n" : "",
		build);
}

static bool
find_place(struct ws_doctor *d, const struct ws_fetch **fetch, struct ws_wheel_place *place,
	struct ws_err *err)
{
	struct ws_torch_kit torch;
	const struct ws_verify_asked asked = {
		.facts = d->data->facts,
		.world = d->facts,
		.python = &d->kit.tag,
		.kit = &d->kit,
		.archs = ws_gpu_archs(&d->gpus, d->a),
		.driver = d->gpus.driver,
	};
	return ws_torch_open_installed(d->facts, &d->kit, NULL, d->a, &torch, err)
		&& (*fetch = d->open(d->self, err))
		&& ws_torch_place_installed(&asked, *fetch, d->program, &torch, d->a, place, err);
}

static bool
judge(const struct ws_doctor *d, const struct ws_site_package *package,
	const struct ws_fetch *fetch, const struct ws_wheel_place *place,
	struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	const struct ws_judge_order order = {
		.root = d->kit.purelib,
		.files = package->files,
		.file_count = package->file_count,
		.places = place,
		.place_count = 1,
		.subject = package->name,
	};
	return ws_scratch_make(
			   ws_store_path(fetch->store, d->a, "partial"), "doctor-", d->a, &folder, err)
		&& ws_judge_now(&order, d->program, folder.path, d->a, verdict, err);
}

/* The evidence of the finding that decided. */
static const char *
evidence_of(const struct ws_wheel_place_verdict *place, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_finding *f = ws_place_decisive(place);
	for (size_t i = 0; f && i < f->evidence_count; i++) {
		ws_buf_printf(&text, "%s%s", i > 0 ? "; " : "", f->evidence[i]);
	}
	return ws_buf_copy(&text, a);
}

static void
add_extension(struct ws_doctor *d, const struct ws_site_package *package,
	const struct ws_wheel_place *place, const struct ws_wheel_verdict *verdict)
{
	static const char *const texts[] = {
		[WS_VERDICT_OK] = "{package} {version}[ ({label})]  loads with torch {.torch}",
		[WS_VERDICT_FAILS] = ("{package} {version}[ ({label})]  does not load with torch {.torch}: "
							  "{why}[: {evidence}]"),
		[WS_VERDICT_EXCLUDED] = "{package} {version}[ ({label})]  is for another place: {why}",
		[WS_VERDICT_UNKNOWN] = "{package} {version}[ ({label})]  is not known to load: {why}",
	};
	static const enum ws_row_problem problems[] = {[WS_VERDICT_FAILS] = WS_PROBLEM_FAILS,
		[WS_VERDICT_EXCLUDED] = WS_PROBLEM_NOTE,
		[WS_VERDICT_UNKNOWN] = WS_PROBLEM_NOTE};
	bool fails = verdict->verdict == WS_VERDICT_FAILS;
	const char *cure = fails
		? ws_arena_printf(d->a, "%s\n", ws_doctor_build(d, package->name, package->version))
		: "";
	struct ws_row *row = ws_rows_add(&d->rows, "extensions[]", texts[verdict->verdict],
		"package %s version %s label %s verdict %s cause %s why %s evidence %s cure %s .torch %s",
		package->name, package->version, package->label, ws_verdict_words[verdict->verdict],
		verdict->cause, verdict->why, evidence_of(&verdict->places[0], d->a), cure, place->torch);
	row->problem = problems[verdict->verdict];
	row->cure = cure;
}

void
ws_doctor_extensions(struct ws_doctor *d)
{
	const struct ws_site_package *packages;
	const struct ws_fetch *fetch;
	struct ws_wheel_place place = {0};
	struct ws_err err = {0};
	if (!d->kit.version) {
		return;
	}
	size_t count = d->kit.purelib ? ws_site_extensions(d->kit.purelib, d->a, &packages) : 0;
	ws_rows_list(&d->rows, "extensions[]");
	if (count == 0) {
		ws_rows_note(&d->rows, "none of torch or CUDA is installed");
	}
	bool placed = count > 0 && find_place(d, &fetch, &place, &err);
	if (count > 0 && !placed) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_wheel_verdict verdict;
		if (!placed) {
			ws_rows_note(&d->rows, "%s %s  was not judged", packages[i].name, packages[i].version);
		} else if (!judge(d, &packages[i], fetch, &place, &verdict, &err)) {
			ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
		} else {
			add_extension(d, &packages[i], &place, &verdict);
		}
	}
}
