/**
 * plan_text.h - a plan as a table, as JSON, and as jobs of GitHub, Slurm and Kubernetes
 */
#ifndef WS_REPORT_PLAN_TEXT_H
#define WS_REPORT_PLAN_TEXT_H

#include "base/table.h"
#include "plan/plan.h"

/* ---- a plan as people read it ----
 * One row for every cell that is not excluded, then how many are excluded for which reason, then
 * what building takes. Fits the width it is given: reasons are cut first, then packages and archs,
 * then whole columns go. */

/** @a width: columns there are; 0: as many as it takes. Reasons of exclusions stand on one line
 * where they fit, else each on its own. */
void ws_plan_table_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out);

/* ---- a plan for machines: schema wheelsmith.plan/1 ----
 * {"schema", "cells": [...], "products": [...], "totals": {...}, "warnings": [...]}. Cells name
 * their product by its place in the list. Unknown costs are null. One cell, one product a
 * line. Fields are only ever added. */

void ws_plan_json_write(const struct ws_plan *plan, struct ws_buf *out);
extern const struct ws_table ws_plan_table;

/* ---- a plan as a job matrix for GitHub Actions ----
 * {"include": [{"name", "cell", "package", "torch", "cuda", "arch", "python", "only", "cells"},
 * ...]} on one line, for `echo "matrix=$(wheelsmith plan --github ...)" >> "$GITHUB_OUTPUT"` and,
 * in the job that builds, `strategy: {matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}}` and
 * `wheelsmith build --matrix FILE --only '${{ matrix.only }}'`.
 *
 * One job for each group of cells that share kernels and of which something is to be built: the
 * Pythons of one (package, torch, CUDA, arch set) are one job, because a second machine would
 * compile the same kernels again. GitHub runs at most 256 jobs of a matrix; where there are more,
 * --shard I/N is the way. */

/** GitHub's limit for the jobs of one matrix. */
#define WS_GITHUB_JOBS 256

/** Returns the number of jobs. The text ends in a newline. */
size_t ws_plan_github_write(const struct ws_plan *plan, struct ws_buf *out);

/* ---- a plan as a job of a cluster ----
 * An array job for `sbatch`, or an Indexed Job for `kubectl apply`: each task builds one shard, in
 * a store of its own. Tasks share results through a cache server (docs/farm.md). */

struct ws_cluster {
	unsigned tasks;
	unsigned cores;        /**< of a task; 0: 16 */
	uint64_t memory_bytes; /**< of a task; 0: so much that its largest units fit on all cores */
	const char *build,
		*lock; /**< commands, quoted for a shell: "wheelsmith build --matrix fleet.json" */
};

void ws_plan_slurm_write(
	const struct ws_plan *plan, const struct ws_cluster *cluster, struct ws_buf *out);
void ws_plan_kubernetes_write(
	const struct ws_plan *plan, const struct ws_cluster *cluster, struct ws_buf *out);

#endif
