/* test_produce_records.c - which wheels may stand in one requirements file. Files that pip takes:
 * cli/build.bats. */
#include "test.h"

#include "base/fs.h"
#include "model/recipe.h"
#include "produce/deliver.h"

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

static void
deliver(struct world *w, const char *output, size_t count, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_context ctx = {.a = a};
	struct ws_build_result result = {.supplies = {.cells = w->results, .cell_count = count}};
	assert_ok(ws_deliver_records(&ctx, output, &result, &err), err);
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

WS_TEST(what_one_file_can_hold_is_one_file)
{
	struct world w;
	const char *output = make_world(&w, a);
	w.pythons[1].tag = (struct ws_python_tag){3, 14, false};
	w.results[1] = w.results[2];
	deliver(&w, output, 2, a);
	const char *text = read_text(ws_path_join(a, output, "requirements.txt", NULL), a);
	assert_int_equal(lines_of(text, "tiny==1.0+torch.2.9.abi.0 ; python_version == \"3.1"), 2);
}
