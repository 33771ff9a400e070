/* engine_world.c - jobs end when the script says so; time passes when the engine waits. */
#include "engine_world.h"

#include "base/fs.h"

static const struct scripted_line *
next_line(struct scripted *s, const char *subject)
{
	static const struct scripted_line plain = {.wall_ms = 1000, .rss_bytes = 1 << 20};
	for (size_t i = 0; i < s->lines; i++) {
		if (!s->used[i] && strcmp(s->script[i].subject, subject) == 0) {
			s->used[i] = true;
			return &s->script[i];
		}
	}
	return &plain;
}

static bool
has_room(
	const struct ws_runner *self, const struct ws_action *action WS_UNUSED, struct ws_need need)
{
	const struct scripted *s = (const struct scripted *)self;
	uint64_t promised_bytes = 0, held_bytes = 0;
	for (size_t i = 0; i < s->active_count; i++) {
		promised_bytes += s->active[i].job->need.rss_bytes;
		held_bytes += s->active[i].line->rss_bytes;
	}
	return ws_budget_host_has(s->host, need.rss_bytes, promised_bytes, held_bytes);
}

static bool
start(struct ws_runner *self, struct ws_job *job, struct ws_err *err)
{
	struct scripted *s = (struct scripted *)self;
	const char *subject = job->action->argv[0];
	job->dir = ws_arena_printf(job->a, "%s/%u-%u", s->work->path, job->id, job->attempt);
	assert_ok(ws_work_prepare(s->work, job->action, job->made, job->dir, err), *err);
	*ws_vec_push(&s->started, s->a) = ws_arena_strdup(s->a, subject);
	*ws_vec_push(&s->deadlines_ms, s->a) = job->deadline_ms;
	const struct scripted_line *line = next_line(s, subject);
	assert_true(s->active_count < WS_LEN(s->active));
	s->active[s->active_count++] =
		(struct active){job, s->now_ms + (int64_t)line->wall_ms, line, false};
	s->most_active = s->active_count > s->most_active ? s->active_count : s->most_active;
	if (line->code == 0 && !line->no_output) {
		const char *out = ws_path_join(s->a, job->dir, "out", NULL);
		/* Its output depends on its input, so that early cut-off is visible. */
		const char *text = job->action->argv[1] ? job->action->argv[1] : subject;
		assert_ok(ws_fs_write(out, text, strlen(text), 0644, err), *err);
	}
	return true;
}

static bool
has(const struct ws_runner *self, const char *digest)
{
	return ws_work_has(((const struct scripted *)self)->work, digest);
}

static void
forget(struct ws_runner *self, const struct ws_job *job, bool keep)
{
	if (!keep) {
		ws_work_clear(((struct scripted *)self)->work, job->action, job->made, job->dir);
	}
}

static void
lose_inputs(const struct scripted *s, const struct ws_job *job)
{
	for (size_t i = 0; i < job->action->input_count; i++) {
		ws_work_drop(s->work, job->made[i]);
	}
}

static enum ws_wait_result
wait_for(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done)
{
	struct scripted *s = (struct scripted *)self;
	size_t first = 0;
	for (size_t i = 1; i < s->active_count; i++) {
		first = s->active[i].ends_ms < s->active[first].ends_ms ? i : first;
	}
	if (s->active_count == 0 || s->active[first].ends_ms > s->now_ms + (int64_t)timeout_ms) {
		s->now_ms += timeout_ms;
		return WS_WAIT_TICK;
	}
	struct active ended = s->active[first];
	s->active[first] = s->active[--s->active_count];
	s->now_ms = ended.ends_ms > s->now_ms ? ended.ends_ms : s->now_ms;
	if (ended.line->code == LACKS_INPUT) {
		lose_inputs(s, ended.job);
		*done = (struct ws_done){.id = ended.job->id, .code = -1, .lacks_input = true};
		return WS_WAIT_DONE;
	}
	*done = (struct ws_done){
		.id = ended.job->id,
		.code = ended.line->code,
		.signal = ended.line->signal,
		.wall_ms = ended.line->wall_ms,
		.cpu_ms = ended.line->wall_ms,
		.rss_bytes = ended.line->rss_bytes,
		.stopped = ended.stopped,
	};
	ws_collect(s->work, ended.job, ws_path_join(s->a, ended.job->dir, "log", NULL), 0, done);
	return WS_WAIT_DONE;
}

static void
stop(struct ws_runner *self, bool now WS_UNUSED)
{
	struct scripted *s = (struct scripted *)self;
	for (size_t i = 0; i < s->active_count; i++) {
		s->active[i].stopped = true;
		s->active[i].ends_ms = s->now_ms;
	}
}

static uint64_t
held_bytes(const struct ws_runner *self, unsigned id)
{
	const struct scripted *s = (const struct scripted *)self;
	for (size_t i = 0; i < s->active_count; i++) {
		if (s->active[i].job->id == id) {
			return s->active[i].line->rss_bytes;
		}
	}
	return 0;
}

static int64_t
now_ms(const struct ws_runner *self)
{
	return ((const struct scripted *)self)->now_ms;
}

const char *
engine_world_host(struct ws_arena *a, uint64_t bytes)
{
	struct ws_err err;
	const char *root = ws_test_dir(a);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, root, "proc/self", NULL), &err), err);
	const char *text = ws_arena_printf(a, "MemTotal: %llu kB\nMemAvailable: %llu kB\n",
		(unsigned long long)(bytes / 1024), (unsigned long long)(bytes / 1024));
	const char *path = ws_path_join(a, root, "proc/meminfo", NULL);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	return root;
}

void
engine_world_open(struct engine_world *w, struct ws_arena *a, unsigned jobs, uint64_t memory_bytes,
	const struct scripted_line *script, size_t lines)
{
	*w = (struct engine_world){.a = a};
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &w->err), w->err);
	w->ledger = w->store.ledger;
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &w->err), w->err);
	w->host = ws_host_read(engine_world_host(a, memory_bytes * 2), a);
	w->budget = ws_budget_make(&w->host, jobs, memory_bytes);
	w->runner = (struct scripted){
		.runner = {has_room, start, has, wait_for, forget, stop, held_bytes, now_ms, NULL},
		.work = &w->work,
		.host = &w->host,
		.script = script,
		.lines = lines,
		.used = WS_NEW_N(a, bool, lines + 1),
		.a = a,
	};
	w->engine = (struct ws_engine){
		.store = &w->store,
		.ledger = w->ledger,
		.runner = &w->runner.runner,
		.work = &w->work,
		.budget = &w->budget,
	};
	w->graph = ws_graph_make(a);
}

void
engine_world_close(struct engine_world *w)
{
	ws_work_close(&w->work, false);
	ws_store_close(&w->store);
}

void
engine_world_run(struct engine_world *w)
{
	assert_ok(ws_engine_run(&w->engine, w->graph, &w->summary, &w->err), w->err);
}

static const char *const outputs[] = {"out"};
static const char *const no_env[] = {NULL};

struct ws_action *
engine_world_action(struct engine_world *w, const char *subject, const char *word)
{
	struct ws_action *action = WS_NEW(w->a, struct ws_action);
	const char **argv = WS_NEW_N(w->a, const char *, 3);
	argv[0] = subject;
	argv[1] = word;
	*action = (struct ws_action){
		.subject = subject,
		.group = "g",
		.unit = subject,
		.stage = "compile",
		.variant = "",
		.tool = {"cc", "/bin/false", "f00d"},
		.argv = argv,
		.env = no_env,
		.outputs = outputs,
		.output_count = 1,
		.need = {.cpus = 1, .rss_bytes = GIB},
	};
	return action;
}
