/* test_plan_select.c - what must hold of every way to deal a plan out. */
#include "test.h"

#include "plan/plan.h"
#include "plan_world.h"

/* Bindings of every kind, values that hosts decide, exclusions that all hosts agree on and
 * others. */
static const struct ws_case everything = {
	.names = {"recipe", "recipe", "recipe", "recipe", "recipe", "lock", "matrix"},
	.texts = {"a 1.0 pybind a.cu b.cpp\n\"archs\": [\"8.0\", \"8.6\", \"9.0\"]",
		"b 1.0 torch-library a.cu", "c 1.0 stable-abi a.cu", "d 1.0 c-abi a.cu", "e 1.0 none",
		"all",
		"{\"packages\": [\"a==1.0\", \"b==1.0\", \"c==1.0\", \"d==1.0\", \"e==1.0\"],"
		" \"torch\": [\"2.4.1\", \"2.5.0\", \"2.5.1\", \"2.11.0\", \"2.6.0+cu126\"],"
		" \"cuda\": [\"auto\", \"12.4\", \"12.6\", \"13.0\"],"
		" \"python\": [\"host\", \"3.12\", \"3.14\"],"
		" \"arch\": [\"host\", \"8.0\", \"7.5;8.0\", \"hopper\"],"
		" \"exclude\": [{\"torch\": \"2.4\", \"arch\": \"9.0\"}, {\"cuda\": \"12.6\"}]}"},
	.count = 7,
};

/* Only "auto", and an exclusion that reports its result. */
static const struct ws_case automatic = {
	.names = {"recipe", "lock", "matrix"},
	.texts = {"a 1.0 pybind a.cu", "all",
		"{\"packages\": [\"a==1.0\"],"
		" \"torch\": [\"2.4.1\", \"2.5.1\", \"2.11.0\", \"2.14.1\"], \"cuda\": \"auto\","
		" \"python\": [\"3.12\"], \"arch\": [\"8.0\", \"8.6\", \"9.0\"],"
		" \"exclude\": [{\"cuda\": \"12.6\"}]}"},
	.count = 3,
};

static struct ws_plan
plan_part(const struct ws_case *matrix, const char *host, unsigned shard, unsigned shards,
	struct ws_arena *a)
{
	struct ws_case c = *matrix;
	struct ws_err err = {0};
	struct world *world = WS_NEW(a, struct world);
	struct ws_plan plan;
	c.names[c.count] = "host";
	c.texts[c.count++] = host;
	assert_ok(world_read(&c, a, world, &err), err);
	world->input.shard = shard;
	world->input.shards = shards;
	assert_ok(ws_plan_make(&world->input, a, &plan, &err), err);
	return plan;
}

static const char here[] = "{\"python\": \"3.11\", \"gpus\": \"8.6\"}";
/* Another Python, another GPU, no kit for CUDA 12, and a toolkit of its own. */
static const char there[] = "{\"python\": \"3.13\", \"gpus\": \"9.0;12.0\", \"kits\": "
							"[\"cuda-13.0\"], \"toolkits\": [\"12.6\"]}";

WS_TEST(of_several_toolkits_of_one_version_the_first_is_taken)
{
	static char marks[8];
	struct ws_plan_toolkit toolkits[WS_LEN(marks)];
	struct ws_case c = automatic;
	struct ws_err err = {0};
	struct world *world = WS_NEW(a, struct world);
	struct ws_plan plan;
	for (size_t i = 0; i < WS_LEN(marks); i++) {
		toolkits[i] = (struct ws_plan_toolkit){"12.4", (void *)&marks[i]};
	}
	c.names[c.count] = "host";
	c.texts[c.count++] = here;
	assert_ok(world_read(&c, a, world, &err), err);
	world->input.host.toolkits = toolkits;
	world->input.host.toolkit_count = WS_LEN(marks);
	world->input.lock = NULL; /* it pins an archive kit */
	world->input.only = "*torch2.5.1*";
	assert_ok(ws_plan_make(&world->input, a, &plan, &err), err);
	assert_int_equal(plan.cells[0]->point.cuda->origin, WS_KIT_HOST);
	assert_ptr_equal(plan.cells[0]->point.cuda->host_kit, &marks[0]);
}

/* The shard of each cell; fails for cells that are in two. */
static void
deal(const struct ws_case *matrix, const char *host, unsigned shards, struct ws_map *shard_of,
	struct ws_arena *a)
{
	for (unsigned shard = 1; shard <= shards; shard++) {
		struct ws_plan plan = plan_part(matrix, host, shard, shards, a);
		for (size_t i = 0; i < plan.cell_count; i++) {
			assert_null(ws_map_get(shard_of, plan.cells[i]->name));
			ws_map_put(shard_of, plan.cells[i]->name, (void *)(uintptr_t)shard, a);
		}
	}
}

WS_TEST(every_cell_is_in_one_shard)
{
	size_t cells = plan_part(&everything, here, 0, 0, a).cell_count;
	for (unsigned shards = 1; shards <= 7; shards++) {
		struct ws_map shard_of = {0};
		deal(&everything, here, shards, &shard_of, a);
		assert_int_equal(shard_of.count, cells);
	}
}

/* How many cells two hosts have in common; fails when one is in different shards. */
static unsigned
compare_hosts(const struct ws_case *matrix, unsigned shards, struct ws_arena *a)
{
	struct ws_map at_home = {0}, away = {0};
	unsigned both = 0;
	deal(matrix, here, shards, &at_home, a);
	deal(matrix, there, shards, &away, a);
	for (size_t i = 0; i < away.count; i++) {
		void *shard = ws_map_get(&at_home, away.slots[i].key);
		if (shard) {
			both++;
			assert_ptr_equal(shard, away.slots[i].value);
		}
	}
	return both;
}

WS_TEST(hosts_that_differ_deal_alike)
{
	for (unsigned shards = 2; shards <= 7; shards++) {
		assert_in_range(compare_hosts(&everything, shards, a), 100, 1000);
		assert_int_equal(compare_hosts(&automatic, shards, a), 6);
	}
}

/* work that a second shard repeats is counted. Sets of archs that end up alike, and toolkits
 * that "auto" comes to only because a kit is missing, are the two cases in which it happens. */
WS_TEST(a_wheel_is_built_in_one_shard)
{
	struct ws_map built = {0};
	for (unsigned shard = 1; shard <= 3; shard++) {
		struct ws_plan plan = plan_part(&everything, here, shard, 3, a);
		for (size_t i = 0; i < plan.product_count; i++) {
			const struct ws_product *product = plan.products[i];
			bool reduced = product->cells[0]->dropped_count > 0;
			bool fell_back = product->point.torch && product->point.torch->cuda
				&& !ws_same(product->point.torch->cuda, product->point.cuda->name);
			if (!reduced && !fell_back) {
				assert_true(ws_map_add(&built, product->key, a));
			}
		}
	}
	assert_in_range(built.count, 15, 1000);
}

WS_TEST(shards_are_written_as_fractions)
{
	static const char *const wrong[] = {
		"", "1", "/", "1/", "/2", "0/2", "3/2", "1/2/3", "a/b", "-1/2", "1/0", "1/10001", " 1/2"};
	unsigned shard = 0, shards = 0;
	for (size_t i = 0; i < WS_LEN(wrong); i++) {
		assert_false(ws_shard_parse(wrong[i], &shard, &shards));
	}
	assert_int_equal(shard + shards, 0);
	assert_true(ws_shard_parse("3/16", &shard, &shards));
	assert_int_equal(shard, 3);
	assert_int_equal(shards, 16);
}

WS_TEST(globs_match_slashes_and_stand_between_commas)
{
	static const char name[] = "demo-1.0/torch2.5.1/cu12.4/cp311/sm80+90ptx";
	assert_true(ws_only_matches(NULL, name));
	assert_true(ws_only_matches("demo*", name));
	assert_true(ws_only_matches("*cp311*", name));
	assert_true(ws_only_matches("x, *sm80+90ptx", name));
	assert_true(ws_only_matches(name, name));
	assert_false(ws_only_matches("", name));
	assert_false(ws_only_matches("demo", name));
	assert_false(ws_only_matches("*cp312*,other*", name));
}
