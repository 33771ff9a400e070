/* worker_result.c - reads the report first: it decides whether the files are needed. */
#include "remote/worker_result.h"

#include "base/fs.h"
#include "engine/changed_since.h"
#include "engine/reads_manifest.h"
#include "engine/remote_order.h"
#include "engine/worker_files.h"
#include "store/cas.h"

#define LONGEST_ERRORS ((size_t)1 << 20)
#define LARGEST_OUTPUT ((uint64_t)8 << 30)

/* ---- files to fetch ---- */

/* 0: missing, or larger than @a most bytes. */
static size_t
add_item(const Reapi__Digest *digest, uint64_t most, const char *dir, struct ws_arena *a,
	ws_item_list *items)
{
	if (!digest || digest->size_bytes < 0 || (uint64_t)digest->size_bytes > most) {
		return 0;
	}
	size_t place = items->len;
	*ws_vec_push(items, a) = (struct ws_item){.key = digest->hash,
		.size_bytes = (uint64_t)digest->size_bytes,
		.path = ws_arena_printf(a, "%s/%zu", dir, place)};
	return place;
}

static const Reapi__Digest *
output(const Reapi__ActionResult *result, const char *path)
{
	for (size_t i = 0; i < result->n_output_files; i++) {
		if (strcmp(result->output_files[i]->path, path) == 0) {
			return result->output_files[i]->digest;
		}
	}
	return NULL;
}

size_t
ws_worker_result_add_file(const Reapi__ActionResult *result, const char *path, const char *dir,
	struct ws_arena *a, ws_item_list *items)
{
	return path ? add_item(output(result, path), WS_LONGEST_REPORT, dir, a, items)
				: add_item(result->stderr_digest, LONGEST_ERRORS, dir, a, items);
}

void
ws_worker_result_list_files(const Reapi__ActionResult *result, const struct ws_job *job,
	const char *dir, struct ws_arena *a, ws_item_list *items, struct ws_worker_result *files)
{
	const struct ws_action *action = job->action;
	if (items->len == 0) {
		*ws_vec_push(items, a) = (struct ws_item){0};
	}
	files->report = ws_worker_result_add_file(result, WS_REMOTE_REPORT, dir, a, items);
	files->log = add_item(output(result, WS_REMOTE_LOG), WS_LARGEST_UNKNOWN, dir, a, items);
	files->stderr_text = ws_worker_result_add_file(result, NULL, dir, a, items);
	files->outputs = WS_NEW_N(a, size_t, action->output_count);
	files->kept_there = WS_NEW_N(a, const Reapi__Digest *, action->output_count);
	for (size_t i = 0; i < action->output_count && result->exit_code == 0; i++) {
		const char *path = ws_arena_printf(a, WS_REMOTE_WORK "/%s", action->outputs[i]);
		const Reapi__Digest *digest = output(result, path);
		if (action->transient) {
			files->kept_there[i] = digest;
			continue;
		}
		files->outputs[i] = add_item(digest, LARGEST_OUTPUT, dir, a, items);
		if (digest && files->outputs[i] == 0) {
			files->too_large = action->outputs[i];
		}
	}
}

/* ---- fetched files ---- */

static bool
is_whole(const ws_item_list *items, size_t place)
{
	return place > 0 && items->at[place].came == WS_CAME_WHOLE;
}

/* True if the files that were read outside of trees are equal on this host. */
static bool
is_same_host(const struct ws_report *report, const struct ws_action *action, struct ws_names *names,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_reads *reads = &report->reads;
	const char *why = NULL;
	for (size_t i = 0; i < reads->files.len; i++) {
		const char *name = reads->files.at[i], *digest = ws_map_get(&report->outside, name);
		if (ws_names_is_outside(action, name)) {
			ws_buf_printf(&text, "f %s %s\n", digest ? digest : "", name);
		}
	}
	static const char kinds[] = "apd";
	const ws_name_list *const lists[] = {&reads->absent, &reads->present, &reads->folders};
	for (size_t k = 0; k < WS_LEN(lists); k++) {
		for (size_t i = 0; i < lists[k]->len; i++) {
			ws_buf_printf(&text, "%c %s\n", kinds[k], lists[k]->at[i]);
		}
	}
	return ws_manifest_holds(ws_buf_str(&text), true, action, names, a, &why)
		|| ws_err_set(err, WS_ERR_BUILD, "'%s': the worker's files differ from this host's: %s",
			action->subject, why);
}

/* True if all workers agree about files that were read outside of trees. A cached result may be
 * of earlier workers: it is compared with the current ones. */
static bool
workers_agree(
	const struct ws_report *report, const struct ws_action *action, bool kept, struct ws_err *err)
{
	const char *name;
	if (kept) {
		ws_worker_files_want_report(action->platform, report);
		ws_worker_files_ask_wanted(action->platform, err);
		if (action->platform->is_silent) {
			return ws_err_set(err, WS_ERR_FETCH, "%s does not answer", action->platform->name);
		}
	}
	return ws_worker_files_add_report(action->platform, report, &name)
		|| ws_err_set(err, WS_ERR_BUILD, "'%s': workers of %s disagree about '%s'", action->subject,
			action->platform->name, name);
}

/* Takes one output. Files left on the farm are trusted by the digest that the farm reports. */
static enum ws_worker_result_state
accept_output(const struct ws_worker_result *files, const ws_item_list *items, size_t index,
	const struct ws_report *report, const struct ws_job *job, const struct ws_store *store,
	struct ws_done *done, struct ws_err *err)
{
	const struct ws_action *action = job->action;
	struct ws_digest *digest = &done->outputs[index];
	const char *name = action->outputs[index], *made = ws_map_get(&report->made, name);
	const Reapi__Digest *kept_there = files->kept_there[index];
	size_t place = files->outputs[index];
	if (place == 0 && !kept_there) {
		ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s succeeded but wrote no '%s'",
			action->subject, action->tool.name, name);
		return WS_WORKER_RESULT_WRONG;
	}
	if (!kept_there && !is_whole(items, place)) {
		return WS_WORKER_RESULT_LOST;
	}
	const char *said = kept_there ? kept_there->hash : items->at[place].key;
	if (!made || strcmp(made, said) != 0 || !ws_digest_parse(said, digest)) {
		ws_err_set(err, WS_ERR_BUILD, "'%s': the worker's digest of '%s' does not match the file",
			action->subject, name);
		return WS_WORKER_RESULT_NOT_RUN;
	}
	if (kept_there) {
		done->sizes[index] = kept_there->size_bytes > 0 ? (uint64_t)kept_there->size_bytes : 0;
		return WS_WORKER_RESULT_WHOLE;
	}
	return ws_cas_take(store, items->at[place].path, digest, &done->sizes[index], err)
		? WS_WORKER_RESULT_WHOLE
		: WS_WORKER_RESULT_WRONG;
}

const char *
ws_worker_first_error(const struct ws_item *item, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf words = {0};
	if (item->came == WS_CAME_WHOLE) {
		ws_fs_read_at_most(item->path, WS_LONGEST_REPORT, &words, NULL);
	}
	struct ws_str line = ws_buf_str(&words);
	line = ws_str_trim(ws_str_cut(&line, '\n'));
	line.n = line.n < 300 ? line.n : 300;
	return line.n ? ws_str_copy(line, a) : "it left no report";
}

static void
take_log(const struct ws_worker_result *files, const ws_item_list *items, const struct ws_job *job,
	const struct ws_store *store, struct ws_done *done)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest digest;
	if (!is_whole(items, files->log) || items->at[files->log].size_bytes == 0) {
		return;
	}
	if (done->code != 0 && job->action->log_says) {
		ws_fs_read_end(items->at[files->log].path, WS_LOG_END_BYTES, &text);
		done->says = job->action->log_says(ws_buf_text(&text));
	}
	if (ws_cas_take(store, items->at[files->log].path, &digest, NULL, NULL)) {
		done->log = digest;
	}
}

/* WHOLE if there is a report about this action, on a host that may run it. */
static enum ws_worker_result_state
read_report(const struct ws_worker_result *files, const ws_item_list *items,
	const struct ws_job *job, struct ws_report *report, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (files->report == 0) {
		ws_err_set(err, WS_ERR_BUILD, "'%s': the worker could not run it: %s", job->action->subject,
			ws_worker_first_error(&items->at[files->stderr_text], job->a));
		return WS_WORKER_RESULT_NOT_RUN;
	}
	if (!is_whole(items, files->report)) {
		return WS_WORKER_RESULT_LOST;
	}
	ws_fs_read_at_most(items->at[files->report].path, WS_LONGEST_REPORT, &text, NULL);
	if (!ws_report_read(ws_buf_str(&text), job->a, report, err)) {
		ws_err_wrap(err, "'%s': the worker's report", job->action->subject);
		return WS_WORKER_RESULT_NOT_RUN;
	}
	if (!report->order || strcmp(report->order, files->order) != 0) {
		ws_err_set(err, WS_ERR_BUILD, "'%s': the worker's report is about another command",
			job->action->subject);
		return WS_WORKER_RESULT_NOT_RUN;
	}
	if (report->differs) {
		ws_err_set(err, WS_ERR_BUILD, "'%s': the worker's '%s' differs from that of %s",
			job->action->subject, report->differs,
			job->action->platform ? "the queried worker" : "this host");
		return WS_WORKER_RESULT_OTHER_HOST;
	}
	if (report->changed && files->may_run_again) {
		ws_err_set(err, WS_ERR_BUILD, "'%s': '%s' changed while the worker ran it",
			job->action->subject, report->changed);
		return WS_WORKER_RESULT_NOT_RUN;
	}
	return WS_WORKER_RESULT_WHOLE;
}

enum ws_worker_result_state
ws_worker_result_accept(const struct ws_worker_result *files, const ws_item_list *items,
	const struct ws_job *job, const struct ws_store *store, struct ws_names *names,
	struct ws_done *done, struct ws_err *err)
{
	struct ws_report report;
	for (size_t i = 0; i < job->action->output_count + 2; i++) {
		const struct ws_item *item = &items->at[i == 0 ? files->report
				: i == 1                               ? files->log
													   : files->outputs[i - 2]];
		if (item->ours) {
			ws_err_set(err, WS_ERR_IO, "%s", item->failure);
			return WS_WORKER_RESULT_WRONG;
		}
	}
	enum ws_worker_result_state state = read_report(files, items, job, &report, err);
	if (state != WS_WORKER_RESULT_WHOLE) {
		return state;
	}
	*done = (struct ws_done){.id = job->id,
		.code = report.signal ? -1 : report.code,
		.signal = report.signal,
		.wall_ms = report.wall_ms,
		.cpu_ms = report.cpu_ms,
		.rss_bytes = report.rss_bytes,
		.reads = report.reads,
		.changed = report.changed};
	take_log(files, items, job, store, done);
	if (done->code != 0) {
		return WS_WORKER_RESULT_WHOLE;
	}
	if (job->action->platform) {
		if (!workers_agree(&report, job->action, files->kept, err)) {
			return WS_WORKER_RESULT_OTHER_HOST;
		}
	} else {
		if (!is_same_host(&report, job->action, names, job->a, err)) {
			return WS_WORKER_RESULT_OTHER_HOST;
		}
		/* Compared with digests of this run: a file that changed since then may differ in the
		 * manifest. */
		struct ws_since since = {job->since_file_ns, 0};
		const char *changed = ws_changed_since(job->action, &done->reads, &since, job->a);
		done->changed = changed ? changed : done->changed;
	}
	if (files->too_large) {
		ws_err_set(err, WS_ERR_BUILD,
			"'%s' failed: its output '%s' has more than %llu GiB on the worker",
			job->action->subject, files->too_large, (unsigned long long)(LARGEST_OUTPUT >> 30));
		return WS_WORKER_RESULT_WRONG;
	}
	done->outputs = WS_NEW_N(job->a, struct ws_digest, job->action->output_count);
	done->sizes = WS_NEW_N(job->a, uint64_t, job->action->output_count);
	for (size_t i = 0; i < job->action->output_count && state == WS_WORKER_RESULT_WHOLE; i++) {
		state = accept_output(files, items, i, &report, job, store, done, err);
	}
	return state;
}
