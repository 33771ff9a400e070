#include "base/arena.h"
#include "base/json.h"
#include "report/plan_text.h"

/* One job: the cells of a group. */
struct job {
	const struct ws_cell *first; /* of those that a wheel is to be made or brought for */
	struct ws_buf only;          /* globs, with commas between */
	struct ws_buf pythons;       /* with blanks between */
	struct ws_map seen;          /* globs and Pythons that stand there already */
	unsigned cells, prebuilt, fallback;
};

static void
add_word(struct job *job, struct ws_buf *list, char separator, const char *word, struct ws_arena *a)
{
	if (!ws_map_add(&job->seen, word, a)) {
		return;
	}
	if (list->len > 0) {
		ws_buf_putc(list, separator);
	}
	ws_buf_puts(list, word);
}

static void
add_cell(struct job *job, const struct ws_cell *cell, struct ws_arena *a)
{
	job->first = job->first ? job->first : cell;
	job->cells++;
	add_word(job, &job->only, ',', ws_point_name(&cell->point, cell->recipe, "cp*", a), a);
	add_word(job, &job->pythons, ' ', cell->point.python->text, a);
}

/* "demo 1.0 torch 2.5.1 cuda 12.4 sm86"; of packages without kernels the first part. */
static const char *
name_of(const struct ws_cell *cell, struct ws_arena *a)
{
	const struct ws_point *point = &cell->point;
	const char *package =
		ws_arena_printf(a, "%s %s", cell->recipe->name, cell->recipe->version.text);
	if (ws_recipe_binding(cell->recipe) == WS_BINDING_NONE) {
		return package;
	}
	return ws_arena_printf(a, "%s%s%s cuda %s %s", package, point->torch ? " torch " : "",
		point->torch ? point->torch->name : "", point->cuda->name, point->arch->name);
}

static void
write_job(struct ws_json_writer *w, const struct job *job, struct ws_arena *a)
{
	const struct ws_cell *cell = job->first;
	const struct ws_point *point = &cell->point;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "name", name_of(cell, a));
	ws_json_add_text(w, "cell", cell->name);
	ws_json_add_text(
		w, "package", ws_arena_printf(a, "%s==%s", cell->recipe->name, cell->recipe->version.text));
	ws_json_add_text(w, "torch", point->torch ? point->torch->name : NULL);
	ws_json_add_text(w, "cuda", point->cuda ? point->cuda->name : NULL);
	ws_json_add_text(w, "arch", ws_arch_set_text(&point->arch->set, a));
	ws_json_add_text(w, "python", ws_buf_text(&job->pythons));
	ws_json_add_text(w, "only", ws_buf_text(&job->only));
	ws_json_add_u64(w, "cells", job->cells);
	ws_json_add_u64(w, "prebuilt", job->prebuilt);
	ws_json_add_u64(w, "fallback", job->fallback);
	ws_json_close(w);
}

size_t
ws_plan_github_write(const struct ws_plan *plan, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_VEC(struct job) jobs = {0}; /* by group; groups without work have no first */
	size_t written = 0;
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		while (jobs.len <= cell->group) {
			ws_vec_push(&jobs, a);
		}
		struct job *job = &jobs.at[cell->group];
		if (cell->decision == WS_DECISION_BUILD || cell->decision == WS_DECISION_PREBUILT) {
			add_cell(job, cell, a);
		}
		job->prebuilt += cell->decision == WS_DECISION_PREBUILT;
		job->fallback += cell->decision == WS_DECISION_FALLBACK;
	}
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_open_list(w, "include");
	for (size_t i = 0; i < jobs.len; i++) {
		if (jobs.at[i].first) {
			write_job(w, &jobs.at[i], a);
			written++;
		}
		ws_buf_release(&jobs.at[i].only);
		ws_buf_release(&jobs.at[i].pythons);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
	ws_buf_putc(out, '\n');
	return written;
}
