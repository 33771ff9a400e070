/* test_plan_scale.c - ten thousand cells: no cell is counted twice, memory stays small. Says how
 * long it took, but does not judge: hosts differ. */
#include "test.h"

#include "plan_world.h"
#include "report/plan_text.h"

#include <time.h>

#define TORCHES 10
#define CUDAS 5
#define PYTHONS 10
#define ARCHS 5
#define KERNELS 72

static double
now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
add_list(struct ws_buf *b, const char *key, const char *format, unsigned first, unsigned count)
{
	ws_buf_printf(b, ", \"%s\": [", key);
	for (unsigned i = 0; i < count; i++) {
		ws_buf_puts(b, i > 0 ? ", \"" : "\"");
		ws_buf_printf(b,
			format[0] == '3'       ? "3.%u"
				: format[0] == '2' ? "2.%u.0"
								   : "12.%u",
			first + i);
		ws_buf_putc(b, '"');
	}
	ws_buf_putc(b, ']');
}

/* Two packages of 73 units on axes of which nothing is excluded. */
static struct ws_case
make_case(struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf matrix = {0};
	WS_AUTO_BUF struct ws_buf listing = {0};
	ws_buf_puts(
		&matrix, "{\"packages\": [\"one==1.0\", \"two==1.0\", \"three==1.0\", \"four==1.0\"]");
	add_list(&matrix, "torch", "2", 1, TORCHES);
	add_list(&matrix, "cuda", "12", 1, CUDAS);
	add_list(&matrix, "python", "3", 8, PYTHONS);
	ws_buf_puts(
		&matrix, ", \"arch\": [\"8.0\", \"8.6\", \"8.9\", \"9.0+PTX\", \"8.0;8.6;9.0+PTX\"]}");
	for (unsigned i = 0; i < KERNELS; i++) {
		ws_buf_printf(&listing, "csrc/src/flash_fwd_hdim%u_bf16_causal_sm80.cu ", i);
	}
	struct ws_case c = {.names = {"matrix", "listing", "recipe", "recipe", "recipe", "recipe"},
		.texts = {ws_buf_copy(&matrix, a), ws_buf_copy(&listing, a)},
		.count = 6};
	static const char *const names[] = {"one", "two", "three", "four"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		c.texts[2 + i] = ws_arena_printf(a,
			"{\"name\": \"%s\", \"version\": \"1.0\", \"source\": [{\"folder\": \"src\"}], "
			"\"extensions\": [{\"module\": \"%s_cuda\", \"binding\": \"pybind\", \"sources\": "
			"[\"api.cpp\", {\"glob\": \"csrc/src/*.cu\", \"count\": %u}]}], "
			"\"estimates\": [{\"match\": \"*.cu\", \"cpu_s\": 10, \"rss_mib\": 1000}, "
			"{\"match\": \"*\", \"cpu_s\": 1, \"rss_mib\": 100}], \"archs\": [\"8.0\", \"8.6\", "
			"\"8.9\", \"9.0\"], \"requires\": {\"torch\": \">=2\", \"python\": \">=3.8,<4\"}, "
			"\"known_bad\": [{\"when\": {\"arch\": \"10.3\"}, \"why\": \"no\"}]}",
			names[i], names[i], KERNELS);
	}
	return c;
}

/* A world of which every point exists. */
static void
widen(struct world *world, struct ws_arena *a)
{
	struct ws_torch_release *torches = WS_NEW_N(a, struct ws_torch_release, TORCHES);
	struct ws_cuda_toolkit *cudas = WS_NEW_N(a, struct ws_cuda_toolkit, CUDAS);
	struct ws_python_tag *pythons = WS_NEW_N(a, struct ws_python_tag, PYTHONS);
	const char **kits = WS_NEW_N(a, const char *, CUDAS);
	const char *why;
	for (unsigned i = 0; i < PYTHONS; i++) {
		pythons[i] = (struct ws_python_tag){3, 8 + i, false};
	}
	for (unsigned i = 0; i < TORCHES; i++) {
		torches[i] = (struct ws_torch_release){
			.standard = {"12.4", 1}, .pythons = pythons, .python_count = PYTHONS, .cxx_std = 17};
		assert_true(ws_version_parse(ws_arena_printf(a, "2.%u.0", 1 + i), a, &torches[i].version));
	}
	for (unsigned i = 0; i < CUDAS; i++) {
		kits[i] = ws_arena_printf(a, "cuda-12.%u", 1 + i);
		assert_true(ws_version_parse(kits[i] + strlen("cuda-"), a, &cudas[i].version));
		assert_true(ws_arch_set_parse("8.0;8.6;8.9;9.0", a, &cudas[i].archs, &why));
		cudas[i].kit = kits[i];
	}
	world->facts = (struct ws_facts){
		.torch = torches, .torch_count = TORCHES, .cuda = cudas, .cuda_count = CUDAS};
	world->input.host.kits = kits;
	world->input.host.kit_count = CUDAS;
	world->input.host.jobs = 64;
}

static struct ws_plan_estimate
know_nothing(void *self, const char *unit, const char *stage, const char *variant)
{
	struct world *world = self;
	world->asked_of_the_ledger += unit && stage && variant;
	return (struct ws_plan_estimate){0};
}

WS_TEST(ten_thousand_cells)
{
	struct ws_err err = {0};
	struct ws_case c = make_case(a);
	struct world world;
	struct ws_plan plan;
	assert_ok(world_read(&c, a, &world, &err), err);
	widen(&world, a);
	world.input.lookups.estimate = know_nothing;
	WS_AUTO_ARENA struct ws_arena *plan_arena = ws_arena_make();
	double start = now_ms();
	assert_ok(ws_plan_make(&world.input, plan_arena, &plan, &err), err);
	double made = now_ms();
	WS_AUTO_BUF struct ws_buf table = {0};
	ws_plan_table_write(&plan, 100, &table);
	double printed = now_ms();
	WS_AUTO_BUF struct ws_buf json = {0};
	ws_plan_json_write(&plan, &json);
	double written = now_ms();
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	print_message("10,000 cells: %.0f ms; table %.0f ms, JSON %.0f ms; %ld MiB resident\n",
		made - start, printed - made, written - printed, usage.ru_maxrss >> 10);

	const unsigned cells = 4 * TORCHES * CUDAS * PYTHONS * ARCHS;
	const unsigned groups = cells / PYTHONS;
	assert_int_equal(plan.cell_count, cells);
	assert_int_equal(plan.product_count, cells);
	assert_int_equal(plan.totals.decisions[WS_DECISION_BUILD], cells);
	/* Kernels once for all Pythons; the first package's files are known, the others' are a glob of
	 * 72. Each Python has its binding. */
	assert_int_equal(plan.totals.cost.units, groups * KERNELS + cells);
	assert_int_equal(plan.totals.cost.actions, plan.totals.cost.units + 3 * cells);
	/* Asked once for each unit and variant, not for each cell. */
	assert_in_range(world.asked_of_the_ledger, 1, 5000);
}
