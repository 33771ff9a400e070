/* test_kit_torch_choice.c - which of a torch's wheels a kit is made of: by release, index and
 * lock. */
#include "test.h"

#include "base/fs.h"
#include "torch_scene.h"

/* ---- which release ---- */

WS_TEST(an_unknown_release_is_reported_with_its_neighbours)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	static const char *const versions[] = {
		"version=2.4.0", "version=2.4.1", "version=2.5.1", "version=2.6.0", "version=2.7.1"};
	for (size_t i = 0; i < WS_LEN(versions); i++) {
		ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), versions[i], "pad=0", NULL);
	}
	ws_scene_run(
		&s, "make_torch.py", ws_torch_scene_files(&s), "version=2.5.0", "platform=win_amd64", NULL);
	assert_fails(ws_torch_scene_open(&s, "2.51", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text, "no index has torch '2.51'");
	assert_contains(s.err.cure, "did you mean \"2.5.1\"?");
	assert_fails(ws_torch_scene_open(&s, "2.5.2", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.cure, "available: 2.4.1, 2.5.1, 2.6.0, 2.7.1");
	assert_fails(ws_torch_scene_open(&s, "2.5.0", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text, "has no CUDA wheel for CPython on x86_64 Linux");
}

WS_TEST(an_unknown_release_gets_the_rules_of_its_neighbour)
{
	static const struct {
		const char *version, *rules;
		unsigned cxx_std;
		bool passes_abi;
	} cases[] = {
		{"2.5.0", "2.5.1", 17, true},
		{"2.4.1", "2.5.1", 17, true},
		{"2.9.0", "2.9.1", 17, false},
		{"2.16.0", "2.14.1", 20, false},
	};
	WS_SCENE(s, a);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_torch_kit kit;
		const char *version = ws_arena_printf(a, "version=%s", cases[i].version);
		ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), version, "pad=0", NULL);
		ws_torch_scene_forget(&s);
		assert_ok(ws_torch_scene_open(&s, cases[i].version, "3.11", NULL, &kit), s.err);
		assert_false(kit.known);
		assert_int_equal(kit.release.cxx_std, cases[i].cxx_std);
		assert_int_equal(kit.release.passes_abi, cases[i].passes_abi);
		assert_string_equal(kit.release.version.text, cases[i].rules);
		assert_string_equal(kit.name, ws_arena_printf(a, "torch-%s", cases[i].version));
		assert_string_equal(kit.release.standard.cuda, "12.4");
	}
}

WS_TEST(builds_of_one_release_are_distinguished)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_run(
		&s, "make_torch.py", ws_torch_scene_files(&s), "named=cpu", "label=cpu", "cuda=none", NULL);
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "named=cu118", "label=cu118",
		"cuda=11.8", NULL);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "named=cu121", "label=cu121",
		"cuda=12.1", NULL);
	ws_torch_scene_forget(&s);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(
		kit.version.text, "2.5.1+cu121"); /* the newest: the standard one is not there */
	assert_ok(ws_torch_scene_open(&s, "2.5.1+cu118", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.cuda, "11.8");
	assert_fails(ws_torch_scene_open(&s, "2.5.1+cu124", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.cure, "2.5.1+cu121");
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s),
		NULL); /* without a label: the default index's */
	ws_torch_scene_forget(&s);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.version.text, "2.5.1+cu124");
	assert_ok(ws_torch_scene_open(&s, "2.5.1+cu124", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.version.text, "2.5.1+cu124");
}

WS_TEST(the_standard_build_goes_before_a_newer_one)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "named=cu126", "label=cu126",
		"cuda=12.6", NULL);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "named=cu124", NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.cuda, "12.4");
	/* Two files of one Python: the same one is taken every time, the first by name. */
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "named=cu124",
		"platform=linux_x86_64", NULL);
	ws_torch_scene_forget(&s);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_contains(kit.wheel, "cp311-linux_x86_64");
}

WS_TEST(variants_come_from_the_index_of_their_role)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	ws_scene_run(&s, "make_torch.py", ws_path_join(a, s.served.dir, "second/files", NULL),
		"named=cu121", "label=cu121", "cuda=12.1", NULL);
	assert_fails(ws_torch_scene_open(&s, "2.5.1+cu121", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_cure(s.err, WS_CURE_INDEX, "torch");
	ws_scene_set_index(&s, "torch", ws_served_url(&s.served, "/second/simple"));
	assert_ok(ws_torch_scene_open(&s, "2.5.1+cu121", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.cuda, "12.1");
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.cuda, "12.4");
}

/* ---- the lock ---- */

static struct ws_pin_torch
pin_of(const struct ws_torch_kit *kit)
{
	return (struct ws_pin_torch){
		.version = "2.5.1",
		.wheel = kit->wheel,
		.sha256 = kit->wheel_sha256,
		.record = kit->record_sha256,
		.tree = kit->tree->digest.hex,
	};
}

WS_TEST(a_locked_kit_opens_without_a_server)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit, again;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	struct ws_pin_torch pin = pin_of(&kit);
	unsigned asked = ws_served_count(&s.served, "\"path\"");
	ws_torch_scene_forget(&s);
	ws_scene_set_index(&s, "default", "http://127.0.0.1:1/simple");
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.12", &pin, &again), s.err);
	assert_int_equal(ws_served_count(&s.served, "\"path\""), asked);
	assert_string_equal(again.wheel, kit.wheel);
	assert_string_equal(again.record_sha256, kit.record_sha256);
	assert_string_equal(again.path, kit.path);
}

WS_TEST(a_wheel_that_was_replaced_since_the_lock_is_refused)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit, again;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	struct ws_pin_torch pin = pin_of(&kit);
	pin.tree = NULL;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "abi=1", NULL);
	ws_torch_scene_forget(&s);
	/* The store's entry for the pinned wheel is that wheel. */
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", &pin, &again), s.err);
	assert_string_equal(again.tree->digest.hex, kit.tree->digest.hex);
	assert_string_equal(again.wheel_sha256, kit.wheel_sha256);
	assert_ok(ws_fs_remove(ws_path_join(a, s.store.path, "ac", NULL), &s.err), s.err);
	ws_torch_scene_forget(&s);
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", &pin, &again), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "no index has the pinned");
	pin.sha256 = ""; /* an index that gave no digest when the lock was made */
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", &pin, &again), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "is not the wheel that was locked");
	assert_cure(s.err, WS_CURE_LOCK_UPDATE, "torch");
}
