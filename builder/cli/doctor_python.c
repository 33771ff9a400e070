/* doctor_python.c - see doctor_python.h. Judging is judge/order.h's, calling doctor/entry_points.h's,
 * causes and cures are explain/'s. */
#include "cli/doctor_python.h"

#include "base/fs.h"
#include "config/recipes.h"
#include "doctor/entry_points.h"
#include "doctor/models.h"
#include "explain/explain.h"
#include "explain/remedy.h"
#include "inspect/site.h"
#include "judge/torch_place.h"
#include "kit/torch/torch.h"
#include "store/scratch.h"

#include <string.h>

struct looking {
	const struct ws_doctor_python *with;
	struct ws_session *s;
	struct ws_arena *a;
	struct ws_rows *rows;
	const struct ws_python_kit *python;
	struct ws_recipe_shelf shelf;
	struct ws_signs signs;
	const struct ws_site_package *packages;
	const enum ws_finding_verdict *verdicts; /* one for each package */
	size_t package_count;
	ws_entry_points entries;
};

/* ---- cures ---- */

/* What cannot be read is left out: then cures name no recipe. */
static void
read_tables(struct looking *l)
{
	struct ws_session *s = l->s;
	struct ws_err ignored = {0};
	size_t count;
	const char *const *folders = ws_data_recipe_folders(
		&s->data, s->globals.recipes, NULL, s->user.recipes, s->user.recipe_count, l->a, &count);
	if (!ws_recipes_list(folders, count, l->a, &l->shelf, &ignored)) {
		l->shelf = (struct ws_recipe_shelf){0};
	}
	if (!ws_signs_read(s->data.facts, l->a, &l->signs, &ignored)) {
		l->signs = (struct ws_signs){0};
	}
}

/* The command that builds the package for this Python, and what comes before it. */
static const char *
build_cure(const struct looking *l, const char *package, const char *version)
{
	const struct ws_remedy remedy = {
		.package = package,
		.version = version,
		.python = l->python ? l->python->interpreter : NULL,
		.recipes = l->s->globals.recipes,
	};
	const char *draft = ws_remedy_draft(&l->shelf, &remedy, l->a);
	const char *build = ws_remedy_command(&l->shelf, &remedy, l->a);
	return draft ? ws_arena_printf(
			   l->a, "it has no recipe yet; first:  %s\nbuild it for this torch:  %s", draft, build)
				 : ws_arena_printf(l->a, "build it for this torch:  %s", build);
}

/* ---- extensions ---- */

static const char *
package_text(const struct looking *l, const struct ws_site_package *package)
{
	return package->label
		? ws_arena_printf(l->a, "%s %s (%s)", package->name, package->version, package->label)
		: ws_arena_printf(l->a, "%s %s", package->name, package->version);
}

/* Those of the GPUs here. */
static struct ws_arch_set
archs_here(const struct looking *l)
{
	const struct ws_gpus *gpus = l->with->gpus;
	struct ws_arch *archs = WS_NEW_N(l->a, struct ws_arch, gpus->count + 1);
	for (size_t i = 0; i < gpus->count; i++) {
		archs[i] = gpus->at[i].arch;
	}
	return ws_arch_set_of(archs, gpus->count);
}

static bool
open_place(struct looking *l, struct ws_wheel_place *place, struct ws_err *err)
{
	struct ws_session *s = l->s;
	struct ws_torch_kit torch;
	const struct ws_verify_asked asked = {
		.facts = s->data.facts,
		.world = &s->facts,
		.python = &l->python->tag,
		.kit = l->python,
		.archs = archs_here(l),
		.driver = l->with->gpus->driver,
	};
	return ws_torch_open_installed(&s->facts, l->python, l->a, &torch, err)
		&& ws_session_open_store(s, false, err) && ws_session_open_net(s, NULL, 0, true, err)
		&& ws_torch_place_installed(&asked, &s->fetch, s->program, &torch, l->a, place, err);
}

static bool
judge(struct looking *l, const struct ws_site_package *package, const struct ws_wheel_place *place,
	struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	const char *partial = ws_path_join(l->a, l->s->store.path, "partial", NULL);
	const struct ws_judge_wheel_order order = {
		.root = l->python->purelib,
		.files = package->files,
		.file_count = package->file_count,
		.places = place,
		.place_count = 1,
		.subject = package->name,
	};
	return ws_scratch_make(partial, "doctor-", l->a, &folder, err)
		&& ws_judge_wheel(&order, l->s->program, folder.path, l->a, verdict, err);
}

/* The evidence of the finding that decided. */
static const char *
evidence_of(const struct looking *l, const struct ws_wheel_place_verdict *place)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_json *findings = ws_json_find(place->json, "findings");
	for (const struct ws_json *f = findings ? findings->first : NULL; f; f = f->next) {
		const struct ws_json *lines = ws_json_find(f, "evidence");
		bool decides = ws_same(ws_json_text(f, "text"), place->why);
		for (const struct ws_json *e = decides && lines ? lines->first : NULL; e; e = e->next) {
			ws_buf_printf(&text, "%s%s", text.len > 0 ? "; " : "", e->text ? e->text : "");
		}
	}
	return ws_buf_copy(&text, l->a);
}

static void
tell_verdict(struct looking *l, const struct ws_site_package *package,
	const struct ws_wheel_place *place, const struct ws_wheel_verdict *verdict)
{
	struct ws_json_writer *w = l->rows->json;
	const char *evidence = evidence_of(l, &verdict->places[0]);
	const char *cure = build_cure(l, package->name, package->version);
	if (verdict->verdict == WS_VERDICT_OK) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  loads with torch %s", package_text(l, package),
			place->torch);
	} else if (verdict->verdict == WS_VERDICT_UNKNOWN) {
		ws_rows_problem(l->rows, false, NULL, "%s  is not known to load: %s",
			package_text(l, package), verdict->why);
	} else {
		ws_rows_fail(l->rows, cure, "%s  does not load with torch %s: %s%s%s",
			package_text(l, package), place->torch, verdict->why, evidence[0] ? ": " : "",
			evidence);
	}
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "package", package->name);
	ws_json_add_text(w, "version", package->version);
	ws_json_add_text(w, "label", package->label);
	ws_json_add_text(w, "verdict", ws_verdict_word(verdict->verdict));
	ws_json_add_text(w, "cause", verdict->cause);
	ws_json_add_text(w, "why", verdict->why);
	ws_json_add_text(w, "evidence", evidence);
	ws_json_add_text(w, "cure", verdict->verdict == WS_VERDICT_FAILS ? cure : "");
	ws_json_close(w);
}

static void
look_at_extensions(struct looking *l)
{
	struct ws_wheel_place place = {0};
	struct ws_err err = {0};
	l->package_count =
		l->python->purelib ? ws_site_extensions(l->python->purelib, l->a, &l->packages) : 0;
	enum ws_finding_verdict *verdicts =
		WS_NEW_N(l->a, enum ws_finding_verdict, l->package_count + 1);
	l->verdicts = verdicts;
	ws_rows_part(l->rows, "extensions");
	if (l->package_count == 0) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "none of torch or CUDA is installed");
		return;
	}
	if (!open_place(l, &place, &err)) {
		ws_rows_problem_err(l->rows, false, &err);
	}
	for (size_t i = 0; i < l->package_count; i++) {
		struct ws_wheel_verdict verdict;
		verdicts[i] = WS_VERDICT_UNKNOWN;
		if (!place.torch) {
			ws_rows_add(
				l->rows, WS_PAGE_PLAIN, "%s  was not judged", package_text(l, &l->packages[i]));
		} else if (!judge(l, &l->packages[i], &place, &verdict, &err)) {
			ws_rows_problem_err(l->rows, false, &err);
		} else {
			verdicts[i] = verdict.verdict;
			tell_verdict(l, &l->packages[i], &place, &verdict);
		}
	}
}

/* ---- functions ---- */

/* The last line says what happened; those before it, what that came from. */
static const char *
last_line(const char *text)
{
	const char *line = text ? strrchr(text, '\n') : NULL;
	return line ? line + 1 : text;
}

/* What the error's text means, where that is known; else nothing. */
static const char *
explained(struct looking *l, const struct ws_entry_point *entry)
{
	const struct ws_explaining with = {
		.facts = &l->s->facts, .shelf = &l->shelf, .recipes = l->s->globals.recipes};
	const struct ws_found_sign *found;
	struct ws_explanation e;
	struct ws_finder *finder = ws_finder_open(&l->signs, l->a);
	ws_finder_add(finder, entry->text, strlen(entry->text));
	return ws_finder_end(finder, &found) > 0 && ws_explain(&with, found, l->a, &e, NULL) ? e.cause
																						 : NULL;
}

/* Who has neither package has chosen the slow path, or uses no such model. */
static bool
wants_fast_path(const struct looking *l)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		const struct ws_entry_point *entry = &l->entries.at[i];
		bool is_kernel =
			strcmp(entry->group, "mamba-ssm") == 0 || strcmp(entry->group, "causal-conv1d") == 0;
		if (is_kernel && entry->state != WS_ENTRY_ABSENT) {
			return true;
		}
	}
	return l->with->model != NULL;
}

/* The module that the error misses, where it is not one that the package itself should bring: building it
 * again would not help. NULL: nothing of the kind. */
static const char *
missing_module(const struct looking *l, const struct ws_entry_point *entry)
{
	static const char sign[] = "No module named '";
	const char *found = entry->text ? strstr(last_line(entry->text), sign) : NULL;
	if (!found) {
		return NULL;
	}
	found += strlen(sign);
	const char *module = ws_arena_copy(l->a, found, strcspn(found, ".'"));
	bool is_own = ws_starts_with(entry->name, module) || ws_remedy_package(&l->shelf, module, l->a);
	return is_own ? NULL : module;
}

static const char *
failure_cure(const struct looking *l, const struct ws_entry_point *entry)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *module = missing_module(l, entry);
	if (!module) {
		return strcmp(entry->group, "transformers") == 0 ? NULL : build_cure(l, entry->group, NULL);
	}
	ws_buf_puts(&line, "install what has it:  ");
	ws_buf_put_quoted(&line, l->python->interpreter);
	ws_buf_puts(&line, " -m pip install ");
	ws_buf_put_quoted(&line, module);
	return ws_buf_copy(&line, l->a);
}

static void
tell_failure(struct looking *l, const struct ws_entry_point *entry, const char *names)
{
	if (strcmp(entry->group, "transformers") == 0 && !wants_fast_path(l)) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  runs without mamba-ssm and causal-conv1d", names);
		return;
	}
	const char *cause = entry->text && entry->state == WS_ENTRY_FAILS ? explained(l, entry) : NULL;
	ws_rows_fail(l->rows, failure_cure(l, entry), "%s  %s: %s%s%s", names,
		entry->state == WS_ENTRY_WRONG ? "is wrong" : "fails",
		entry->text ? last_line(entry->text) : "it does not say why", cause ? "; " : "",
		cause ? cause : "");
}

/* One row for functions of which the same is known; @names are all of theirs. */
static void
tell_entry(struct looking *l, const struct ws_entry_point *entry, const char *names)
{
	switch (entry->state) {
	case WS_ENTRY_ABSENT:
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  is not installed", names);
		break;
	case WS_ENTRY_WORKS:
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  works: %s", names, entry->text);
		break;
	case WS_ENTRY_IMPORTED:
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  imports; it was not called: %s", names,
			entry->text ? entry->text : "");
		break;
	case WS_ENTRY_FAILS:
	case WS_ENTRY_WRONG:
		tell_failure(l, entry, names);
		break;
	}
}

/* Tells the entry at @i and those behind it of which the same is known; returns how many. */
static size_t
tell_alike(struct looking *l, size_t i)
{
	const struct ws_entry_point *first = &l->entries.at[i];
	struct ws_json_writer *w = l->rows->json;
	WS_AUTO_BUF struct ws_buf names = {0};
	size_t count = 0;
	for (; i + count < l->entries.len; count++) {
		const struct ws_entry_point *entry = &l->entries.at[i + count];
		if (strcmp(entry->group, first->group) != 0 || entry->state != first->state
			|| !ws_same(entry->text, first->text)) {
			break;
		}
		ws_buf_printf(&names, "%s%s", count > 0 ? ", " : "", entry->name);
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "package", entry->group);
		ws_json_add_text(w, "name", entry->name);
		ws_json_add_text(w, "state", ws_entry_state_word(entry->state));
		ws_json_add_text(w, "text", entry->text);
		ws_json_close(w);
	}
	tell_entry(l, first, ws_buf_copy(&names, l->a));
	return count;
}

static const char *const *
environment(const struct looking *l)
{
	static const char *const kept[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
		"CUDA_HOME", "TRITON_CACHE_DIR", "TMPDIR", "CONDA_PREFIX"};
	WS_VEC(const char *) vars = {0};
	*ws_vec_push(&vars, l->a) = "LANG=C.UTF-8";
	for (size_t i = 0; i < WS_LEN(kept); i++) {
		const char *value = ws_user_env_get(&l->s->env, kept[i]);
		if (value) {
			*ws_vec_push(&vars, l->a) = ws_arena_printf(l->a, "%s=%s", kept[i], value);
		}
	}
	ws_vec_push(&vars, l->a);
	return vars.at;
}

static void
look_at_functions(struct looking *l, const struct ws_model *model)
{
	const struct ws_entry_asking asking = {
		.script = l->s->data.entry_points,
		.interpreter = l->python->interpreter,
		.env = environment(l),
	};
	const char *const models[] = {model ? model->type : NULL, NULL};
	ws_rows_part(l->rows, "functions");
	ws_entry_points_ask(&asking, model ? models : NULL, l->a, &l->entries);
	for (size_t i = 0; i < l->entries.len;) {
		i += tell_alike(l, i);
	}
}

/* ---- the model ---- */

/* Whether the function of the package was found, whatever module it stands in, and nothing is wrong with it. */
static bool
has_function(const struct looking *l, const char *package, const char *function)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		const struct ws_entry_point *entry = &l->entries.at[i];
		const char *last = strrchr(entry->name, '.');
		if (strcmp(entry->group, package) == 0 && last && strcmp(last + 1, function) == 0) {
			return entry->state == WS_ENTRY_WORKS || entry->state == WS_ENTRY_IMPORTED;
		}
	}
	return false;
}

/* "selective_scan_fn, mamba_inner_fn": those that are not there; "" none. */
static const char *
lacking(const struct looking *l, const struct ws_model_kernel *kernel)
{
	WS_AUTO_BUF struct ws_buf list = {0};
	for (size_t i = 0; i < kernel->function_count; i++) {
		if (!has_function(l, kernel->package, kernel->functions[i])) {
			ws_buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", kernel->functions[i]);
		}
	}
	return ws_buf_copy(&list, l->a);
}

static const char *
newest_recipe(const struct looking *l, const char *package)
{
	const char *version = NULL;
	for (size_t i = 0; i < l->shelf.count; i++) {
		version =
			strcmp(l->shelf.files[i].name, package) == 0 ? l->shelf.files[i].version.text : version;
	}
	return version;
}

/* The lines of a matrix that make the packages. */
static const char *
matrix_lines(const struct looking *l, const ws_words *packages)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_buf_puts(&text, "the matrix that makes it:  {\"packages\": [");
	for (size_t i = 0; i < packages->len; i++) {
		ws_buf_printf(&text, "%s\"%s==%s\"", i ? ", " : "", packages->at[i],
			newest_recipe(l, packages->at[i]));
	}
	ws_buf_printf(&text, "], \"torch\": \"installed\", \"python\": [\"%s\"]",
		l->python ? l->python->interpreter : "3.12");
	struct ws_arch_set archs = archs_here(l);
	if (archs.count > 0) {
		ws_buf_printf(&text, ", \"arch\": [\"%s\"]", ws_arch_set_text(&archs, l->a));
	}
	ws_buf_putc(&text, '}');
	return ws_buf_copy(&text, l->a);
}

static void
tell_kernel(struct looking *l, const struct ws_model *model, const struct ws_model_kernel *kernel,
	ws_words *missing)
{
	struct ws_json_writer *w = l->rows->json;
	const char *lack = lacking(l, kernel);
	bool needed = !kernel->optional || model->asks_flash;
	bool known = l->python != NULL;
	if (!known) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s looks for %s%s", model->type, kernel->package,
			needed ? "" : ", where it is asked to");
	} else if (!lack[0]) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  is there", kernel->package);
	} else if (needed) {
		ws_rows_fail(l->rows, NULL, "%s needs %s, of which it lacks: %s", model->type,
			kernel->package, lack);
	} else {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s  is not installed; %s works without it",
			kernel->package, model->type);
	}
	if (newest_recipe(l, kernel->package) && (lack[0] || !known)) {
		*ws_vec_push(missing, l->a) = kernel->package;
	}
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "package", kernel->package);
	ws_json_add_bool(w, "needed", needed);
	ws_json_add_texts(w, "functions", kernel->functions, kernel->function_count);
	ws_json_add_text(w, "missing", known ? lack : NULL);
	ws_json_close(w);
}

static void
look_at_model(struct looking *l, const struct ws_model *model)
{
	struct ws_json_writer *w = l->rows->json;
	ws_words missing = {0};
	ws_rows_part(l->rows, "model");
	ws_json_open_object(w, "model");
	ws_json_add_text(w, "type", model->type);
	ws_json_open_list(w, "kernels");
	for (size_t i = 0; i < model->kernel_count; i++) {
		tell_kernel(l, model, model->kernels[i], &missing);
	}
	ws_json_close(w);
	if (model->kernel_count == 0) {
		ws_rows_add(
			l->rows, WS_PAGE_PLAIN, "%s: no kernel is known that it looks for", model->type);
	}
	const char *matrix = missing.len > 0 ? matrix_lines(l, &missing) : NULL;
	if (matrix) {
		ws_rows_add(l->rows, WS_PAGE_PLAIN, "%s", matrix);
	}
	ws_json_add_text(w, "matrix", matrix ? strchr(matrix, '{') : NULL);
	ws_json_close(w);
}

static bool
read_model(struct looking *l, struct ws_model *model)
{
	struct ws_models *models = WS_NEW(l->a, struct ws_models);
	struct ws_err err = {0};
	if (ws_models_read(l->s->data.facts, l->a, models, &err)
		&& ws_model_read(models, l->with->model, l->a, model, &err)) {
		return true;
	}
	ws_rows_part(l->rows, "model");
	ws_rows_problem_err(l->rows, false, &err);
	return false;
}

void
ws_doctor_python_look(const struct ws_doctor_python *look)
{
	struct looking l = {
		.with = look, .s = look->s, .a = look->s->a, .rows = look->rows, .python = look->python};
	struct ws_model model;
	bool has_model = look->model && read_model(&l, &model);
	read_tables(&l);
	if (l.python) {
		ws_json_open_list(l.rows->json, "extensions");
		look_at_extensions(&l);
		ws_json_close(l.rows->json);
		ws_json_open_list(l.rows->json, "functions");
		look_at_functions(&l, has_model ? &model : NULL);
		ws_json_close(l.rows->json);
	}
	if (has_model) {
		look_at_model(&l, &model);
	}
}
