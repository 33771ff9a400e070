/* test_engine_action_key.c - ten keys that must never change by accident. A change here means that
 * every store in the world starts anew: raise "wheelsmith.action/1" when it is meant. */
#include "test.h"

#include "engine/action_key.h"

static const char *const compile[] = {"nvcc", "-c", "src/a.cu", "-o", "a.o", NULL};
static const char *const compile_other[] = {"nvcc", "-c", "src/a.cu", "-o", "a.o", "-O3", NULL};
static const char *const split_word[] = {"nvcc", "-c src/a.cu", "-o", "a.o", NULL};
static const char *const plain_env[] = {"LANG=C", "PATH=/usr/bin", NULL};
static const char *const other_env[] = {"LANG=C", "PATH=/bin", NULL};
static const char *const outputs[] = {"a.o"};
static const char *const seeds[] = {"src/a.cu"};
static const char *const seed_digests[] = {"aa"};
static const struct ws_mount mounts[] = {{"src", "/s", NULL}, {"cuda", "/c", NULL}};
static const struct ws_input in_order[] = {
	{.name = "x", .digest = "11"}, {.name = "y", .digest = "22"}};
static const struct ws_input reversed[] = {
	{.name = "y", .digest = "22"}, {.name = "x", .digest = "11"}};

/* Never called: it only says that what is mounted is not in the base key. */
static bool
has_reads(const struct ws_action *action WS_UNUSED, const char *work WS_UNUSED,
	const char *log WS_UNUSED, struct ws_arena *a WS_UNUSED, struct ws_reads *reads WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return false;
}

static struct ws_action
base_action(void)
{
	return (struct ws_action){
		.subject = "a.cu",
		.tool = {"nvcc", "cuda/bin/nvcc", "f00d"},
		.argv = compile,
		.env = plain_env,
		.mounts = mounts,
		.mount_count = 2,
		.outputs = outputs,
		.output_count = 1,
		.seeds = seeds,
		.seed_count = 1,
		.find_reads = has_reads,
	};
}

static const char *
key_of(struct ws_arena *a, const struct ws_action *action)
{
	struct ws_digest key = ws_key_base(action, NULL, seed_digests);
	return ws_arena_strdup(a, key.hex);
}

WS_TEST(ten_keys_are_pinned)
{
	struct ws_action variants[10];
	for (size_t i = 0; i < WS_LEN(variants); i++) {
		variants[i] = base_action();
	}
	variants[1].argv = compile_other;
	variants[2].argv = split_word;
	variants[3].env = other_env;
	variants[4].tool.fingerprint = "beef";
	variants[5].mount_count = 1;
	variants[6].inputs = in_order;
	variants[6].input_count = 2;
	variants[7].output_count = 0;
	variants[8].seed_count = 0;
	variants[9].tool.program = "nvcc";
	static const char *const pinned[] = {
		"cb3b18f883807ca319c0f50a45fe897e8870395b67c6c90cb50f481fc50d522d",
		"a3b5100022fe269ad4d232ff77968ed59801f411a63af44a0c95039c8334cec8",
		"9536a2cf141a630fe56c3e5cb6506c69cdd1a1ea7824fb53f2e886c5f812d684",
		"0fb4e88f04095e0855cd1fda2deed01686e38e551750a2e2e0b6f87e091a6658",
		"6e9f334d8af8aef6998b4f781a9b9e36c281ae936ae3ab20db54928bc467e28d",
		"87d5943d8f95587b8c44bea6e040e05d2620b7a4822c29ef9d4f07caac0159c9",
		"7d40cdaf97a7024ebf64a066a8df2290f54858768a63c742d1c3a375f794fa4b",
		"47ff1d4575632fdb1276e057e472f2d24b29a11b84a22136d93d73ae194f3034",
		"5bdcf6f92eaabfee52b6c0a6345e0426d48cf6c2446c9afe00389f6e232668a6",
		"ccd177afcbb24c23f81fbc0ea100cdefcfcdd15680ab509557cf4c13884158c3",
	};
	for (size_t i = 0; i < WS_LEN(variants); i++) {
		assert_string_equal(key_of(a, &variants[i]), pinned[i]);
	}
}

WS_TEST(irrelevant_values_are_not_in_the_key)
{
	struct ws_action x = base_action(), y = base_action();
	x.inputs = in_order;
	y.inputs = reversed;
	x.input_count = y.input_count = 2;
	y.subject = "another name";
	y.group = "another cell";
	y.need.rss_bytes = 7;
	y.limits.timeout_ms = 9;
	assert_string_equal(key_of(a, &x), key_of(a, &y));
}

WS_TEST(an_executable_input_is_another_input)
{
	struct ws_input runs[] = {in_order[0], in_order[1]};
	runs[0].executable = true;
	struct ws_action x = base_action(), y = base_action();
	x.inputs = in_order;
	y.inputs = runs;
	x.input_count = y.input_count = 2;
	assert_string_not_equal(key_of(a, &x), key_of(a, &y));
}

WS_TEST(tree_and_full_keys_differ_from_the_base)
{
	struct ws_action action = base_action();
	struct ws_digest base = ws_key_base(&action, NULL, seed_digests);
	struct ws_tree one = {.digest = {"01"}}, two = {.digest = {"02"}};
	struct ws_mount with_tree[] = {{"src", "/s", &one}, {"cuda", "/c", NULL}};
	action.mounts = with_tree;
	struct ws_digest first = ws_key_trees(&base, &action);
	with_tree[0].tree = &two;
	struct ws_digest second = ws_key_trees(&base, &action);
	struct ws_digest full = ws_key_full(&base, "");
	assert_false(ws_digest_eq(&first, &second));
	assert_false(ws_digest_eq(&first, &base));
	assert_false(ws_digest_eq(&full, &base));
	/* Where a tree lies does not matter; where a folder without one lies does. */
	with_tree[0].path = "/elsewhere";
	struct ws_digest moved = ws_key_trees(&base, &action);
	assert_true(ws_digest_eq(&second, &moved));
}
