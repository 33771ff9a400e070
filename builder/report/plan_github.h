/**
 * plan_github.h - a plan as a job matrix for GitHub Actions
 *
 * {"include": [{"name", "cell", "package", "torch", "cuda", "arch", "python", "only", "cells"}, ...]} on one line,
 * for `echo "matrix=$(wheelsmith plan --github ...)" >> "$GITHUB_OUTPUT"` and, in the job that builds,
 * `strategy: {matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}}` and
 * `wheelsmith build --matrix FILE --only '${{ matrix.only }}'`.
 *
 * One job for each group of cells that share kernels and of which something is to be built: the
 * Pythons of one (package, torch, CUDA, arch set) are one job, because a second machine would compile
 * the same kernels again. GitHub runs at most 256 jobs of a matrix; where there are more, --shard I/N
 * is the way.
 */
#ifndef WS_REPORT_PLAN_GITHUB_H
#define WS_REPORT_PLAN_GITHUB_H

#include "base/buf.h"
#include "plan/plan.h"

/** GitHub's limit for the jobs of one matrix. */
#define WS_GITHUB_JOBS 256

/** Returns the number of jobs. The text ends in a newline. */
size_t ws_plan_github_write(const struct ws_plan *plan, struct ws_buf *out);

#endif
