/* cmd_build.c - wheelsmith build: makes the wheels of a selection. */
#include "base/fs.h"
#include "bundle/bundle.h"
#include "cli/build_text.h"
#include "config/lock.h"
#include "doctor/doctor.h"
#include "report/json_lines.h"
#include "report/status.h"
#include "report/timeline.h"
#include "store/cas.h"
#include "sys/clock.h"

#define MOST_NAMED 8

struct building {
	struct ws_selecting selecting;
	struct ws_build_options options;
	const char *bundle; /* as typed; NULL: not given */
	bool is_bundled;    /* the matrix is the bundle's */
	uint64_t timeout_ms;
	const char *trace, *report; /* files; NULL: not wanted */
	const char *why;            /* what to explain; NULL: nothing */
	const char *executor;       /* as typed; NULL: not given */
	struct ws_timeline *timeline;
};

/* The selection that the bundle was written for; options of this command line come first. */
static void
select_as_bundled(struct ws_session *s, struct building *b, const struct ws_bundle *bundle)
{
	struct ws_selecting *selecting = &b->selecting;
	const struct ws_bundle_asked *then = &bundle->asked;
	struct ws_selection_options *o = &selecting->options;
	if (then->only && selecting->only.len == 0) {
		*ws_vec_push(&selecting->only, s->a) = then->only;
	}
	selecting->shard = selecting->shard ? selecting->shard : then->shard;
	selecting->policy = selecting->policy ? selecting->policy : then->policy;
	selecting->debug_info = selecting->debug_info ? selecting->debug_info : then->debug_info;
	selecting->glibc = selecting->glibc ? selecting->glibc : then->glibc;
	s->globals.kits = s->globals.kits ? s->globals.kits : then->kits;
	o->torch_window = o->torch_window || then->torch_window;
	o->matrix = ws_path_join(s->a, bundle->folder, WS_BUNDLE_MATRIX, NULL);
	o->only_recipes = ws_path_join(s->a, bundle->folder, WS_BUNDLE_RECIPES, NULL);
	o->locked = true; /* the lock in a bundle is read-only */
	b->is_bundled = true;
}

static bool
parse(struct ws_session *s, struct building *b, struct ws_err *err)
{
	struct ws_build_options *o = &b->options;
	const struct ws_option own[] = {
		{"output", 'o', WS_OPTION_TEXT, &o->output, "DIR", "where wheels go; default: dist"},
		{"jobs", 'j', WS_OPTION_NUMBER, &b->selecting.jobs, "N", "at most N commands at once"},
		{"memory", 0, WS_OPTION_SIZE, &b->selecting.memory_bytes, "SIZE",
			"at most this much memory: 8G, 512M"},
		{"keep-going", 'k', WS_OPTION_FLAG, &o->keep_going, NULL,
			"after a failure, finish the rest"},
		{"timeout", 0, WS_OPTION_SECONDS, &b->timeout_ms, "T", "stop after T (90, 10m, 2h)"},
		{"action-timeout", 0, WS_OPTION_SECONDS, &o->action_timeout_ms, "T",
			"time limit of one command"},
		{"against", 0, WS_OPTION_TEXT, &b->selecting.against, "INDEX",
			"skip what is published there: a folder, a URL"},
		{"executor", 0, WS_OPTION_TEXT, &b->executor, "WHERE",
			"local; remote: a build farm; remote,local"},
		{"offline", 0, WS_OPTION_FLAG, &b->selecting.offline, NULL, "use no network"},
		{"bundle", 0, WS_OPTION_TEXT, &b->bundle, "FILE",
			"use the downloads in this file (`fetch --bundle`)"},
		{"locked", 0, WS_OPTION_FLAG, &b->selecting.options.locked, NULL,
			"refuse what the lock does not pin"},
		{"keep-work", 0, WS_OPTION_FLAG, &o->keep_work, NULL,
			"keep the folders of failed commands"},
		{"compile-commands", 0, WS_OPTION_FLAG, &o->compile_commands, NULL,
			"write compile_commands.json for editors"},
		{"trace", 0, WS_OPTION_TEXT, &b->trace, "FILE", "timeline for chrome://tracing"},
		{"report", 0, WS_OPTION_TEXT, &b->report, "FILE", "timeline and failures as an HTML page"},
		{"why", 0, WS_OPTION_TEXT, &b->why, "ACTION", "explain why this action ran"},
	};
	const struct ws_usage usage = {
		.command = "build",
		.summary = "Makes the wheels of a matrix or a package.",
		WS_OPTIONS(own),
	};
	if (!ws_selecting_options(s, &b->selecting, &usage, err)) {
		return false;
	}
	o->output = o->output ? o->output : "dist";
	o->jobs = b->selecting.jobs;
	b->selecting.options.resolve = true;
	b->selecting.options.candidates = true;
	o->memory_bytes = b->selecting.memory_bytes;
	if (b->bundle) {
		struct ws_bundle bundle;
		if (!ws_session_open_store(s, false, err)
			|| !ws_bundle_read(&s->store, b->bundle, &s->stop, s->a, &bundle, err)) {
			return false;
		}
		/* Its matrix is used unless the command line names another selection. */
		if (!b->selecting.options.matrix && s->words.len == 0) {
			select_as_bundled(s, b, &bundle);
		}
	}
	return ws_selecting_finish(s, &b->selecting, err);
}

/* One line of counts, without rare decisions whose count is 0, and the exclusions. */
static void
announce(const struct ws_session *s, const struct ws_plan *plan)
{
	const struct ws_totals *t = &plan->totals;
	unsigned prebuilt = t->decisions[WS_DECISION_PREBUILT];
	unsigned fallback = t->decisions[WS_DECISION_FALLBACK];
	ws_out_note(&s->out, "%zu cell%s: %u to build, %s%u cached, %s%u excluded\n", plan->cell_count,
		plan->cell_count == 1 ? "" : "s", t->decisions[WS_DECISION_BUILD],
		prebuilt ? ws_arena_printf(s->a, "%u prebuilt, ", prebuilt) : "",
		t->decisions[WS_DECISION_CACHED],
		fallback ? ws_arena_printf(s->a, "%u fallback, ", fallback) : "",
		t->decisions[WS_DECISION_EXCLUDED]);
	/* Each reason once, with its first cells. */
	struct ws_map reasons = {0};
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		if (cell->decision != WS_DECISION_EXCLUDED || !ws_map_add(&reasons, cell->why, s->a)) {
			continue;
		}
		unsigned named = 0, more = 0;
		ws_out_note(&s->out, "excluded: %s\n", cell->why);
		for (size_t k = i; k < plan->cell_count; k++) {
			const struct ws_cell *other = plan->cells[k];
			bool same =
				other->decision == WS_DECISION_EXCLUDED && strcmp(other->why, cell->why) == 0;
			if (same && named < MOST_NAMED) {
				ws_out_note(&s->out, "  %s\n", other->name);
				named++;
			} else {
				more += same;
			}
		}
		if (more > 0) {
			ws_out_note(&s->out, "  and %u more; build.json names all\n", more);
		}
	}
}

/* Warns of ignored environment variables at the first compile: they concern compilers. */
struct ignored {
	struct ws_sink sink;
	struct ws_session *s;
	const char *warning; /* NULL: printed already, or none */
};

static void
warn_of_ignored(struct ws_sink *self, const struct ws_event *event)
{
	struct ignored *ignored = (struct ignored *)self;
	if (ignored->warning && event->kind == WS_EVENT_ACTION_STARTED
		&& strcmp(event->stage, "compile") == 0) {
		ws_status_clear(ignored->s->status);
		ws_out_warn(&ignored->s->out, "%s", ignored->warning);
		ignored->warning = NULL;
	}
}

/* Applies the user's limit of the store, unless another process uses the store. */
static bool
make_room(struct ws_session *s, const char *matrix, struct ws_err *err)
{
	struct ws_inventory inventory;
	struct ws_inventory_gone gone;
	struct ws_err busy = {0};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf lock = {0};
	if (s->user.store_bytes == 0) {
		return true;
	}
	bool locked = matrix && ws_fs_read(ws_lock_path(matrix, a), &lock, NULL);
	if (!ws_inventory_take(
			&s->store, &(const char *){ws_buf_text(&lock)}, locked, a, &inventory, err)) {
		return false;
	}
	if (!ws_inventory_shrink(&s->store, &inventory, s->user.store_bytes, &gone, &busy)) {
		ws_events_warn(&s->events, "the store stays larger than store_bytes: %s", busy.text);
	}
	return true;
}

/* ---- the trace and the page ---- */

/* A report that cannot be written fails the build; after another failure it is a warning. */
static bool
write_report(const struct ws_session *s, const char *path, const struct ws_buf *text, bool done,
	struct ws_err *err)
{
	struct ws_err lost;
	if (ws_fs_write_atomic(path, text->data, text->len, 0644, &lost)) {
		return done;
	}
	if (done) {
		*err = lost;
	} else {
		ws_out_warn(&s->out, "%s", lost.text);
	}
	return false;
}

/* Trace and page, also of a failed build. */
static bool
write_reports(struct ws_session *s, const struct building *b, const struct ws_build_result *result,
	bool done, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf trace = {0}, page = {0};
	if (b->trace) {
		ws_timeline_trace(b->timeline, &trace);
		done = write_report(s, b->trace, &trace, done, err);
	}
	if (b->report) {
		const struct ws_supplies *supplies = &result->supplies;
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct ws_page_cell *cells = WS_NEW_N(a, struct ws_page_cell, supplies->cell_count + 1);
		struct ws_page_failure *failures =
			WS_NEW_N(a, struct ws_page_failure, result->failed_count + 1);
		for (size_t i = 0; i < supplies->cell_count; i++) {
			const struct ws_cell_result *cell = &supplies->cells[i];
			bool ready = ws_cell_state(cell) == WS_CELL_READY;
			cells[i] = (struct ws_page_cell){cell->cell->name, ws_cell_state_name(cell),
				ready ? cell->supply->wheel : ws_cell_reason(cell)};
		}
		for (size_t i = 0; i < result->failed_count; i++) {
			const struct ws_failed_action *failed = &result->failed[i];
			WS_AUTO_BUF struct ws_buf log = {0};
			if (failed->log_digest.hex[0]) {
				ws_cas_read(&s->store, failed->log_digest.hex, &log, NULL);
			}
			failures[i] = (struct ws_page_failure){failed->cell, failed->subject, failed->stage,
				failed->err->text, {ws_buf_copy(&log, a), log.len}};
		}
		ws_timeline_page(
			b->timeline, cells, supplies->cell_count, failures, result->failed_count, &page);
		done = write_report(s, b->report, &page, done, err);
	}
	return done;
}

/* Where compilers run: "local", "remote" (the farm), or "remote,local" (the farm, else here). */
static bool
open_executor(
	struct ws_session *s, const struct building *b, struct ws_context *ctx, struct ws_err *err)
{
	const char *where = b->executor ? b->executor : "local";
	bool falls_back = strcmp(where, "remote,local") == 0;
	if (strcmp(where, "local") == 0) {
		return true;
	}
	if (!falls_back && strcmp(where, "remote") != 0) {
		ws_err_set(err, WS_ERR_USAGE, "unknown executor '%s'", where);
		return ws_err_cure(err, "choose local, remote, or remote,local");
	}
	if (b->selecting.offline) {
		return ws_err_set(
			err, WS_ERR_USAGE, "--executor %s and --offline exclude each other", where);
	}
	if (!ws_session_open_execution(s, falls_back, err)) {
		return false;
	}
	ctx->executor = ws_execution_executor(s->execution);
	return true;
}

bool
ws_cmd_build(struct ws_session *s, struct ws_err *err)
{
	struct building b = {0};
	struct ws_context *ctx = &b.selecting.ctx;
	struct ws_selection *sel = &b.selecting.sel;
	if (!parse(s, &b, err) || !ws_session_open_store(s, false, err)) {
		return false;
	}
	s->stop.deadline_ms = b.timeout_ms ? ws_clock_ms() + (int64_t)b.timeout_ms : 0;
	if (!make_room(s, b.selecting.options.matrix, err)
		|| !ws_selecting_plan(s, &b.selecting, true, err)
		|| !ws_selecting_has_work(s, &b.selecting, err)) {
		return b.is_bundled && err->kind == WS_ERR_USAGE
			? ws_err_wrap(err, "the bundle '%s'", b.bundle)
			: false;
	}
	ctx->shared = ws_shared_results_interface(s->records);
	if (!open_executor(s, &b, ctx, err)) {
		return false;
	}
	if (s->globals.json) {
		ws_events_add(&s->events, ws_json_lines_sink(s->out.out, s->a));
	}
	struct ignored *ignored = WS_NEW(s->a, struct ignored); /* the session's events live longer */
	*ignored = (struct ignored){{warn_of_ignored}, s, ws_ignored_env_warning(s->env.vars, s->a)};
	ws_events_add(&s->events, &ignored->sink);
	b.timeline = ws_timeline_make(s->a);
	ws_events_add(&s->events, &b.timeline->sink);
	announce(s, &sel->plan);
	b.options.matrix = &sel->matrix;
	b.options.candidates = sel->candidates;
	struct ws_build_result result;
	struct ws_build_text text = {s, b.options.output, &b.selecting, &result, err, {0}};
	b.options.tell_failure = ws_build_text_failure;
	b.options.tell_wheel = ws_build_text_wheel;
	b.options.self = &text;
	bool done = ws_build_run(ctx, &sel->pins, &sel->plan, &b.options, s->a, &result, err);
	ws_status_clear(s->status);
	ws_build_text_end(&text);
	if (s->globals.verbosity > 0) {
		ws_timeline_print_stages(b.timeline, &s->out);
	}
	if (b.why) {
		ws_timeline_print_why(b.timeline, b.why, &s->out);
	}
	return write_reports(s, &b, &result, done, err);
}
