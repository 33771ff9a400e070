/* farm_driver.c - what remote execution costs this host, for ./dev bench.
 *
 *     farm_driver ENDPOINT STORE COUNT SLOTS HELPER READS|TREE...
 *
 * COUNT actions that copy a file of their own, with a tree of READS headers in common, by the farm
 * at ENDPOINT (tests/support/farm_server.py), at most SLOTS at once. ENDPOINT "here": no farm;
 * the driver returns ready results, so the time is the engine's own. STORE must be new, or contain
 * each TREE, a folder of its trees/, which then replaces the headers.
 *
 * Prints seconds, cpu_us an action, made_kb (resident before the run) and peak_kb.
 */
#include "base/fs.h"
#include "engine/engine.h"
#include "remote/execution.h"
#include "remote/server.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <sys/resource.h>

static const char program[] = "/bin/sh";

struct bench {
	const char *endpoint;
	struct ws_store store;
	struct ws_work work;
	struct ws_host host;
	struct ws_tree tree;
	struct ws_host_file host_file;
	struct ws_mount *mounts;
	size_t mount_count;
	struct ws_reads reads;
	unsigned count, slots, read_count;
	struct ws_arena *a;
};

/* ---- a runner without a farm ---- */

struct nobody {
	struct ws_runner runner; /* first */
	struct bench *b;
	WS_VEC(const struct ws_job *) jobs;
};

static bool
has_room(const struct ws_runner *self WS_UNUSED, const struct ws_action *action WS_UNUSED,
	struct ws_need need WS_UNUSED)
{
	return true;
}

static bool
start(struct ws_runner *self, struct ws_job *job, struct ws_err *err WS_UNUSED)
{
	struct nobody *n = (struct nobody *)self;
	*ws_vec_push(&n->jobs, n->b->a) = job;
	return true;
}

static bool
has(const struct ws_runner *self WS_UNUSED, const char *digest WS_UNUSED)
{
	return false;
}

static enum ws_wait_result
wait_for(struct ws_runner *self, unsigned timeout_ms WS_UNUSED, struct ws_done *done)
{
	struct nobody *n = (struct nobody *)self;
	struct ws_err err;
	char bytes[100];
	const struct ws_job *job = n->jobs.at[--n->jobs.len];
	*done = (struct ws_done){.id = job->id, .wall_ms = 1, .cpu_ms = 1, .rss_bytes = 1 << 20};
	done->reads = n->b->reads;
	done->outputs = WS_NEW(job->a, struct ws_digest);
	done->sizes = WS_NEW(job->a, uint64_t);
	done->sizes[0] = sizeof(bytes);
	memset(bytes, '.', sizeof(bytes));
	snprintf(bytes, sizeof(bytes), "%u", job->id);
	const char *path = ws_arena_printf(job->a, "%s/%u", n->b->work.path, job->id);
	if (!ws_fs_write(path, bytes, sizeof(bytes), 0600, &err)
		|| !ws_cas_take(&n->b->store, path, &done->outputs[0], &done->sizes[0], &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return WS_WAIT_DONE;
}

static void
forget(struct ws_runner *self WS_UNUSED, const struct ws_job *job WS_UNUSED, bool keep WS_UNUSED)
{
}

static void
stop(struct ws_runner *self WS_UNUSED, bool now WS_UNUSED)
{
}

static uint64_t
held_bytes(const struct ws_runner *self WS_UNUSED, unsigned id WS_UNUSED)
{
	return 0;
}

static int64_t
now_ms(const struct ws_runner *self WS_UNUSED)
{
	return ws_clock_ms();
}

/* ---- what is to be run ---- */

/* The contents of the farm's reports. */
static bool
find_reads(const struct ws_action *action WS_UNUSED, const char *work WS_UNUSED,
	const char *log WS_UNUSED, struct ws_arena *a WS_UNUSED, struct ws_reads *reads WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return true;
}

static bool
make_tree(struct bench *b, struct ws_err *err)
{
	struct ws_tree_builder *builder = ws_tree_begin(&b->store, "tree", b->a, err);
	for (unsigned i = 0; builder && i < b->read_count; i++) {
		const char *name = ws_arena_printf(b->a, "h%u.h", i);
		if (!ws_tree_add_file(builder, name, name, strlen(name), false, err)) {
			ws_tree_abandon(builder);
			return false;
		}
		*ws_vec_push(&b->reads.files, b->a) = ws_arena_printf(b->a, "tree/%s", name);
	}
	return builder && ws_tree_commit(builder, b->a, &b->tree, err);
}

/* "NAME-DIGEST" of the store. */
static bool
find_tree(struct bench *b, const char *folder, struct ws_mount *mount, struct ws_err *err)
{
	struct ws_tree *tree = WS_NEW(b->a, struct ws_tree);
	const char *digest = strrchr(folder, '-');
	const char *name = digest ? ws_arena_copy(b->a, folder, (size_t)(digest - folder)) : "";
	if (!digest || !ws_tree_find(&b->store, name, digest + 1, b->a, tree)) {
		return ws_err_set(err, WS_ERR_CONFIG, "the store has no tree '%s'", folder);
	}
	*mount = (struct ws_mount){folder, tree->path, tree};
	return true;
}

static bool
prepare(struct bench *b, const char *store, char *const *trees, size_t count, struct ws_err *err)
{
	struct ws_digest *digest = WS_NEW(b->a, struct ws_digest);
	bool makes = count == 1 && strspn(trees[0], "0123456789") == strlen(trees[0]);
	b->read_count = makes ? (unsigned)strtoul(trees[0], NULL, 10) : 0;
	b->mounts = WS_NEW_N(b->a, struct ws_mount, count);
	b->mount_count = count;
	if (!ws_store_open(store, b->a, &b->store, err)
		|| !ws_work_open(&b->store, NULL, b->a, &b->work, err) || (makes && !make_tree(b, err))
		|| !ws_digest_file(program, digest, NULL, err)) {
		return false;
	}
	b->host = ws_host_read("", b->a);
	b->host_file = (struct ws_host_file){.path = program, .digest = digest->hex};
	b->mounts[0] = (struct ws_mount){"tree", b->tree.path, &b->tree};
	for (size_t i = 0; i < count && !makes; i++) {
		if (!find_tree(b, trees[i], &b->mounts[i], err)) {
			return false;
		}
	}
	return true;
}

static bool
add_action(struct bench *b, struct ws_graph *graph, unsigned number, struct ws_err *err)
{
	static const char *const argv[] = {
		"sh", "-c", "cp in.cpp out.o; echo out.o: in.cpp > unit.d", NULL};
	static const char *const env[] = {"LANG=C", NULL};
	static const char *const outputs[] = {"out.o"};
	const char *text = ws_arena_printf(b->a, "%u", number);
	struct ws_digest *digest = WS_NEW(b->a, struct ws_digest);
	struct ws_input *input = WS_NEW(b->a, struct ws_input);
	struct ws_action *action = WS_NEW(b->a, struct ws_action);
	if (!ws_cas_put(&b->store, text, strlen(text), digest, err)) {
		return false;
	}
	*input = (struct ws_input){.name = "in.cpp", .digest = digest->hex};
	*action = (struct ws_action){
		.subject = text,
		.group = "bench",
		.unit = text,
		.stage = "compile",
		.variant = "",
		.tool = {"sh", program, "f00d"},
		.argv = argv,
		.env = env,
		.mounts = b->mounts,
		.mount_count = b->mount_count,
		.inputs = input,
		.input_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.find_reads = find_reads,
		.need = {.cpus = 1, .rss_bytes = 1 << 20},
		.host_files = &b->host_file,
		.host_file_count = 1,
	};
	ws_graph_add(graph, action);
	return true;
}

/* ---- the run ---- */

static double
cpu_us(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6
		+ (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static long
peak_kb(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss;
}

static bool
run(struct bench *b, struct ws_graph *graph, struct ws_executor *executor, struct ws_err *err)
{
	struct ws_budget budget = ws_budget_make(&b->host, 1, 0);
	struct ws_run_summary summary;
	struct nobody nobody = {
		.runner = {has_room, start, has, wait_for, forget, stop, held_bytes, now_ms, NULL}, .b = b};
	struct ws_runner *runner = &nobody.runner;
	if (executor) {
		struct ws_runner *local = ws_local_runner(&b->work, &b->host, NULL, b->a);
		runner = executor->over(executor, local, &b->work, &budget, b->a);
	} else {
		budget = (struct ws_budget){.cpus = b->slots, .memory_bytes = UINT64_MAX};
	}
	struct ws_engine engine = {.store = &b->store,
		.ledger = b->store.ledger,
		.runner = runner,
		.work = &b->work,
		.budget = &budget};
	long before_kb = peak_kb();
	double since = cpu_us();
	int64_t began_ms = ws_clock_ms();
	bool ran = ws_engine_run(&engine, graph, &summary, err);
	printf("seconds: %.2f\ncpu_us: %.1f\nran: %u\nbefore_kb: %ld\npeak_kb: %ld\n",
		(double)(ws_clock_ms() - began_ms) / 1e3, (cpu_us() - since) / b->count, summary.ran,
		before_kb, peak_kb());
	return ran;
}

static bool
run_all(struct bench *b, const char *helper, struct ws_err *err)
{
	struct ws_graph *graph = ws_graph_make(b->a);
	for (unsigned i = 0; i < b->count; i++) {
		if (!add_action(b, graph, i, err)) {
			return false;
		}
	}
	if (strcmp(b->endpoint, "here") == 0) {
		return run(b, graph, NULL, err);
	}
	struct ws_events events = {0};
	struct ws_server_config place = {.endpoint = b->endpoint, .instance = "main"};
	struct ws_server *server = ws_server_open(&place, b->a, err);
	if (!server) {
		return false;
	}
	struct ws_execution_config config = {.rpc = server->rpc,
		.instance = server->config.instance,
		.slots = b->slots,
		.helper = helper,
		.store = &b->store,
		.ledger = b->store.ledger,
		.events = &events};
	struct ws_execution *execution = ws_execution_open(&config, b->a, err);
	bool ran = execution && run(b, graph, ws_execution_executor(execution), err);
	ws_execution_close(execution);
	return ran;
}

int
main(int argc, char **argv)
{
	struct ws_err err = {0};
	char printed[WS_ERR_PRINTED];
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (argc < 7) {
		fprintf(stderr, "usage: farm_driver ENDPOINT STORE COUNT SLOTS HELPER READS|TREE...\n");
		return 2;
	}
	struct bench b = {.endpoint = argv[1],
		.work = WS_WORK_CLOSED,
		.count = (unsigned)strtoul(argv[3], NULL, 10),
		.slots = (unsigned)strtoul(argv[4], NULL, 10),
		.a = a};
	bool done =
		prepare(&b, argv[2], argv + 6, (size_t)argc - 6, &err) && run_all(&b, argv[5], &err);
	if (!done) {
		fputs(ws_err_print(&err, printed), stderr);
	}
	ws_work_close(&b.work, false);
	ws_store_close(&b.store);
	return done ? 0 : 1;
}
