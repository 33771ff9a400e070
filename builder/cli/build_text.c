/* build_text.c - prints what make/ and produce/ found out. */
#include "cli/build_text.h"

#include "base/fs.h"
#include "dist/deliver.h"
#include "report/failure.h"
#include "report/format.h"
#include "report/status.h"
#include "store/cas.h"

#include <errno.h>
#include <fcntl.h>

static bool
is_verdict(const struct ws_failed_action *failed)
{
	return strcmp(failed->stage, "check") == 0 || strcmp(failed->stage, "import") == 0;
}

#define MOST_ASKING 3 /* units, and files, listed for one symbol */

static void
add_some(struct ws_buf *b, const char *head, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count && i < MOST_ASKING; i++) {
		ws_buf_printf(b, "%s%s", i ? ", " : head, list[i]);
	}
	if (count > MOST_ASKING) {
		ws_buf_printf(b, " ... +%zu", count - MOST_ASKING);
	}
}

/* Adds ": used by kernel.cpp, declared in src/used.h" behind a missing symbol. */
static void
add_line(struct ws_buf *b, const struct ws_failed_action *failed, struct ws_str line)
{
	struct ws_str name = ws_asking_name(line);
	size_t head = name.n > 0 ? (size_t)(name.s - line.s) + name.n : line.n;
	ws_buf_printf(b, "  %.*s", (int)head, line.s);
	for (size_t i = 0; i < failed->ask_count && name.n > 0; i++) {
		const struct ws_asking *ask = &failed->asks[i];
		if (ws_str_is(name, ask->text)) {
			add_some(b, ": used by ", ask->units.at, ask->units.len);
			add_some(b, ", declared in ", ask->files.at, ask->files.len);
		}
	}
	ws_buf_printf(b, "%.*s\n", (int)(line.n - head), line.s + head);
}

/* The findings that are not "ok". */
static void
add_verdict(struct ws_buf *lines, const struct ws_failed_action *failed, struct ws_str log)
{
	bool right = false;
	while (log.s && log.n > 0) {
		struct ws_str line = ws_str_cut(&log, '\n');
		/* The failure already contains the sentence of the verdict; other errors are printed. */
		bool verdict = strncmp(line.s, "error: ", 7) == 0 && failed->err->kind == WS_ERR_VERIFY
			&& ws_ends_with(failed->err->text, " would not load");
		/* A finding's lines are indented. */
		right = line.n > 0 && *line.s == ' ' ? right : strncmp(line.s, "ok ", 3) == 0;
		if (!right && !verdict) {
			add_line(lines, failed, line);
		}
	}
}

/* The relevant lines of a log: a check's findings, or the errors in a compiler's output. */
static void
read_log(struct ws_session *s, const struct ws_failed_action *failed, struct ws_buf *lines,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	if (!failed->log_digest.hex[0] || !ws_cas_read(&s->store, failed->log_digest.hex, &log, NULL)) {
		return;
	}
	if (is_verdict(failed)) {
		add_verdict(lines, failed, ws_buf_str(&log));
	} else {
		ws_failure_excerpt(ws_buf_str(&log), lines);
		struct ws_signs signs;
		if (ws_signs_read(s->data.facts, s->a, &signs, NULL)) {
			ws_failure_cures(&signs, ws_buf_str(&log), s->a, err);
		}
	}
}

void
ws_build_text_failure(void *self, const struct ws_failed_action *failed)
{
	struct ws_build_text *text = self;
	struct ws_session *s = text->s;
	WS_AUTO_BUF struct ws_buf lines = {0};
	struct ws_err err = *failed->err;
	char printed[WS_ERR_PRINTED];
	ws_status_clear(s->status);
	read_log(s, failed, &lines, &err);
	/* A unit often fails for several Pythons in the same way: print equal failures once. */
	const char *what = ws_arena_printf(s->a, "%s %s: %s\n%s", failed->stage, failed->subject,
		failed->err->text, ws_buf_text(&lines));
	const char *before = ws_map_get(&text->printed, what);
	if (before) {
		fprintf(s->out.err, "%s: %s: '%s' failed as for %s%s%s\n", failed->cell, failed->stage,
			failed->subject, before, failed->log ? "; log: " : "", failed->log ? failed->log : "");
		return;
	}
	ws_map_put(&text->printed, what, failed->cell, s->a);
	fprintf(s->out.err, "\n%s: %s\n", failed->cell, failed->stage);
	if (!is_verdict(failed)) {
		fprintf(s->out.err, "  $ %s\n", failed->command);
	}
	fputs(ws_buf_text(&lines), s->out.err);
	if (failed->log) {
		ws_err_cure(&err, "log: %s", failed->log);
	}
	if (failed->folder) {
		ws_err_cure(&err, "folder: %s", failed->folder);
	}
	ws_cures_word(s, &err);
	WS_AUTO_BUF struct ws_buf shell = {0};
	ws_buf_puts(&shell, "shell ");
	ws_buf_put_quoted(&shell, failed->cell);
	ws_buf_puts(&shell, " --unit ");
	ws_buf_put_quoted(&shell, failed->subject);
	ws_buf_puts(&shell, text->selecting->offline ? " --offline" : "");
	ws_err_cure(&err, "shell%s: %s", failed->elsewhere ? ", by this host's compiler" : "",
		ws_selecting_command(s, text->selecting, ws_buf_text(&shell), false));
	fputs(ws_err_print(&err, printed), s->out.err);
}

/* Reasons of cells that failed before any command ran. */
static void
print_untried(struct ws_session *s, const struct ws_build_text *text)
{
	const struct ws_build_result *result = text->result;
	const struct ws_err *before = NULL;
	for (size_t i = 0; i < result->supplies.count; i++) {
		const struct ws_supply *supply = &result->supplies.at[i];
		const struct ws_err *why = supply->kind == WS_SUPPLY_NONE ? supply->failure : NULL;
		/* Report each reason once. */
		bool reported = !why || why == before || strcmp(why->text, text->last->text) == 0;
		for (size_t j = 0; j < result->failed_count; j++) {
			reported = reported || why == result->failed[j].err;
		}
		if (!reported) {
			struct ws_err worded = *why;
			ws_cures_word(s, &worded);
			ws_out_error(&s->out, &worded);
		}
		before = why ? why : before;
	}
}

static bool
is_ready(const struct ws_cell_result *cell)
{
	return ws_cell_state(cell) == WS_CELL_READY;
}

void
ws_build_text_wheel(void *self, const struct ws_supply *supply)
{
	const struct ws_build_text *text = self;
	struct ws_session *s = text->s;
	ws_status_clear(s->status);
	if (!s->globals.json) { /* with --json the events name it */
		ws_out_result(&s->out, "%s\n", ws_path_join(s->a, text->output, supply->wheel, NULL));
		fflush(s->out.out);
	}
	if (supply->import) {
		ws_out_note(
			&s->out, "%s%s\n", supply->imported ? "" : "not imported here: ", supply->import);
	}
}

/* Sizes of the wheels, and how they changed since the last delivery of the same cells. */
static void
print_sizes(struct ws_session *s, const struct ws_supplies *supplies)
{
	uint64_t wheel = 0, installed = 0, now[2] = {0}, before[2] = {0};
	unsigned count = 0, changed = 0;
	char text[4][WS_FORMAT_BYTES];
	for (size_t i = 0; i < supplies->count; i++) {
		const struct ws_supply *supply = &supplies->at[i];
		count += supply->wheel != NULL;
		wheel += supply->wheel_bytes;
		installed += supply->installed_bytes;
		if (supply->before.wheel_bytes) {
			changed++;
			now[0] += supply->wheel_bytes;
			now[1] += supply->installed_bytes;
			before[0] += supply->before.wheel_bytes;
			before[1] += supply->before.installed_bytes;
		}
	}
	if (count > 0) {
		ws_out_note(&s->out, "%u wheel%s, %s; installed %s\n", count, count == 1 ? "" : "s",
			ws_format_size(wheel, text[0]), ws_format_size(installed, text[1]));
	}
	if (changed > 0) {
		ws_out_note(&s->out, "%u changed: %s was %s; installed %s was %s\n", changed,
			ws_format_size(now[0], text[0]), ws_format_size(before[0], text[1]),
			ws_format_size(now[1], text[2]), ws_format_size(before[1], text[3]));
	}
}

/* "python3.11 -m venv .venv && .venv/bin/" where that Python refuses `pip install` outside of a
 * virtual environment (PEP 668: the file EXTERNALLY-MANAGED beside its library), else "". */
static const char *
environment_command(struct ws_session *s, const struct ws_python_choice *python)
{
	const char *name = ws_arena_printf(s->a, "python%s", python->text);
	const char *active = ws_user_env_get(&s->env, "VIRTUAL_ENV");
	WS_AUTO_FREE char *path = realpath(ws_matrix_options_python(&s->env, name, s->a), NULL);
	if (active || !path) {
		return "";
	}
	const char *prefix = ws_path_dir(s->a, ws_path_dir(s->a, path));
	bool managed =
		ws_fs_exists(ws_path_join(s->a, prefix, "lib", name, "EXTERNALLY-MANAGED", NULL));
	return managed ? ws_arena_printf(s->a, "%s -m venv .venv && .venv/bin/", name) : "";
}

/* One wheel by its name; several by the requirements file of the first environment. */
static void
print_install(struct ws_session *s, const struct ws_build_text *text)
{
	const struct ws_build_result *result = text->result;
	const struct ws_cell_result *first = NULL;
	const char *list = NULL;
	const struct ws_machine *machine = NULL; /* of wheels that pip here cannot install */
	struct ws_map lists = {0};
	bool several = false, here = false;
	WS_AUTO_BUF struct ws_buf file = {0};
	for (size_t i = 0; i < result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &result->supplies.cells[i];
		if (is_ready(cell)) {
			const char *own = ws_deliver_requirements(text->output, cell, s->a);
			several = several || (first && !ws_same(cell->supply->wheel, first->supply->wheel));
			list = first ? list : own;
			first = first ? first : cell;
			machine = cell->cell->point.machine;
			here = here || machine == ws_machine_host();
			if (own) {
				ws_map_add(&lists, own, s->a);
			}
		}
	}
	if (!first) {
		return;
	}
	if (several && list) {
		ws_buf_puts(&file, "--require-hashes --no-deps --find-links ");
		ws_buf_put_quoted(&file, text->output);
		ws_buf_puts(&file, " -r ");
		ws_buf_put_quoted(&file, list);
	} else {
		ws_buf_put_quoted(&file, ws_path_join(s->a, text->output, first->supply->wheel, NULL));
	}
	ws_out_note(&s->out, "install%s%s:  %spip install %s\n", here ? "" : ", on ",
		here ? "" : machine->name, here ? environment_command(s, first->cell->point.python) : "",
		ws_buf_text(&file));
	for (size_t i = 0; i < lists.count; i++) {
		const char *other = lists.slots[i].key;
		if (list && !ws_same(other, list)) {
			ws_out_note(&s->out, "          or with -r %s\n", other);
		}
	}
}

static void
add_mean(struct ws_buf *text, uint64_t ms, unsigned count, const char *of)
{
	char mean[WS_FORMAT_BYTES];
	if (ms > 0) {
		ws_buf_printf(text, ", %s %s (mean)", ws_format_duration(ms / count, mean), of);
	}
}

static void
print_summary(struct ws_session *s, const struct ws_build_text *text)
{
	const struct ws_build_result *result = text->result;
	const struct ws_run_summary *actions = &result->actions;
	char wall[WS_FORMAT_BYTES], cpu[WS_FORMAT_BYTES], peak[WS_FORMAT_BYTES];
	if (actions->total == 0 && text->last->text[0]) {
		return;
	}
	ws_format_memory(actions->peak_bytes, peak);
	bool measured = actions->peak_bytes > 0; /* short commands have no sample */
	unsigned counts[WS_CELL_CANCELLED + 1] = {0}, prebuilt = 0;
	for (size_t i = 0; i < result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &result->supplies.cells[i];
		enum ws_cell_state state = ws_cell_state(cell);
		counts[state]++;
		prebuilt += state == WS_CELL_READY && cell->supply->kind == WS_SUPPLY_PREBUILT;
		if (state == WS_CELL_FALLBACK) { /* it must not look like a missing wheel */
			ws_out_note(&s->out, "%s: falls back to %s\n", cell->cell->name, cell->supply->why);
		}
	}
	unsigned fallbacks = counts[WS_CELL_FALLBACK], published = counts[WS_CELL_PUBLISHED];
	ws_out_note(&s->out, "%u ready%s, %u failed, %u not done, %u excluded%s%s; %s, %s of CPU%s%s\n",
		counts[WS_CELL_READY], prebuilt ? ws_arena_printf(s->a, " (%u prebuilt)", prebuilt) : "",
		counts[WS_CELL_FAILED], counts[WS_CELL_CANCELLED], counts[WS_CELL_EXCLUDED],
		fallbacks ? ws_arena_printf(s->a, ", %u fallback", fallbacks) : "",
		published ? ws_arena_printf(s->a, ", %u published", published) : "",
		ws_format_duration(result->wall_ms, wall), ws_format_duration(actions->cpu_ms, cpu),
		measured ? ", peak " : "", measured ? peak : "");
	/* ", 12 on the farm, 3.1 s queued (mean), 0.2 s for inputs (mean)"; unreported times are left
	 * out. */
	WS_AUTO_BUF struct ws_buf farm = {0};
	if (actions->ran_elsewhere > 0) {
		ws_buf_printf(&farm, ", %u on the farm", actions->ran_elsewhere);
		add_mean(&farm, actions->queued_ms, actions->ran_elsewhere, "queued");
		add_mean(&farm, actions->fetch_ms, actions->ran_elsewhere, "for inputs");
	}
	ws_out_note(&s->out, "%u actions: %u from the store, %u ran%s\n", actions->total, actions->hits,
		actions->ran, ws_buf_text(&farm));
	print_sizes(s, &result->supplies);
	print_install(s, text);
}

/* Appends a table to GitHub's step summary. */
static void
write_github(struct ws_session *s, const struct ws_build_text *text)
{
	static const char *const states[] = {
		[WS_CELL_EXCLUDED] = "excluded",
		[WS_CELL_FALLBACK] = "fallback",
		[WS_CELL_PUBLISHED] = "published",
		[WS_CELL_READY] = "ready",
		[WS_CELL_FAILED] = "**failed**",
		[WS_CELL_CANCELLED] = "not done",
	};
	const char *path = ws_user_env_get(&s->env, "GITHUB_STEP_SUMMARY");
	if (!path || !path[0]) {
		return;
	}
	WS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	WS_AUTO_BUF struct ws_buf md = {0};
	ws_buf_puts(&md, "| cell | result | wheel | size |\n|---|---|---|---:|\n");
	for (size_t i = 0; i < text->result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &text->result->supplies.cells[i];
		bool ready = is_ready(cell);
		enum ws_supply_kind kind = ready ? cell->supply->kind : WS_SUPPLY_NONE;
		char size[WS_FORMAT_BYTES] = "";
		if (ready) {
			ws_format_size(cell->supply->wheel_bytes, size);
		}
		ws_buf_printf(&md, "| `%s` | %s%s | %s | %s |\n", cell->cell->name,
			states[ws_cell_state(cell)],
			kind == WS_SUPPLY_CACHED         ? " (store)"
				: kind == WS_SUPPLY_PREBUILT ? " (prebuilt)"
											 : "",
			ready ? cell->supply->wheel : ws_cell_reason(cell), size);
	}
	if (fd < 0 || !ws_fs_write_all(fd, md.data, md.len)) {
		ws_out_warn(&s->out, "the step summary cannot be written: %s", strerror(errno));
	}
}

void
ws_build_text_end(const struct ws_build_text *text)
{
	print_untried(text->s, text);
	print_summary(text->s, text);
	write_github(text->s, text);
}
