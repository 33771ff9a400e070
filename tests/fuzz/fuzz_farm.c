/* fuzz_farm.c - any bytes as the answers of a build farm: Operations, each after two bytes of
 * length, until a length of 0, then the worker's report. An accepted result has a report on this
 * order and every output. */
#include "base/fs.h"
#include "remote/operation.h"
#include "remote/worker_result.h"

#define ORDER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char folder[] = "/tmp/fuzz_farm.XXXXXX";
static struct ws_store store;
static struct ws_arena *arena;

static void
leave(void)
{
	ws_store_close(&store);
	ws_arena_drop(arena);
	ws_fs_remove(folder, NULL);
}

static void
prepare(void)
{
	struct ws_err err;
	if (!arena) {
		arena = ws_arena_make();
		if (!mkdtemp(folder) || !ws_store_open(folder, arena, &store, &err)) {
			abort();
		}
		atexit(leave);
	}
}

/* Each report is its own bytes, whatever the result calls it; the rest is a word. */
static void
bring(const ws_item_list *items, const struct ws_worker_result *files, struct ws_str report)
{
	for (size_t i = 1; i < items->len; i++) {
		struct ws_item *item = &items->at[i];
		struct ws_str bytes = i == files->report ? report : ws_str_of("Killed\n");
		if (!ws_fs_write(item->path, bytes.s, bytes.n, 0600, NULL)) {
			abort();
		}
		item->came = WS_CAME_WHOLE;
	}
}

static enum ws_log_says
says(const char *end)
{
	return end[0] == 'K' ? WS_LOG_SAYS_KILLED : WS_LOG_SAYS_NOTHING;
}

static void
take_home(const Reapi__ActionResult *result, struct ws_str report, struct ws_arena *a)
{
	static const char *const outputs[] = {"unit.o"};
	struct ws_action action = {.subject = "unit.cpp",
		.tool = {.name = "g++"},
		.outputs = outputs,
		.output_count = 1,
		.log_says = says};
	struct ws_job job = {.id = 1, .attempt = 1, .action = &action, .a = a};
	struct ws_names names = {.ledger = store.ledger, .a = a};
	struct ws_worker_result files = {.order = ORDER};
	ws_item_list items = {0};
	struct ws_done done = {0};
	struct ws_err err = {0};
	const char *dir = ws_path_join(a, folder, "home", NULL);
	ws_fs_mkdirs(dir, NULL);
	ws_worker_result_list_files(result, &job, dir, a, &items, &files);
	bring(&items, &files, report);
	enum ws_worker_result_state home =
		ws_worker_result_accept(&files, &items, &job, &store, &names, &done, &err);
	if (home == WS_WORKER_RESULT_WHOLE && done.code == 0
		&& (!done.outputs || !done.outputs[0].hex[0])) {
		abort();
	}
	if ((home == WS_WORKER_RESULT_OTHER_HOST || home == WS_WORKER_RESULT_NOT_RUN
			|| home == WS_WORKER_RESULT_WRONG)
		&& err.kind == WS_ERR_NONE) {
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_operation op = {.instance = "", .action = {.digest = ORDER}};
	struct ws_str rest = {(const char *)bytes, len};
	Reapi__ExecuteResponse *response = NULL;
	prepare();
	ws_operation_prepare(&op);
	op.call.begin(&op.call);
	while (rest.n >= 2) {
		size_t n = (size_t)(uint8_t)rest.s[0] << 8 | (uint8_t)rest.s[1];
		rest = (struct ws_str){rest.s + 2, rest.n - 2};
		if (n == 0) {
			break;
		}
		n = n < rest.n ? n : rest.n;
		op.call.take(&op.call, (struct ws_str){rest.s, n});
		rest = (struct ws_str){rest.s + n, rest.n - n};
	}
	if (ws_operation_read_end(&op, a, &response) == WS_OPERATION_DONE) {
		take_home(response->result, rest, a);
	}
	ws_operation_release(&op);
	return 0;
}
