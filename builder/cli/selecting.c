/* selecting.c - rows and the usual order of opening things. */
#include "cli/selecting.h"

#include "cli/against.h"
#include "net/url.h"
#include "plan/select.h"

#include <string.h>

void
ws_selecting_rows(struct ws_selecting *selecting, struct ws_option *rows)
{
	struct ws_typed *typed = &selecting->typed;
	const struct ws_option all[WS_SELECTING_ROWS] = {
		{"matrix", 'm', WS_OPTION_TEXT, &selecting->options.matrix, "FILE", "the build matrix"},
		{"only", 0, WS_OPTION_LIST, &selecting->only, "CELLS",
			"cells whose names match these globs"},
		{"shard", 0, WS_OPTION_TEXT, &selecting->shard, "I/N",
			"part I of N, the same on every machine"},
		{"here", 0, WS_OPTION_FLAG, &typed->here, NULL, "for this host's python3, torch and GPU"},
		{"torch", 0, WS_OPTION_LIST, &typed->torch, "V",
			"2.5.1, installed (these five may be repeated)"},
		{"python", 0, WS_OPTION_LIST, &typed->python, "V", "3.11, 3.13t, a path; default: python3"},
		{"arch", 0, WS_OPTION_LIST, &typed->arch, "A",
			"\"8.0;9.0+PTX\", hopper; default: the GPU here"},
		{"cuda", 0, WS_OPTION_LIST, &typed->cuda, "V", "12.4; default: what torch was built with"},
		{"cxx11abi", 0, WS_OPTION_LIST, &typed->cxx11abi, "N", "0 or 1; default: torch's own"},
		{"debug-info", 0, WS_OPTION_TEXT, &selecting->debug_info, "D",
			"none, lines, full; default: none"},
		{"policy", 0, WS_OPTION_TEXT, &selecting->policy, "P", "prefer-prebuilt, build-only, ..."},
		{"torch-window", 0, WS_OPTION_FLAG, &selecting->options.torch_window, NULL,
			"allow wheels for other torch minors"},
	};
	memcpy(rows, all, sizeof(all));
}

size_t
ws_selecting_rows_whole(struct ws_selecting *selecting, struct ws_option *rows)
{
	struct ws_option all[WS_SELECTING_ROWS];
	size_t count = 0;
	ws_selecting_rows(selecting, all);
	for (size_t i = 0; i < WS_SELECTING_ROWS; i++) {
		if (all[i].value != &selecting->only && all[i].value != &selecting->shard) {
			rows[count++] = all[i];
		}
	}
	return count;
}

/* A file says all of this itself. */
static bool
refuse_mixture(const struct ws_typed *typed, struct ws_err *err)
{
	struct ws_typed_axis all[WS_TYPED_AXES];
	bool given = typed->here;
	ws_typed_axes(typed, all);
	for (size_t i = 0; i < WS_TYPED_AXES; i++) {
		given = given || all[i].words->len > 0;
	}
	if (typed->packages.len > 0) {
		return ws_err_set(err, WS_ERR_USAGE, "both a matrix and a package are given: '%s'",
			typed->packages.at[0]);
	}
	if (given) {
		ws_err_set(err, WS_ERR_USAGE, "torch, python, arch and cuda are the matrix's to name");
		return ws_err_cure(err, "to take some of its cells: --only '*torch2.5.1*cp311*'");
	}
	return true;
}

static bool
read_debug_info(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err)
{
	enum ws_debug_info *debug_info = WS_NEW(s->a, enum ws_debug_info);
	selecting->options.debug_info = selecting->debug_info ? debug_info : NULL;
	return !selecting->debug_info || ws_debug_info_parse(selecting->debug_info, debug_info)
		|| ws_err_set(err, WS_ERR_USAGE, "--debug-info: '%s' is not none, lines or full",
			selecting->debug_info);
}

static bool
read_policy(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err)
{
	enum ws_policy *policy = WS_NEW(s->a, enum ws_policy);
	selecting->options.policy = selecting->policy ? policy : NULL;
	return !selecting->policy || ws_policy_parse(selecting->policy, policy)
		|| ws_err_set(err, WS_ERR_USAGE,
			"--policy: '%s' is not prefer-prebuilt, prefer-build, prebuilt-only or build-only",
			selecting->policy);
}

static bool
read_shard(struct ws_selecting *selecting, struct ws_err *err)
{
	struct ws_selection_options *o = &selecting->options;
	return !selecting->shard || ws_shard_parse(selecting->shard, &o->shard, &o->shards)
		|| ws_err_set(err, WS_ERR_USAGE, "--shard: '%s' is not I/N with I from 1 to N, like 2/5",
			selecting->shard);
}

bool
ws_selecting_finish(
	struct ws_session *s, struct ws_selecting *selecting, const ws_words *words, struct ws_err *err)
{
	struct ws_selection_options *o = &selecting->options;
	WS_AUTO_BUF struct ws_buf only = {0};
	for (size_t i = 0; i < selecting->only.len; i++) {
		ws_buf_printf(&only, "%s%s", i ? "," : "", selecting->only.at[i]);
	}
	o->only = selecting->only.len ? ws_buf_copy(&only, s->a) : NULL;
	o->recipes = s->globals.recipes;
	selecting->typed.packages = *words;
	selecting->typed.env = &s->env;
	struct ws_matrix *made = WS_NEW(s->a, struct ws_matrix);
	bool read = o->matrix ? refuse_mixture(&selecting->typed, err)
						  : ws_typed_matrix(&selecting->typed, made, s->a, err);
	o->made = o->matrix ? NULL : made;
	struct ws_selecting *kept = WS_NEW(s->a, struct ws_selecting);
	read = read && read_policy(s, selecting, err) && read_debug_info(s, selecting, err)
		&& read_shard(selecting, err);
	*kept = *selecting;
	s->selecting = kept;
	return read;
}

static enum ws_kits_choice
kits_choice(const char *kits)
{
	if (!kits) {
		return WS_KITS_ANY;
	}
	return strcmp(kits, "host") == 0 ? WS_KITS_HOST : WS_KITS_ARCHIVE;
}

void
ws_selecting_context(struct ws_session *s, const struct ws_selecting *selecting, struct ws_arena *a,
	struct ws_context *ctx)
{
	*ctx = (struct ws_context){
		.a = a,
		.env = &s->env,
		.program = s->program,
		.data = &s->data,
		.facts = &s->facts,
		.host = &s->host,
		.store = &s->store,
		.ledger = s->ledger,
		.fetch = s->has_net ? &s->fetch : NULL,
		.indexes = s->has_indexes ? &s->indexes : NULL,
		.events = &s->events,
		.stop = &s->stop,
		.kits = kits_choice(s->globals.kits),
		.jobs = selecting->jobs,
		.memory_bytes = selecting->memory_bytes,
		.locked = selecting->locked,
	};
}

static void
add_option(struct ws_buf *line, const char *name, const char *value)
{
	if (value) {
		ws_buf_printf(line, " --%s ", name);
		ws_buf_put_quoted(line, value);
	}
}

/* What is pinned is pinned for all cells, and a shell is one cell's: only `fetch` takes --only and
 * --shard. */
const char *
ws_selecting_command(
	const struct ws_session *s, const struct ws_selecting *selecting, const char *command)
{
	const struct ws_selection_options *o = &selecting->options;
	const struct ws_globals *g = &s->globals;
	bool parts = strcmp(command, "fetch") == 0;
	struct ws_typed_axis axes[WS_TYPED_AXES];
	ws_typed_axes(&selecting->typed, axes);
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_printf(&line, "wheelsmith %s", command);
	for (size_t i = 0; i < selecting->typed.packages.len; i++) {
		ws_buf_putc(&line, ' ');
		ws_buf_put_quoted(&line, selecting->typed.packages.at[i]);
	}
	add_option(&line, "matrix", o->matrix);
	ws_buf_puts(&line, selecting->typed.here ? " --here" : "");
	for (size_t i = 0; i < WS_TYPED_AXES; i++) {
		for (size_t j = 0; j < axes[i].words->len; j++) {
			add_option(&line, axes[i].key, axes[i].words->at[j]);
		}
	}
	add_option(&line, "debug-info", selecting->debug_info);
	add_option(&line, "policy", selecting->policy);
	ws_buf_puts(&line, o->torch_window ? " --torch-window" : "");
	add_option(&line, "only", parts ? o->only : NULL);
	add_option(&line, "shard", parts ? selecting->shard : NULL);
	add_option(&line, "recipes", g->recipes);
	add_option(&line, "kits", g->kits);
	add_option(&line, "debian-mirror", g->debian_mirror);
	for (size_t i = 0; i < g->indexes.len; i++) {
		/* A password is the person's to type. */
		const char *index = g->indexes.at[i];
		add_option(&line, "index", ws_url_has_login(index) ? NULL : index);
	}
	add_option(&line, "store", s->store.path);
	return ws_buf_copy(&line, s->a);
}

bool
ws_selecting_plan(struct ws_session *s, struct ws_selecting *selecting, bool network,
	struct ws_arena *a, struct ws_context *ctx, struct ws_selection *sel, struct ws_err *err)
{
	if (!ws_session_open_store(s, !network, err)) {
		return false;
	}
	/* The matrix may name indexes of its own, so it is read before the network opens. */
	struct ws_selection early;
	struct ws_plan_against *against = WS_NEW(a, struct ws_plan_against);
	bool asks = network || (selecting->against && ws_against_is_url(selecting->against));
	ws_selecting_context(s, selecting, a, ctx);
	if (!ws_selection_read(ctx, &s->user, &selecting->options, &early, err)
		|| !ws_session_read_indexes(s, early.matrix.indexes, early.matrix.index_count, err)
		|| (asks
			&& !ws_session_open_net(
				s, early.matrix.indexes, early.matrix.index_count, selecting->offline, err))
		|| (selecting->against
			&& !ws_against_read(s, selecting->against, &early.matrix, a, against, err))) {
		return false;
	}
	selecting->options.against = selecting->against ? against : NULL;
	ws_selecting_context(s, selecting, a, ctx);
	if (!ws_selection_make(ctx, &s->user, &selecting->options, sel, err)) {
		return false;
	}
	for (size_t i = 0; i < sel->plan.warning_count; i++) {
		ws_out_warn(&s->out, "%s", sel->plan.warnings[i]);
	}
	return true;
}

bool
ws_selecting_has_work(const struct ws_session *s, const struct ws_selecting *selecting,
	const struct ws_selection *sel, struct ws_err *err)
{
	const struct ws_plan *plan = &sel->plan;
	if (plan->totals.decisions[WS_DECISION_EXCLUDED] < plan->cell_count) {
		return true;
	}
	if (selecting->shard) {
		ws_out_note(&s->out, "shard %s has nothing to build\n", selecting->shard);
		return true;
	}
	if (plan->cell_count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the selection has no cells");
	}
	const struct ws_cell *cell = plan->cells[0];
	ws_err_set(err, WS_ERR_CONFIG, "every cell is excluded; the first: %s", cell->why);
	const char *command = ws_arena_printf(s->a, "plan --why '%s'", cell->name);
	return ws_err_cure(err, "the details:  %s", ws_selecting_command(s, selecting, command));
}
