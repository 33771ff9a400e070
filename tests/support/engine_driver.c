/* engine_driver.c - what the engine itself costs, for ./dev bench.
 *
 *     engine_driver STORE COUNT    COUNT actions that copy a file each, run and then found again
 *
 * Prints microseconds of CPU an action, children included: run_us, hit_us, and hand_us for the same
 * program started without the engine. STORE must be new.
 */
#include "base/fs.h"
#include "engine/engine.h"
#include "engine/local.h"
#include "store/cas.h"
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

/* Each copies a text of its own. */
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
	*input = (struct ws_input){.name = "in", .digest = digest->hex};
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
	struct ws_budget budget = ws_budget_make(&b->host, 1, 0);
	struct ws_run_summary summary;
	struct ws_engine engine = {
		.store = &b->store,
		.ledger = b->ledger,
		.runner = ws_local_runner(NULL, b->a),
		.work = &b->work,
		.budget = &budget,
	};
	for (unsigned i = 0; i < b->count; i++) {
		if (!add_action(b, graph, i, err)) {
			return false;
		}
	}
	double since = cpu_us();
	if (!ws_engine_run(&engine, graph, &summary, err)) {
		return false;
	}
	printf("%s: %.2f\n", what, (cpu_us() - since) / b->count);
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
	struct bench b = {.a = a, .count = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0};
	if (b.count == 0) {
		fprintf(stderr, "usage: engine_driver STORE COUNT\n");
		return 2;
	}
	bool done = open_bench(&b, argv[1], &err) && run_graph(&b, "run_us", &err)
		&& run_graph(&b, "hit_us", &err) && run_by_hand(&b, &err);
	if (!done) {
		fputs(ws_err_print(&err, printed), stderr);
	}
	ws_work_close(&b.work, false);
	ws_store_close(&b.store);
	return done ? 0 : 1;
}
