/* engine_driver.c - what the engine itself costs, for ./dev bench.
 *
 *     engine_driver STORE COUNT            COUNT actions that copy a file each, run and then found
 *                                          again
 *     engine_driver STORE COUNT scripted   the same without processes, in chains of five on 16
 *                                          slots
 *     engine_driver STORE TABLE SLOTS MIB  the actions of a table, without processes, by a clock of
 *                                          their own
 *
 * A line of a table: milliseconds, MiB, and the lines (from 1, before it) of those that it waits
 * for. Printed are simulated_s, when the last had ended, and peak_mib, the most that those running
 * had together.
 *
 * Prints microseconds of CPU an action, children included: run_us, hit_us, and hand_us for the same
 * program started without the engine; scripted_us and found_us, and scripted_s and found_s, seconds
 * of time. STORE must be new.
 */
#include "base/fs.h"
#include "engine/engine.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char program[] = "/bin/cp";

struct bench {
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_work work;
	struct ws_host host;
	struct ws_arena *a;
	unsigned count;
	bool scripted;
	unsigned slots;
	uint64_t memory_bytes; /* 0: what the host has */
};

static double
spent_us(int who)
{
	struct rusage used;
	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6
		+ (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double
cpu_us(void)
{
	return spent_us(RUSAGE_SELF) + spent_us(RUSAGE_CHILDREN);
}

static bool
open_bench(struct bench *b, const char *store, struct ws_err *err)
{
	if (!ws_store_open(store, b->a, &b->store, err)) {
		return false;
	}
	b->ledger = b->store.ledger;
	b->host = ws_host_read("", b->a);
	return b->ledger && ws_work_open(&b->store, NULL, b->a, &b->work, err);
}

/* Jobs take as long as they are estimated to, at least a millisecond, by a clock that jumps to the
 * next end. Their output is their number. */
struct scripted {
	struct ws_runner runner;
	const struct ws_work *work;
	const struct ws_job *jobs[64];
	int64_t end_ms[64];
	size_t count;
	int64_t now_ms;
};

static bool
has_scripted_room(
	const struct ws_runner *self, const struct ws_action *action WS_UNUSED, struct ws_need need)
{
	(void)self;
	(void)need;
	return true;
}

static int64_t
lasts_ms(const struct ws_job *job)
{
	return job->action->cpu_ms ? (int64_t)job->action->cpu_ms : 1;
}

static bool
start_scripted(struct ws_runner *self, struct ws_job *job, struct ws_err *err)
{
	struct scripted *s = (struct scripted *)self;
	char path[4096], text[16];
	job->dir = ws_arena_printf(job->a, "%s/%u-%u", s->work->path, job->id, job->attempt);
	if (!ws_work_prepare(s->work, job->action, job->made, job->dir, err)) {
		return false;
	}
	s->end_ms[s->count] = s->now_ms + lasts_ms(job);
	s->jobs[s->count++] = job;
	snprintf(path, sizeof(path), "%s/out", job->dir);
	snprintf(text, sizeof(text), "%u", job->id);
	return ws_fs_write(path, text, strlen(text), 0644, err);
}

static enum ws_wait_result
wait_scripted(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done)
{
	struct scripted *s = (struct scripted *)self;
	if (s->count == 0) {
		s->now_ms += timeout_ms;
		return WS_WAIT_TICK;
	}
	size_t next = s->count - 1;
	for (size_t i = next; i-- > 0;) {
		next = s->end_ms[i] < s->end_ms[next] ? i : next;
	}
	const struct ws_job *job = s->jobs[next];
	s->now_ms = s->end_ms[next];
	s->jobs[next] = s->jobs[--s->count];
	s->end_ms[next] = s->end_ms[s->count];
	uint64_t took_ms = (uint64_t)lasts_ms(job);
	*done = (struct ws_done){.id = job->id,
		.wall_ms = took_ms,
		.cpu_ms = took_ms,
		.rss_bytes = job->action->need.rss_bytes};
	ws_collect(s->work, job, ws_path_join(job->a, job->dir, "log", NULL), 0, done);
	return WS_WAIT_DONE;
}

static bool
scripted_has(const struct ws_runner *self, const char *digest)
{
	return ws_work_has(((const struct scripted *)self)->work, digest);
}

static void
forget_scripted(struct ws_runner *self, const struct ws_job *job, bool keep)
{
	(void)keep;
	ws_work_clear(((struct scripted *)self)->work, job->action, job->made, job->dir);
}

static void
stop_scripted(struct ws_runner *self, bool now)
{
	(void)self;
	(void)now;
}

static uint64_t
held_by_scripted(const struct ws_runner *self, unsigned id)
{
	const struct scripted *s = (const struct scripted *)self;
	for (size_t i = 0; i < s->count; i++) {
		if (s->jobs[i]->id == id) {
			return s->jobs[i]->action->need.rss_bytes;
		}
	}
	return 0;
}

static int64_t
scripted_ms(const struct ws_runner *self)
{
	return ((const struct scripted *)self)->now_ms;
}

/* Adds one that copies @a text, or what others made. */
static struct ws_node *
add_copy(struct bench *b, struct ws_graph *graph, const char *text, const struct ws_input *inputs,
	size_t input_count, struct ws_need need, uint64_t cpu_ms)
{
	static const char *const argv[] = {"cp", "in", "out", NULL};
	static const char *const env[] = {"LANG=C", NULL};
	static const char *const outputs[] = {"out"};
	struct ws_action *action = WS_NEW(b->a, struct ws_action);
	*action = (struct ws_action){
		.subject = text,
		.group = "bench",
		.unit = text,
		.stage = "copy",
		.variant = "",
		.tool = {"cp", program, "f00d"},
		.argv = argv,
		.env = env,
		.inputs = inputs,
		.input_count = input_count,
		.outputs = outputs,
		.output_count = 1,
		.need = need,
		.cpu_ms = cpu_ms,
	};
	return ws_graph_add(graph, action);
}

/* Each copies a text of its own, or what the one before it made. */
static bool
add_action(struct bench *b, struct ws_graph *graph, unsigned number, struct ws_err *err)
{
	struct ws_digest *digest = WS_NEW(b->a, struct ws_digest);
	const char *text = ws_arena_printf(b->a, "%u", number);
	if (!ws_cas_put(&b->store, text, strlen(text), digest, err)) {
		return false;
	}
	struct ws_input *input = WS_NEW(b->a, struct ws_input);
	bool chained = b->scripted && number % 5 != 0;
	*input = (struct ws_input){.name = "in",
		.digest = chained ? NULL : digest->hex,
		.from = chained ? graph->nodes.at[number - 1] : NULL};
	add_copy(b, graph, text, input, 1, (struct ws_need){.cpus = 1, .rss_bytes = 1 << 20}, 0);
	return true;
}

static bool
run_engine(struct bench *b, struct ws_graph *graph, struct scripted *scripted,
	struct ws_run_summary *summary, struct ws_err *err)
{
	struct ws_budget budget = ws_budget_make(&b->host, b->slots, b->memory_bytes);
	*scripted =
		(struct scripted){.runner = {has_scripted_room, start_scripted, scripted_has, wait_scripted,
							  forget_scripted, stop_scripted, held_by_scripted, scripted_ms, NULL},
			.work = &b->work};
	struct ws_engine engine = {
		.store = &b->store,
		.ledger = b->ledger,
		.runner = b->scripted ? &scripted->runner : ws_local_runner(&b->work, &b->host, NULL, b->a),
		.work = &b->work,
		.budget = &budget,
	};
	return ws_engine_run(&engine, graph, summary, err);
}

static bool
run_graph(struct bench *b, const char *what, struct ws_err *err)
{
	struct ws_graph *graph = ws_graph_make(b->a);
	struct ws_run_summary summary;
	struct scripted scripted;
	for (unsigned i = 0; i < b->count; i++) {
		if (!add_action(b, graph, i, err)) {
			return false;
		}
	}
	double since = cpu_us();
	int64_t began_ms = ws_clock_ms();
	if (!run_engine(b, graph, &scripted, &summary, err)) {
		return false;
	}
	printf("%s_us: %.2f\n%s_s: %.2f\n", what, (cpu_us() - since) / b->count, what,
		(double)(ws_clock_ms() - began_ms) / 1e3);
	return true;
}

/* One line of a table. */
static bool
add_line(struct bench *b, struct ws_graph *graph, char *line, struct ws_err *err)
{
	uint64_t ms = strtoull(line, &line, 10), mib = strtoull(line, &line, 10);
	WS_VEC(struct ws_input) inputs = {0};
	for (;;) {
		char *rest;
		size_t maker = strtoul(line, &rest, 10);
		if (rest == line) {
			break;
		}
		line = rest;
		if (maker == 0 || maker > graph->nodes.len) {
			return ws_err_set(
				err, WS_ERR_CONFIG, "no line %zu before line %zu", maker, graph->nodes.len + 1);
		}
		*ws_vec_push(&inputs, b->a) = (struct ws_input){
			.name = ws_arena_printf(b->a, "in%zu", inputs.len), .from = graph->nodes.at[maker - 1]};
	}
	struct ws_need need = {.cpus = 1, .rss_bytes = mib << 20};
	const char *text = ws_arena_printf(b->a, "line %zu", graph->nodes.len + 1);
	struct ws_digest digest;
	if (inputs.len == 0 && !ws_cas_put(&b->store, text, strlen(text), &digest, err)) {
		return false;
	}
	if (inputs.len == 0) {
		*ws_vec_push(&inputs, b->a) =
			(struct ws_input){.name = "in", .digest = ws_arena_strdup(b->a, digest.hex)};
	}
	add_copy(b, graph, text, inputs.at, inputs.len, need, ms);
	return true;
}

static bool
run_table(struct bench *b, const char *path, struct ws_err *err)
{
	struct ws_graph *graph = ws_graph_make(b->a);
	struct ws_run_summary summary;
	struct scripted scripted;
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read(path, &text, err)) {
		return false;
	}
	char *rest = text.data;
	for (char *line; (line = strtok_r(rest, "\n", &rest));) {
		if (!add_line(b, graph, line, err)) {
			return false;
		}
	}
	if (!run_engine(b, graph, &scripted, &summary, err)) {
		return false;
	}
	printf("simulated_s: %.3f\npeak_mib: %llu\n", (double)scripted.now_ms / 1e3,
		(unsigned long long)summary.peak_bytes >> 20);
	return true;
}

static bool
run_by_hand(struct bench *b, struct ws_err *err)
{
	const char *const env[] = {"LANG=C", NULL};
	const char *in = ws_path_join(b->a, b->work.path, "in", NULL);
	const char *out = ws_path_join(b->a, b->work.path, "out", NULL);
	const char *const argv[] = {"cp", in, out, NULL};
	if (!ws_fs_write(in, "1", 1, 0644, err)) {
		return false;
	}
	double since = cpu_us();
	for (unsigned i = 0; i < b->count; i++) {
		pid_t pid;
		int status;
		if (posix_spawn(&pid, program, NULL, NULL, (char *const *)(uintptr_t)argv,
				(char *const *)(uintptr_t)env)
				!= 0
			|| waitpid(pid, &status, 0) != pid || status != 0) {
			return ws_err_set(err, WS_ERR_INTERNAL, "'%s' did not run", program);
		}
	}
	printf("hand_us: %.2f\n", (cpu_us() - since) / b->count);
	return true;
}

static bool
measure(struct bench *b, struct ws_err *err)
{
	return run_graph(b, b->scripted ? "scripted" : "run", err)
		&& run_graph(b, b->scripted ? "found" : "hit", err) && (b->scripted || run_by_hand(b, err));
}

int
main(int argc, char **argv)
{
	struct ws_err err = {0};
	char printed[WS_ERR_PRINTED];
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	bool table = argc == 5;
	struct bench b = {.a = a, .scripted = table || (argc == 4 && strcmp(argv[3], "scripted") == 0)};
	b.count = argc == 3 || (argc == 4 && b.scripted) ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	b.slots = table ? (unsigned)strtoul(argv[3], NULL, 10) : b.scripted ? 16 : 1;
	b.memory_bytes = table ? strtoull(argv[4], NULL, 10) << 20 : 0;
	if (table ? b.slots == 0 || b.slots > 64 : b.count == 0) {
		fprintf(stderr, "usage: engine_driver STORE COUNT [scripted] | STORE TABLE SLOTS MIB\n");
		return 2;
	}
	bool done =
		open_bench(&b, argv[1], &err) && (table ? run_table(&b, argv[2], &err) : measure(&b, &err));
	if (!done) {
		fputs(ws_err_print(&err, printed), stderr);
	}
	ws_work_close(&b.work, false);
	ws_store_close(&b.store);
	return done ? 0 : 1;
}
