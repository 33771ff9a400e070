/* test_dist_build_json.c - the wheels that may share a folder, and a requirements file.
 * Files that pip takes: cli/build.bats. */
#include "test.h"

#include "base/fs.h"
#include "dist/deliver.h"
#include "sys/flock.h"

#include <sys/wait.h>

static const char *
read_text(const char *path, struct ws_arena *a)
{
	struct ws_err err;
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_ok(ws_fs_read(path, &text, &err), err);
	return ws_buf_copy(&text, a);
}

static unsigned
lines_of(const char *text, const char *part)
{
	unsigned count = 0;
	for (const char *at = text; (at = strstr(at, part)); at++) {
		count++;
	}
	return count;
}

/* A matrix of one torch, two ABIs, and an interpreter with and without its lock. */
struct world {
	struct ws_recipe recipe;
	struct ws_torch_choice torch;
	struct ws_cuda_choice cuda;
	struct ws_python_choice pythons[2];
	struct ws_product products[4];
	struct ws_cell cells[4];
	struct ws_supply supplies[4];
	struct ws_cell_result results[4];
};

static const char *
make_world(struct world *w, struct ws_arena *a)
{
	static const char *const versions[] = {"1.0+torch.2.9.abi.0", "1.0+torch.2.9"};
	const char *output = ws_test_dir(a);
	*w = (struct world){
		.recipe = {.name = "tiny"},
		.torch = {.name = "2.9.0", .own_abi = 1},
		.cuda = {.name = "13.0"},
		.pythons = {{.name = "cp313", .tag = {3, 13, false}},
			{.name = "cp313t", .tag = {3, 13, true}}},
	};
	for (size_t i = 0; i < 4; i++) {
		w->products[i] = (struct ws_product){
			.recipe = &w->recipe, .binding = WS_BINDING_PYBIND, .version = versions[i % 2]};
		w->cells[i] = (struct ws_cell){.name = "a cell",
			.recipe = &w->recipe,
			.product = &w->products[i],
			.point = {.torch = &w->torch,
				.cuda = &w->cuda,
				.python = &w->pythons[i / 2],
				.cxx11abi = (int)(i % 2)}};
		w->supplies[i] = (struct ws_supply){
			.product = &w->products[i], .kind = WS_SUPPLY_BUILT, .wheel = "a wheel"};
		w->results[i] = (struct ws_cell_result){&w->cells[i], &w->supplies[i]};
		char *digest = w->supplies[i].digest.hex;
		snprintf(digest, sizeof(w->supplies[i].digest.hex), "digest%zu", i);
	}
	return output;
}

static bool
write_records(struct world *w, const char *output, size_t count, struct ws_stop *stop, bool waits,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_context ctx = {.a = a, .stop = stop};
	struct ws_build_result result = {.supplies = {.cells = w->results, .cell_count = count}};
	return ws_deliver_records(&ctx, output, &result, waits, err);
}

static void
deliver(struct world *w, const char *output, size_t count, struct ws_arena *a)
{
	struct ws_err err = {0};
	assert_ok(write_records(w, output, count, NULL, true, a, &err), err);
}

WS_TEST(abis_and_free_threading_have_files_of_their_own)
{
	struct world w;
	const char *output = make_world(&w, a);
	deliver(&w, output, 4, a);
	static const char *const names[] = {"requirements-cu13.0-torch2.9.0-abi0.txt",
		"requirements-cu13.0-torch2.9.0.txt", "requirements-cu13.0-torch2.9.0-abi0-t.txt",
		"requirements-cu13.0-torch2.9.0-t.txt"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *text = read_text(ws_path_join(a, output, names[i], NULL), a);
		assert_int_equal(lines_of(text, "tiny=="), 1);
		assert_contains(text, ws_arena_printf(a, "--hash=sha256:digest%zu\n", i));
	}
}

WS_TEST(wheels_that_fit_one_environment_share_a_file)
{
	struct world w;
	const char *output = make_world(&w, a);
	w.pythons[1].tag = (struct ws_python_tag){3, 14, false};
	w.results[1] = w.results[2];
	deliver(&w, output, 2, a);
	const char *text = read_text(ws_path_join(a, output, "requirements.txt", NULL), a);
	assert_int_equal(lines_of(text, "tiny==1.0+torch.2.9.abi.0 ; python_version == \"3.1"), 2);
}

WS_TEST(a_wheel_for_every_python_is_required_once)
{
	struct world w;
	const char *output = make_world(&w, a);
	w.pythons[1].tag = (struct ws_python_tag){3, 14, false};
	w.products[0].binding = WS_BINDING_TORCH_LIBRARY;
	w.cells[2].product = &w.products[0];
	w.results[1] = (struct ws_cell_result){&w.cells[2], &w.supplies[0]};
	deliver(&w, output, 2, a);
	const char *text = read_text(ws_path_join(a, output, "requirements.txt", NULL), a);
	assert_int_equal(lines_of(text, "tiny==1.0+torch.2.9.abi.0 \\\n"), 1);
	assert_int_equal(lines_of(text, "--hash"), 1);
}

/* The supply's wheel, as a delivery leaves it. */
static void
lay_down(struct world *w, const char *output, size_t which, const char *name, struct ws_arena *a)
{
	struct ws_err err;
	w->supplies[which].wheel = name;
	w->supplies[which].digest = ws_digest_bytes(name, strlen(name));
	assert_ok(
		ws_fs_write(ws_path_join(a, output, name, NULL), name, strlen(name), 0644, &err), err);
}

WS_TEST(wheels_of_earlier_runs_stay_required_while_they_lie_there)
{
	struct world w;
	const char *output = make_world(&w, a);
	const char *plain = ws_path_join(a, output, "requirements.txt", NULL);
	struct ws_cell_result all[2] = {w.results[0], w.results[1]};
	lay_down(&w, output, 0, "zero.whl", a);
	lay_down(&w, output, 1, "one.whl", a);
	deliver(&w, output, 1, a);
	assert_int_equal(lines_of(read_text(plain, a), "--hash"), 1);
	/* A second run for the other ABI: each ABI has its own file now. */
	w.results[0] = all[1];
	deliver(&w, output, 1, a);
	assert_false(ws_fs_exists(plain));
	const char *abi0 = ws_path_join(a, output, "requirements-cu13.0-torch2.9.0-abi0.txt", NULL);
	assert_contains(read_text(abi0, a), w.supplies[0].digest.hex);
	/* Its wheel is replaced by an unknown file. */
	const char *zero = ws_path_join(a, output, "zero.whl", NULL);
	struct ws_err err;
	assert_ok(ws_fs_write(zero, "other", 5, 0644, &err), err);
	deliver(&w, output, 1, a);
	assert_false(ws_fs_exists(abi0));
	assert_contains(read_text(plain, a), w.supplies[1].digest.hex);
	assert_int_equal(lines_of(read_text(plain, a), "--hash"), 1);
	/* The wheels of this run replace those of an earlier run for the same environment. */
	lay_down(&w, output, 1, "newer.whl", a);
	deliver(&w, output, 1, a);
	assert_int_equal(lines_of(read_text(plain, a), "--hash"), 1);
	assert_contains(read_text(plain, a), w.supplies[1].digest.hex);
	/* A cell that fails now leaves what an earlier run verified. */
	struct ws_err failure = {.kind = WS_ERR_BUILD, .text = "failed"};
	w.supplies[1].kind = WS_SUPPLY_NONE;
	w.supplies[1].failure = &failure;
	const struct ws_digest newer = w.supplies[1].digest;
	deliver(&w, output, 1, a);
	assert_contains(read_text(plain, a), newer.hex);
	/* A file of somebody's own is left alone. */
	const char *own = ws_path_join(a, output, "requirements-mine.txt", NULL);
	assert_ok(ws_fs_write(own, "pip\n", 4, 0644, &err), err);
	deliver(&w, output, 1, a);
	assert_true(ws_fs_exists(own));
}

/* Another run that has its turn in the folder, writes of its only wheel after @ms, and ends. */
static pid_t
start_other(const char *output, unsigned ms, struct ws_arena *a)
{
	static const char row[] = "{\"schema\": \"wheelsmith.build/1\", \"cells\": [{\"cell\": "
							  "\"other\", \"package\": \"other\","
							  " \"version\": \"1.0\", \"wheel\": \"other.whl\", \"sha256\": "
							  "\"%s\", \"size\": 5, \"group\": \"\", \"python\": null, "
							  "\"installed\": 7, \"tried\": []}]}";
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = -1;
		struct ws_err err;
		const char *text = ws_arena_printf(a, row, ws_digest_bytes("other", 5).hex);
		bool held = ws_flock_try(output, true, &fd, &err) == WS_FLOCK_HELD
			&& write(ready[1], "x", 1) == 1 && usleep(ms * 1000) == 0;
		_exit(
			held && ws_fs_write(ws_path_join(a, output, "other.whl", NULL), "other", 5, 0644, &err)
					&& ws_fs_write(
						ws_path_join(a, output, "build.json", NULL), text, strlen(text), 0644, &err)
				? 0
				: 1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

WS_TEST(a_run_that_takes_long_loses_no_row_and_costs_none)
{
	struct world w;
	int status;
	const char *output = make_world(&w, a);
	lay_down(&w, output, 0, "zero.whl", a);
	pid_t pid = start_other(output, 1500, a);
	deliver(&w, output, 1, a);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	const char *text = read_text(ws_path_join(a, output, "build.json", NULL), a);
	assert_contains(text, "\"wheel\": \"zero.whl\"");
	assert_contains(text, "\"wheel\": \"other.whl\"");
}

WS_TEST(waiting_for_the_folder_can_be_stopped)
{
	struct world w;
	struct ws_err err = {0};
	struct ws_stop stop = {.fd = -1, .signal = 2, .times = 1};
	const char *output = make_world(&w, a);
	const char *path = ws_path_join(a, output, "build.json", NULL);
	pid_t pid = start_other(output, 60000, a);
	assert_fails(write_records(&w, output, 1, &stop, true, a, &err), err, WS_ERR_INTERRUPTED);
	/* In the middle of a run the next wheel is time enough. */
	assert_ok(write_records(&w, output, 1, NULL, false, a, &err), err);
	assert_false(ws_fs_exists(path));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_ok(write_records(&w, output, 1, NULL, false, a, &err), err);
	assert_true(ws_fs_exists(path));
}

/* Prebuilt wheels are to serve the first two cells. */
static bool
may_deliver(struct world *w, const char *const *files, const char *const *digests,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_context ctx = {.a = a};
	struct ws_supplies supplies = {.at = w->supplies, .count = 2};
	for (size_t i = 0; i < 2; i++) {
		struct ws_candidate *chosen = WS_NEW(a, struct ws_candidate);
		struct ws_cell **cells = WS_NEW(a, struct ws_cell *);
		*chosen =
			(struct ws_candidate){.file = files[i], .sha256 = digests[i], .from = "wheels.example"};
		cells[0] = &w->cells[i];
		cells[0]->name = ws_arena_printf(a, "cell %zu", i);
		cells[0]->decision = WS_DECISION_PREBUILT;
		w->products[i].cells = cells;
		w->products[i].cell_count = 1;
		w->products[i].chosen = chosen;
		w->supplies[i] = (struct ws_supply){.product = &w->products[i]};
	}
	return ws_deliver_may(&ctx, &supplies, err);
}

WS_TEST(two_wheels_of_one_name_and_other_bytes_are_not_delivered)
{
	static const char *const same[] = {"x-1.0-py3-none-any.whl", "x-1.0-py3-none-any.whl"};
	static const char *const others[] = {"x-1.0-py3-none-any.whl", "y-1.0-py3-none-any.whl"};
	static const char *const bytes[] = {"1111", "2222"}, *const one[] = {"1111", "1111"};
	struct world w;
	struct ws_err err = {0};
	char text[WS_ERR_PRINTED];
	make_world(&w, a);
	assert_ok(may_deliver(&w, same, one, a, &err), err);
	assert_ok(may_deliver(&w, others, bytes, a, &err), err);
	assert_fails(may_deliver(&w, same, bytes, a, &err), err, WS_ERR_CONFIG);
	const char *said = ws_err_print(&err, text);
	assert_contains(said, "two wheels would be delivered as 'x-1.0-py3-none-any.whl'");
	assert_contains(said, "cell 0: sha256 1111, of wheels.example");
	assert_contains(said, "cell 1: sha256 2222, of wheels.example");
}
