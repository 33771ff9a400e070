/* plan_jobs.c - a plan as jobs: Slurm, Kubernetes, GitHub Actions. */
#include "report/plan_text.h"

#include <inttypes.h>

#define DEFAULT_RSS ((uint64_t)4 << 30)
#define DEFAULT_CORES 16

static unsigned
cores_of(const struct ws_cluster *cluster)
{
	return cluster->cores ? cluster->cores : DEFAULT_CORES;
}

/* By default the largest unit on every core at once. */
static uint64_t
memory_mib(const struct ws_plan *plan, const struct ws_cluster *cluster)
{
	uint64_t largest = plan->totals.cost.rss_bytes ? plan->totals.cost.rss_bytes : DEFAULT_RSS;
	uint64_t bytes = cluster->memory_bytes ? cluster->memory_bytes : largest * cores_of(cluster);
	return bytes >> 20;
}

static void
write_head(const struct ws_plan *plan, const struct ws_cluster *cluster, struct ws_buf *out)
{
	/* Groups with work, whatever this host's store has: tasks have stores of their own. */
	unsigned most = 0, groups = 0;
	for (size_t i = 0; i < plan->cell_count; i++) {
		most = plan->cells[i]->group >= most ? plan->cells[i]->group + 1 : most;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	bool *seen = WS_NEW_N(a, bool, most);
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		bool work =
			cell->decision != WS_DECISION_EXCLUDED && cell->decision != WS_DECISION_FALLBACK;
		groups += work && !seen[cell->group];
		seen[cell->group] = seen[cell->group] || work;
	}
	ws_buf_printf(out, "# Groups of cells that share kernels: %u, dealt out by cost.", groups);
	ws_buf_puts(out, groups < cluster->tasks ? " Some tasks have nothing to do.\n" : "\n");
	ws_buf_printf(out, "# First, where all see it: %s\n", cluster->lock);
}

/* A tenth of a task's memory is left for wheelsmith itself, and for files in memory. */
void
ws_plan_slurm_write(
	const struct ws_plan *plan, const struct ws_cluster *cluster, struct ws_buf *out)
{
	ws_buf_printf(out,
		"#!/bin/bash\n#SBATCH --job-name=wheelsmith\n#SBATCH --array=1-%u\n"
		"#SBATCH --cpus-per-task=%u\n#SBATCH --mem=%" PRIu64 "M\n",
		cluster->tasks, cores_of(cluster), memory_mib(plan, cluster));
	write_head(plan, cluster, out);
	ws_buf_printf(out,
		"exec %s --locked --keep-going --shard \"$SLURM_ARRAY_TASK_ID/%u\" \\\n"
		"    --jobs \"$SLURM_CPUS_PER_TASK\" --memory \"$((SLURM_MEM_PER_NODE * 9 / 10))M\" \\\n"
		"    --store \"${TMPDIR:-/tmp}/wheelsmith-$UID\" --output \"dist/$SLURM_ARRAY_TASK_ID\"\n",
		cluster->build, cluster->tasks);
}

void
ws_plan_kubernetes_write(
	const struct ws_plan *plan, const struct ws_cluster *cluster, struct ws_buf *out)
{
	uint64_t mib = memory_mib(plan, cluster);
	unsigned cores = cores_of(cluster);
	write_head(plan, cluster, out);
	ws_buf_printf(out,
		"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: wheelsmith\nspec:\n"
		"  completionMode: Indexed\n  completions: %u\n  parallelism: %u\n  template:\n    spec:\n"
		"      restartPolicy: OnFailure\n      containers:\n        - name: build\n"
		"          image: wheelsmith:latest # yours, with a compiler and the matrix's Pythons\n"
		"          workingDir: /work\n          command: [/bin/sh, -c]\n          args:\n"
		"            - |\n"
		"              exec ",
		cluster->tasks, cluster->tasks);
	/* Kubernetes reads $(NAME) and $$ in arguments, quoted or not; of "$((" it takes nothing. */
	for (const char *c = cluster->build; *c; c++) {
		ws_buf_puts(out, *c == '$' ? "$$" : (const char[]){*c, '\0'});
	}
	ws_buf_printf(out,
		" --locked --keep-going --shard $((JOB_COMPLETION_INDEX + 1))/%u \\\n"
		"                --jobs %u --memory %" PRIu64 "M --store /store \\\n"
		"                --output dist/$JOB_COMPLETION_INDEX\n"
		"          resources:\n            requests: {cpu: \"%u\", memory: %" PRIu64 "Mi}\n"
		"            limits: {memory: %" PRIu64 "Mi}\n"
		"          volumeMounts:\n            - {name: work, mountPath: /work}\n"
		"            - {name: store, mountPath: /store}\n"
		"      volumes:\n        - name: work # the matrix and its lock; the wheels come there\n"
		"          persistentVolumeClaim: {claimName: wheelsmith}\n"
		"        - name: store\n          emptyDir: {}\n",
		cluster->tasks, cores, mib * 9 / 10, cores, mib, mib);
}

/* ---- a job matrix for GitHub Actions ---- */

/* One job: the cells of a group. */
struct job {
	const struct ws_cell *first; /* the first that needs a wheel */
	struct ws_buf only;          /* globs, with commas between */
	struct ws_buf pythons;       /* with blanks between */
	struct ws_map seen;          /* globs and Pythons in the lists above */
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
			job->first = job->first ? job->first : cell;
			job->cells++;
			add_word(job, &job->only, ',', ws_point_name(&cell->point, cell->recipe, "cp*", a), a);
			add_word(job, &job->pythons, ' ', cell->point.python->text, a);
		}
		job->prebuilt += cell->decision == WS_DECISION_PREBUILT;
		job->fallback += cell->decision == WS_DECISION_FALLBACK;
	}
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_open_list(w, "include");
	for (size_t i = 0; i < jobs.len; i++) {
		if (jobs.at[i].first) {
			const struct ws_cell *cell = jobs.at[i].first;
			const struct ws_point *point = &cell->point;
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "name", name_of(cell, a));
			ws_json_add_text(w, "cell", cell->name);
			ws_json_add_text(w, "package",
				ws_arena_printf(a, "%s==%s", cell->recipe->name, cell->recipe->version.text));
			ws_json_add_text(w, "torch", point->torch ? point->torch->name : NULL);
			ws_json_add_text(w, "cuda", point->cuda ? point->cuda->name : NULL);
			ws_json_add_text(w, "arch", ws_arch_set_text(&point->arch->set, a));
			ws_json_add_text(w, "python", ws_buf_text(&jobs.at[i].pythons));
			ws_json_add_text(w, "only", ws_buf_text(&jobs.at[i].only));
			ws_json_add_u64(w, "cells", jobs.at[i].cells);
			ws_json_add_u64(w, "prebuilt", jobs.at[i].prebuilt);
			ws_json_add_u64(w, "fallback", jobs.at[i].fallback);
			ws_json_close(w);
			written++;
		}
		ws_buf_release(&jobs.at[i].only);
		ws_buf_release(&jobs.at[i].pythons);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
	ws_buf_putc(out, '\n');
	return written;
}
