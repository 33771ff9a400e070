/* engine_driver.c - what the engine itself costs, for ./dev bench.
 *
 *     engine_driver STORE COUNT            COUNT actions that copy a file each, run and then found again
 *     engine_driver STORE COUNT scripted   the same without processes, in chains of five on 16 slots
 *
 * Prints microseconds of CPU an action, children included: run_us, hit_us, and hand_us for the same
 * program started without the engine; scripted_us and found_us, and scripted_s and found_s, seconds of time.
 * STORE must be new.
 */
#include "base/fs.h"
#include "engine/collect.h"
#include "engine/engine.h"
#include "engine/local.h"
#include "store/cas.h"
#include "sys/clock.h"
#include "sys/host.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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

/* Ends each job as soon as it is waited for; its output is its subject. */
struct scripted {
	struct ws_runner runner;
	const struct ws_work *work;
	const struct ws_job *jobs[64];
	size_t count;
	int64_t now_ms;
};

static bool
has_scripted_room(const struct ws_runner *self, struct ws_need need)
{
	(void)self;
	(void)need;
	return true;
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
	s->now_ms++;
	const struct ws_job *job = s->jobs[--s->count];
	*done = (struct ws_done){.id = job->id, .wall_ms = 1, .cpu_ms = 1};
	ws_collect(s->work, job, ws_path_join(job->a, job->dir, "log", NULL), 0, done);
	return WS_WAIT_DONE;
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
	(void)self;
	(void)id;
	return 1 << 20;
}

static int64_t
scripted_ms(const struct ws_runner *self)
{
	return ((const struct scripted *)self)->now_ms;
}

/* Each copies a text of its own, or what the one before it made. */
static bool
add_action(struct bench *b, struct ws_graph *graph, unsigned number, struct ws_err *err)
{
	static const char *const argv[] = {"cp", "in", "out", NULL};
	static const char *const env[] = {"LANG=C", NULL};
	static const char *const outputs[] = {"out"};
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
		.inputs = input,
		.input_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.need = {.cpus = 1, .rss_bytes = 1 << 20},
	};
	ws_graph_add(graph, action);
	return true;
}

static bool
run_graph(struct bench *b, const char *what, struct ws_err *err)
{
	struct ws_graph *graph = ws_graph_make(b->a);
	struct ws_budget budget = ws_budget_make(&b->host, b->scripted ? 16 : 1, 0);
	struct ws_run_summary summary;
	struct scripted scripted = {.runner = {has_scripted_room, start_scripted, wait_scripted,
									forget_scripted, stop_scripted, held_by_scripted, scripted_ms},
		.work = &b->work};
	struct ws_engine engine = {
		.store = &b->store,
		.ledger = b->ledger,
		.runner = b->scripted ? &scripted.runner : ws_local_runner(&b->work, &b->host, NULL, b->a),
		.work = &b->work,
		.budget = &budget,
	};
	for (unsigned i = 0; i < b->count; i++) {
		if (!add_action(b, graph, i, err)) {
			return false;
		}
	}
	double since = cpu_us();
	int64_t began_ms = ws_clock_ms();
	if (!ws_engine_run(&engine, graph, &summary, err)) {
		return false;
	}
	printf("%s_us: %.2f\n%s_s: %.2f\n", what, (cpu_us() - since) / b->count, what,
		(double)(ws_clock_ms() - began_ms) / 1e3);
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

int
main(int argc, char **argv)
{
	struct ws_err err = {0};
	char printed[WS_ERR_PRINTED];
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct bench b = {.a = a, .scripted = argc == 4 && strcmp(argv[3], "scripted") == 0};
	b.count = argc == 3 || b.scripted ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	if (b.count == 0) {
		fprintf(stderr, "usage: engine_driver STORE COUNT [scripted]\n");
		return 2;
	}
	bool done = open_bench(&b, argv[1], &err)
		&& run_graph(&b, b.scripted ? "scripted" : "run", &err)
		&& run_graph(&b, b.scripted ? "found" : "hit", &err)
		&& (b.scripted || run_by_hand(&b, &err));
	if (!done) {
		fputs(ws_err_print(&err, printed), stderr);
	}
	ws_work_close(&b.work, false);
	ws_store_close(&b.store);
	return done ? 0 : 1;
}
