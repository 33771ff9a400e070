/* collect.c - outputs are moved, not copied: into the store, or into the run's files where they are
 * transient. */
#include "engine/collect.h"

#include "base/fs.h"
#include "engine/changed_since.h"
#include "store/cas.h"

#include <sys/stat.h>

/* First: an error about a file that is missing must name the tool that did not write it. */
static bool
check_outputs(const struct ws_job *job, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_action *action = job->action;
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(a, job->dir, action->outputs[i], NULL);
		struct stat status;
		if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s succeeded but wrote no '%s'",
				action->subject, action->tool.name, action->outputs[i]);
		}
	}
	return true;
}

static bool
take_outputs(
	const struct ws_work *work, const struct ws_job *job, struct ws_done *done, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const struct ws_action *action = job->action;
	done->outputs = WS_NEW_N(job->a, struct ws_digest, action->output_count);
	done->sizes = WS_NEW_N(job->a, uint64_t, action->output_count);
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(scratch, job->dir, action->outputs[i], NULL);
		struct ws_digest *digest = &done->outputs[i];
		if (!(action->transient ? ws_work_keep(work, path, digest, &done->sizes[i], err)
								: ws_cas_take(work->store, path, digest, &done->sizes[i], err))) {
			return false;
		}
	}
	return true;
}

static void
take_log(const struct ws_store *store, const char *log, struct ws_done *done)
{
	struct stat status;
	struct ws_digest digest;
	if (stat(log, &status) == 0 && status.st_size > 0
		&& ws_cas_take(store, log, &digest, NULL, NULL)) {
		done->log = digest;
	}
}

/* What was read is found in work files and the log, so it comes before those leave. */
static bool
find_reads(const struct ws_job *job, const char *log, int64_t started_file_ns, struct ws_done *done,
	struct ws_err *err)
{
	const struct ws_action *action = job->action;
	struct ws_since since = {job->since_file_ns, started_file_ns};
	if (!action->find_reads) {
		return true;
	}
	if (!action->find_reads(action, job->dir, log, job->a, &done->reads, err)) {
		return false;
	}
	done->changed = ws_changed_since(action, &done->reads, &since, job->a);
	return true;
}

void
ws_collect(const struct ws_work *work, const struct ws_job *job, const char *log,
	int64_t started_file_ns, struct ws_done *done)
{
	struct ws_err err = {0};
	bool good = true;
	if (done->code == 0 && !done->stopped) {
		good = check_outputs(job, &err)
			&& (!job->action->amend || job->action->amend(job->action, job->dir, &err))
			&& find_reads(job, log, started_file_ns, done, &err);
	} else if (job->action->log_says) {
		WS_AUTO_BUF struct ws_buf tail = {0};
		ws_fs_read_end(log, WS_LOG_END_BYTES, &tail);
		done->says = job->action->log_says(ws_buf_text(&tail));
	}
	take_log(work->store, log, done);
	if (done->code == 0 && !done->stopped && good) {
		good = take_outputs(work, job, done, &err);
	}
	if (!good) {
		done->failure = WS_NEW(job->a, struct ws_err);
		*done->failure = err;
	}
}
