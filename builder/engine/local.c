/* local.c - folders and children of this host, polled by pidfd. Outputs are moved, not copied:
 * into the store, or among the run's files if they are transient. */
#include "base/fs.h"
#include "engine/changed_since.h"
#include "engine/runner.h"
#include "engine/work.h"
#include "store/cas.h"
#include "sys/clock.h"
#include "sys/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

/* Comes first, so that the error names the tool that did not write the file. */
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

void
ws_collect(const struct ws_work *work, const struct ws_job *job, const char *log,
	int64_t started_file_ns, struct ws_done *done)
{
	const struct ws_action *action = job->action;
	struct ws_since since = {job->since_file_ns, started_file_ns};
	struct ws_err err = {0};
	bool succeeded = done->code == 0 && !done->stopped, good = true;
	if (!succeeded && action->log_says) {
		WS_AUTO_BUF struct ws_buf tail = {0};
		ws_fs_read_end(log, WS_LOG_END_BYTES, &tail);
		done->says = action->log_says(ws_buf_text(&tail));
	}
	/* Reads are found in work files and the log, so before those are moved. */
	if (succeeded) {
		good = check_outputs(job, &err) && (!action->amend || action->amend(action, job->dir, &err))
			&& (!action->find_reads
				|| action->find_reads(action, job->dir, log, job->a, &done->reads, &err));
	}
	if (succeeded && good && action->find_reads) {
		done->changed = ws_changed_since(action, &done->reads, &since, job->a);
	}
	struct stat status;
	struct ws_digest digest;
	if (stat(log, &status) == 0 && status.st_size > 0
		&& ws_cas_take(work->store, log, &digest, NULL, NULL)) {
		done->log = digest;
	}
	if (succeeded && good) {
		good = take_outputs(work, job, done, &err);
	}
	if (!good) {
		done->failure = WS_NEW(job->a, struct ws_err);
		*done->failure = err;
	}
}

/* ---- the budget: two counters, and the free memory of a host ---- */

/* Reserved for the rest of the host: using the last page is slower than waiting. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

struct ws_budget
ws_budget_make(const struct ws_host *host, unsigned jobs, uint64_t memory_bytes)
{
	uint64_t all = host->memory_bytes;
	return (struct ws_budget){
		.cpus = jobs ? jobs : host->cores,
		.memory_bytes = memory_bytes ? memory_bytes : all - all / 16,
	};
}

bool
ws_budget_host_has(
	const struct ws_host *host, uint64_t bytes, uint64_t promised_bytes, uint64_t held_bytes)
{
	uint64_t growth = promised_bytes > held_bytes ? promised_bytes - held_bytes : 0;
	uint64_t free_bytes = ws_host_available_bytes(host);
	return free_bytes > RESERVE_BYTES && growth <= free_bytes - RESERVE_BYTES
		&& bytes <= free_bytes - RESERVE_BYTES - growth;
}

bool
ws_budget_take(struct ws_budget *b, struct ws_need need)
{
	if (b->jobs > 0) {
		if (b->cpus_taken >= b->cpus || need.cpus > b->cpus - b->cpus_taken
			|| b->memory_taken >= b->memory_bytes
			|| need.rss_bytes > b->memory_bytes - b->memory_taken) {
			return false;
		}
	}
	b->jobs++;
	b->cpus_taken += need.cpus;
	b->memory_taken += need.rss_bytes;
	return true;
}

void
ws_budget_give(struct ws_budget *b, struct ws_need need)
{
	b->jobs--;
	b->cpus_taken -= need.cpus;
	b->memory_taken -= need.rss_bytes;
}

/* ---- running ---- */

#define SAMPLE_MS 100
#define GRACE_MS 5000

struct running {
	const struct ws_job *job;
	const char *log;
	int64_t started_file_ns;
	struct ws_child child;
	int64_t started_ms, deadline_ms; /* deadline 0: none */
	int64_t kill_ms;                 /* when to send SIGKILL; 0: no signal was sent */
	uint64_t held_bytes, peak_bytes;
	bool timed_out, stopped;
};

struct local {
	struct ws_runner runner;
	struct ws_arena *a;
	const struct ws_work *work;
	const struct ws_host *host;
	struct ws_stop *stop;
	int also_fd; /* a descriptor that ends a wait, too; -1: none */
	int64_t sampled_ms;
	WS_VEC(struct running) jobs;
};

static bool
has_room(
	const struct ws_runner *self, const struct ws_action *action WS_UNUSED, struct ws_need need)
{
	const struct local *l = (const struct local *)self;
	uint64_t promised_bytes = 0, held_bytes = 0;
	for (size_t i = 0; i < l->jobs.len; i++) {
		promised_bytes += l->jobs.at[i].job->need.rss_bytes;
		held_bytes += l->jobs.at[i].held_bytes;
	}
	return ws_budget_host_has(l->host, need.rss_bytes, promised_bytes, held_bytes);
}

static bool
start(struct ws_runner *self, struct ws_job *job, struct ws_err *err)
{
	struct local *l = (struct local *)self;
	const struct ws_action *action = job->action;
	struct running r = {.job = job,
		.log = ws_arena_printf(job->a, "%s/logs/%u.log", l->work->path, job->id),
		.started_file_ns = ws_clock_file_ns(),
		.started_ms = ws_clock_ms()};
	job->dir = ws_arena_printf(job->a, "%s/%u-%u", l->work->path, job->id, job->attempt);
	if (!ws_work_prepare(l->work, action, job->made, job->dir, err)) {
		return false;
	}
	WS_AUTO_FD int log = open(r.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", r.log);
	}
	struct ws_spawn spawn = {
		.program = ws_action_program(action, job->dir, job->a),
		.argv = ws_action_words(action, action->argv, job->dir, job->a),
		.env = ws_action_words(action, action->env, job->dir, job->a),
		.dir = job->dir,
		.limits = action->limits,
		.in = -1,
		.out = log,
		.err = log,
	};
	spawn.limits.timeout_ms = job->deadline_ms;
	if (!ws_spawn_start(&spawn, &r.child, err)) {
		return false;
	}
	r.deadline_ms = job->deadline_ms ? r.started_ms + (int64_t)job->deadline_ms : 0;
	*ws_vec_push(&l->jobs, l->a) = r;
	return true;
}

static bool
has(const struct ws_runner *self, const char *digest)
{
	return ws_work_has(((const struct local *)self)->work, digest);
}

static void
end_gently(struct running *r, int64_t now_ms)
{
	if (r->kill_ms == 0) {
		ws_spawn_signal(&r->child, SIGTERM);
		r->kill_ms = now_ms + GRACE_MS;
	}
}

/* Samples memory and enforces time limits. */
static void
look_after(struct local *l)
{
	int64_t now_ms = ws_clock_ms();
	if (now_ms - l->sampled_ms < SAMPLE_MS) {
		return;
	}
	l->sampled_ms = now_ms;
	for (size_t i = 0; i < l->jobs.len; i++) {
		struct running *r = &l->jobs.at[i];
		r->held_bytes = ws_spawn_rss_bytes(r->child.pid);
		r->peak_bytes = r->held_bytes > r->peak_bytes ? r->held_bytes : r->peak_bytes;
		if (r->deadline_ms && now_ms >= r->deadline_ms) {
			r->timed_out = true;
			end_gently(r, now_ms);
		}
		if (r->kill_ms && now_ms >= r->kill_ms) {
			ws_spawn_signal(&r->child, SIGKILL);
		}
	}
}

static void
forget(struct ws_runner *self, const struct ws_job *job, bool keep)
{
	const struct local *l = (const struct local *)self;
	if (!keep) {
		ws_work_clear(l->work, job->action, job->made, job->dir);
	}
}

/* Index of a job that has ended, or -1 after at most @a timeout_ms. @a also: the extra
 * descriptor is readable. */
static int
poll_jobs(const struct local *l, int timeout_ms, bool *also)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	size_t count = l->jobs.len;
	struct pollfd *fds = WS_NEW_N(a, struct pollfd, count + 2);
	for (size_t i = 0; i < count; i++) {
		fds[i] = (struct pollfd){.fd = l->jobs.at[i].child.pidfd, .events = POLLIN};
	}
	fds[count] = (struct pollfd){.fd = l->stop ? l->stop->fd : -1, .events = POLLIN};
	fds[count + 1] = (struct pollfd){.fd = l->also_fd, .events = POLLIN};
	if (poll(fds, (nfds_t)count + 2, timeout_ms) <= 0) {
		return -1;
	}
	*also = fds[count + 1].revents != 0;
	for (size_t i = 0; i < count; i++) {
		if (fds[i].revents) {
			return (int)i;
		}
	}
	return -1;
}

static enum ws_wait_result
wait_for(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done)
{
	struct local *l = (struct local *)self;
	int64_t until_ms = ws_clock_ms() + timeout_ms;
	for (;;) {
		int64_t left_ms = until_ms - ws_clock_ms();
		left_ms = left_ms < 0 ? 0 : left_ms > SAMPLE_MS ? SAMPLE_MS : left_ms;
		bool also = false;
		int ended = poll_jobs(l, (int)left_ms, &also);
		look_after(l);
		if (ended >= 0) {
			struct running r = l->jobs.at[ended];
			l->jobs.at[ended] = l->jobs.at[--l->jobs.len];
			struct ws_exit end = ws_spawn_reap(&r.child);
			*done = (struct ws_done){
				.id = r.job->id,
				.code = end.code,
				.signal = end.signal,
				.wall_ms = (uint64_t)(ws_clock_ms() - r.started_ms),
				.cpu_ms = end.cpu_ms,
				.rss_bytes = end.max_rss_bytes > r.peak_bytes ? end.max_rss_bytes : r.peak_bytes,
				.timed_out = r.timed_out,
				.stopped = r.stopped,
			};
			ws_collect(l->work, r.job, r.log, r.started_file_ns, done);
			return WS_WAIT_DONE;
		}
		if (also || ws_clock_ms() >= until_ms || (l->stop && ws_stop_asked(l->stop))) {
			return WS_WAIT_TICK;
		}
	}
}

static void
stop(struct ws_runner *self, bool now)
{
	struct local *l = (struct local *)self;
	int64_t now_ms = ws_clock_ms();
	for (size_t i = 0; i < l->jobs.len; i++) {
		struct running *r = &l->jobs.at[i];
		r->stopped = true;
		end_gently(r, now_ms);
		if (now) {
			ws_spawn_signal(&r->child, SIGKILL);
		}
	}
}

static uint64_t
held_bytes(const struct ws_runner *self, unsigned id)
{
	const struct local *l = (const struct local *)self;
	for (size_t i = 0; i < l->jobs.len; i++) {
		if (l->jobs.at[i].job->id == id) {
			return l->jobs.at[i].held_bytes;
		}
	}
	return 0;
}

static int64_t
now_ms(const struct ws_runner *self WS_UNUSED)
{
	return ws_clock_ms();
}

struct ws_runner *
ws_local_runner(const struct ws_work *work, const struct ws_host *host, struct ws_stop *asked,
	struct ws_arena *a)
{
	struct local *l = WS_NEW(a, struct local);
	l->runner =
		(struct ws_runner){has_room, start, has, wait_for, forget, stop, held_bytes, now_ms, NULL};
	l->a = a;
	l->work = work;
	l->host = host;
	l->stop = asked;
	l->also_fd = -1;
	return &l->runner;
}

void
ws_local_waits_for(struct ws_runner *local, int fd)
{
	((struct local *)local)->also_fd = fd;
}
