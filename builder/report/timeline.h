/**
 * timeline.h - what ran when, and what it cost, command by command
 *
 * A sink of events that keeps what a build did, for the sums by stage, for a trace that Perfetto
 * opens and for a page of one file. Reads events alone.
 */
#ifndef WS_REPORT_TIMELINE_H
#define WS_REPORT_TIMELINE_H

#include "base/event.h"
#include "base/out.h"
#include "base/text.h"

/** An action that is over, by whatever end: it ran, its parts made it, the store had it. */
struct ws_timed_end {
	const char *subject, *stage; /**< NULL: it is not over */
	int64_t at_ms;
	bool has_parts; /**< others made it */
};

/** One command that ran, from start to end. */
struct ws_timed_command {
	unsigned id, slot;         /**< slots from 0: no two spans of one overlap */
	struct ws_timed_end after; /**< of the last action that it waited for; zeroed: of none */
	const char *subject, *stage;
	enum ws_outcome outcome; /**< WS_OUTCOME_NONE if the build ended first */
	const char *detail;      /**< why it had to run, or how it failed; NULL */
	struct ws_worker_run elsewhere;
	int64_t start_ms, end_ms;
	uint64_t cpu_ms, rss_bytes;
};

/** Memory at a moment. */
struct ws_memory_sample {
	int64_t at_ms;
	uint64_t held_bytes;
	uint64_t held_back; /**< slots that were free though something was ready: memory held it back */
};

/** The sums of one stage. A whole that is made by parts counts by these. */
struct ws_stage_sum {
	const char *stage;
	unsigned hits, ran;
	uint64_t run_ms, saved_ms; /**< CPU */
};

struct ws_timeline {
	struct ws_sink sink;
	struct ws_arena *a;
	WS_VEC(struct ws_timed_command) spans; /**< in order of starting */
	WS_VEC(struct ws_memory_sample) samples;
	WS_VEC(struct ws_stage_sum) stages;
	WS_VEC(struct ws_timed_end) ends; /**< by id; graphs that follow each other use them again */
	WS_VEC(bool) taken;               /**< slots */
	uint64_t held_back_ms;            /**< slots times milliseconds */
	int64_t first_ms, last_ms;
};

/** Add its sink to the events; it lives in @a a. */
struct ws_timeline *ws_timeline_make(struct ws_arena *a);

/** A line for each stage, and what held slots back. */
void ws_timeline_print_stages(const struct ws_timeline *t, const struct ws_out *out);

/** The dependencies of the commands of @a subject and of its parts, and why each ran. */
void ws_timeline_print_why(
	const struct ws_timeline *t, const char *subject, const struct ws_out *out);

/** Trace events as JSON: a row for each slot, what memory was held, slots that were held back. */
void ws_timeline_trace(const struct ws_timeline *t, struct ws_buf *out);

/** A row of the page's table of cells. */
struct ws_page_cell {
	const char *name, *state, *detail;
};

struct ws_page_failure {
	const char *cell, *subject, *stage, *text;
	struct ws_str log;
};

/** A page without scripts and without external files. */
void ws_timeline_page(const struct ws_timeline *t, const struct ws_page_cell *cells,
	size_t cell_count, const struct ws_page_failure *failures, size_t failure_count,
	struct ws_buf *out);

#endif
