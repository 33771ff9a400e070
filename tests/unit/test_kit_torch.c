/* test_kit_torch.c - kits out of small wheels that a real server on loopback gives in many ways.
 * test_kit_torch_choice.c tests the choice of a release and the lock. */
#include "test.h"

#include "base/fs.h"
#include "sys/child.h"
#include "torch_scene.h"

#include <time.h>

static const char *
text_in(struct ws_scene *s, const struct ws_torch_kit *kit, const char *path)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_ok(ws_fs_read(ws_path_join(s->a, kit->path, path, NULL), &text, &s->err), s->err);
	return ws_buf_copy(&text, s->a);
}

WS_TEST(a_kit_is_headers_version_and_what_the_libraries_say)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	const char *wheel = ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.name, "torch-2.5.1");
	assert_string_equal(kit.version.text, "2.5.1+cu124");
	assert_string_equal(kit.cuda, "12.4");
	assert_int_equal(kit.cxx11abi, 0);
	assert_string_equal(kit.pybind_compiler, "_gcc");
	assert_string_equal(kit.pybind_stdlib, "_libstdcpp");
	assert_string_equal(kit.pybind_build_abi, "_cxxabi1011");
	assert_true(kit.known && kit.release.passes_abi);
	assert_string_equal(kit.wheel, wheel);
	assert_int_equal(strlen(kit.wheel_sha256), 64);
	assert_int_equal(strlen(kit.record_sha256), 64);
	assert_int_equal(kit.tree->count, 5); /* three headers, version.py, kit.json: no library */
	assert_contains(text_in(&s, &kit, "include/torch/extension.h"), "Exception.h");
	assert_contains(text_in(&s, &kit, "version.py"), "2.5.1+cu124");
	assert_contains(s.ready, "torch-2.5.1: ");
	assert_int_equal(ws_scene_partials(&s), 0);
	assert_string_equal(s.warnings, "");
}

WS_TEST(a_kit_costs_a_few_ranges_and_the_second_time_none)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit, again;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_int_equal(ws_served_count(&s.served, ".whl"), 2); /* the tail, and the rest */
	ws_torch_scene_forget(&s);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &again), s.err);
	assert_int_equal(ws_served_count(&s.served, ".whl"), 2);
	assert_string_equal(again.tree->digest.hex, kit.tree->digest.hex);
	assert_string_equal(again.record_sha256, kit.record_sha256);
	assert_string_equal(again.pybind_build_abi, "_cxxabi1011");
}

WS_TEST(a_wheel_with_its_dist_info_in_front_gives_the_same_kit)
{
	WS_SCENE(s, a);
	struct ws_torch_kit back, front;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &back), s.err);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "front=1", NULL);
	ws_torch_scene_forget(&s);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &front), s.err);
	assert_string_not_equal(front.wheel_sha256, back.wheel_sha256);
	assert_string_equal(front.tree->digest.hex, back.tree->digest.hex);
}

WS_TEST(all_pythons_share_one_kit)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kits[3];
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "python=cp312",
		"pybind=v5_gcc_libstdcpp_cxxabi1011", NULL);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "python=cp313t", NULL);
	static const char *const pythons[] = {"3.11", "3.12", "3.13t"};
	static const char *const tags[] = {"cp311-cp311", "cp312-cp312", "cp313-cp313t"};
	for (size_t i = 0; i < WS_LEN(pythons); i++) {
		assert_ok(ws_torch_scene_open(&s, "2.5.1", pythons[i], NULL, &kits[i]), s.err);
		assert_contains(kits[i].wheel, tags[i]);
		assert_string_equal(kits[i].tree->digest.hex, kits[0].tree->digest.hex);
	}
	struct ws_torch_kit other;
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.14", NULL, &other), s.err);
	assert_contains(other.wheel, "cp311-cp311");
}

WS_TEST(the_abi_is_read_from_the_constructor_of_c10_error)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "version=2.9.1", "label=cu128",
		"cuda=12.8", "abi=1", "pybind=v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1", NULL);
	assert_ok(ws_torch_scene_open(&s, "2.9.1", "3.11", NULL, &kit), s.err);
	assert_int_equal(kit.cxx11abi, 1);
	assert_null(kit.pybind_compiler);
	assert_null(kit.pybind_build_abi);
}

/* ---- wheels that are not what they should be ---- */

WS_TEST(a_wrong_or_incomplete_wheel_leaves_no_file_behind)
{
	static const struct {
		const char *fault, *says;
	} cases[] = {
		{"spoil=torch/include/c10/util/Exception.h", "torch/include/c10/util/Exception.h"},
		{"lie=torch/include/c10/util/Exception.h", "does not match its RECORD"},
		{"lie=torch/lib/libc10.so", "'torch/lib/libc10.so' in"},
		{"unsaid=torch/include/torch/extension.h", "gives no digest of 'torch/include/torch/ext"},
		{"lack=torch/lib/libc10.so", "has no 'torch/lib/libc10.so'"},
		{"lack=torch/version.py", "has no 'torch/version.py'"},
		{"says=2.6.0+cu124", "holds torch '2.6.0+cu124'"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_SCENE(s, a);
		struct ws_torch_kit kit;
		ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), cases[i].fault, NULL);
		assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_FETCH);
		assert_contains(s.err.text, cases[i].says);
		assert_contains(s.err.text, "torch 2.5.1: ");
		assert_int_equal(ws_scene_partials(&s), 0);
		const char *trees = ws_store_path(&s.store, a, "trees");
		assert_int_equal(rmdir(trees), 0); /* it is empty */
	}
}

WS_TEST(a_torch_without_cuda_is_refused_by_name)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "cuda=none", "label=cpu", NULL);
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text, "is a torch without CUDA (2.5.1+cpu)");
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "cuda=none", "label=rocm6.2",
		"hip=6.2", NULL);
	ws_torch_scene_forget(&s);
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text, "ROCm 6.2");
}

/* ---- servers ---- */

WS_TEST(a_server_without_ranges_gives_the_whole_wheel_with_a_warning)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_set_index(&s, "default", "/~norange/simple");
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_int_equal(kit.tree->count, 5);
	assert_contains(
		s.warnings, "does not support range requests: the whole file is downloaded (2.3 MB)");
	assert_null(strstr(strchr(s.warnings, '\n') + 1, "\n"));
	assert_int_equal(ws_scene_partials(&s), 0);
}

WS_TEST(a_whole_wheel_that_is_not_the_index_s_is_refused)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_set_index(&s, "default", "/~norange/simple");
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_fails(ws_torch_scene_open(&s, "9.9", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	ws_scene_run(
		&s, "make_torch.py", ws_torch_scene_files(&s), "abi=1", NULL); /* behind the page's back */
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl");
}

WS_TEST(an_index_with_html_only_works)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_set_index(&s, "default", "/~html/simple");
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_int_equal(strlen(kit.wheel_sha256), 64);
}

WS_TEST(an_index_that_gives_no_digests_will_do)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit, again;
	const char *wheel = ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), NULL);
	const char *page =
		ws_arena_printf(a, "<html><body><a href='/files/%s'>%s</a></body></html>", wheel, wheel);
	const char *folder = ws_path_join(a, s.served.dir, "pages/torch", NULL);
	const char *path = ws_path_join(a, folder, "index.html", NULL);
	assert_ok(ws_fs_mkdirs(folder, &s.err), s.err);
	assert_ok(ws_fs_write(path, page, strlen(page), 0644, &s.err), s.err);
	ws_scene_set_index(&s, "default", "/~type=text%2Fhtml/pages");
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err);
	assert_string_equal(kit.wheel_sha256, "");
	unsigned before = ws_served_count(&s.served, ".whl");
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &again), s.err);
	assert_string_equal(again.path, kit.path);
	/* RECORD shows that the wheel is unchanged: only the tail was requested. */
	assert_int_equal(ws_served_count(&s.served, ".whl"), before + 1);
	ws_scene_run(&s, "make_torch.py", ws_torch_scene_files(&s), "abi=1", NULL);
	assert_ok(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &again), s.err);
	assert_int_equal(again.cxx11abi, 1);
}

WS_TEST(an_index_without_torch_is_distinguished_from_one_that_fails)
{
	WS_SCENE(s, a);
	struct ws_torch_kit kit;
	ws_scene_set_index(&s, "default", "/~status=403/simple");
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text, "no index has a package 'torch'");
	ws_scene_set_index(&s, "default", "/~status=500/simple");
	assert_fails(ws_torch_scene_open(&s, "2.5.1", "3.11", NULL, &kit), s.err, WS_ERR_FETCH);
}

/* ---- installed ---- */

static void
install(struct ws_scene *s, const char *packages, const char *label)
{
	const char *dir = ws_test_dir(s->a);
	const char *wheel = ws_scene_run(s, "make_torch.py", dir, "label=cu124", label, NULL);
	const char *const argv[] = {"/usr/bin/env", "python3", "-m", "zipfile", "-e",
		ws_path_join(s->a, dir, wheel, NULL), packages, NULL};
	const char *const env[] = {ws_arena_printf(s->a, "PATH=%s", getenv("PATH")), NULL};
	struct ws_child_order command = {.argv = argv, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &s->err), s->err);
}

WS_TEST(a_torch_that_comes_and_goes_is_noticed_although_answers_are_remembered)
{
	WS_SCENE(s, a);
	struct ws_facts facts = ws_torch_scene_facts(a);
	struct ws_torch_kit kit;
	const char *venv = ws_path_join(a, ws_test_dir(a), "a venv", NULL);
	const char *const argv[] = {
		"/usr/bin/env", "python3", "-m", "venv", "--without-pip", venv, NULL};
	const char *const env[] = {ws_arena_printf(a, "PATH=%s", getenv("PATH")), NULL};
	struct ws_child_order command = {.argv = argv, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &s.err), s.err);
	struct ws_python_kit python = {.interpreter = ws_path_join(a, venv, "bin/python", NULL)};
	const char *const where[] = {python.interpreter, "-c",
		"import sysconfig; print(sysconfig.get_path('purelib'), end='')", NULL};
	command.argv = where;
	ws_buf_clear(&out);
	assert_ok(ws_child_ask(&command, &out, &s.err), s.err);
	const char *packages = ws_buf_copy(&out, a);
	nanosleep(&(struct timespec){.tv_sec = 4}, NULL); /* what is younger is not remembered */
	for (int i = 0; i < 2; i++) {
		assert_false(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err));
		assert_contains(s.err.text, "no torch is installed for");
	}
	install(&s, packages, "abi=1");
	assert_ok(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err), s.err);
	const char *torch = ws_path_join(a, packages, "torch", NULL);
	assert_int_equal(rename(torch, ws_path_join(a, packages, "elsewhere", NULL)), 0);
	assert_false(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err));
	assert_contains(s.err.text, "no torch is installed for");
	/* A file of paths leads to it. */
	const char *paths = ws_arena_printf(a, "%s/lib\n", venv);
	assert_ok(ws_fs_write(
				  ws_path_join(a, packages, "more.pth", NULL), paths, strlen(paths), 0644, &s.err),
		s.err);
	assert_int_equal(rename(ws_path_join(a, packages, "elsewhere", NULL),
						 ws_path_join(a, venv, "lib/torch", NULL)),
		0);
	assert_ok(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err), s.err);
}

WS_TEST(the_installed_torch_is_found_without_importing_it)
{
	WS_SCENE(s, a);
	struct ws_facts facts = ws_torch_scene_facts(a);
	struct ws_torch_kit kit;
	const char *venv = ws_path_join(a, ws_test_dir(a), "venv", NULL);
	const char *const argv[] = {
		"/usr/bin/env", "python3", "-m", "venv", "--without-pip", venv, NULL};
	const char *const env[] = {ws_arena_printf(a, "PATH=%s", getenv("PATH")), NULL};
	struct ws_child_order command = {.argv = argv, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &s.err), s.err);
	struct ws_python_kit python = {.interpreter = ws_path_join(a, venv, "bin/python", NULL)};
	assert_fails(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err), s.err,
		WS_ERR_CONFIG);
	assert_contains(s.err.text, "no torch is installed for");

	const char *const where[] = {python.interpreter, "-c",
		"import sysconfig; print(sysconfig.get_path('purelib'), end='')", NULL};
	command.argv = where;
	ws_buf_clear(&out);
	assert_ok(ws_child_ask(&command, &out, &s.err), s.err);
	const char *packages = ws_buf_copy(&out, a);
	install(&s, packages, "abi=1");
	assert_ok(ws_torch_open_installed(&facts, &python, s.store.ledger, a, &kit, &s.err), s.err);
	assert_string_equal(kit.version.text, "2.5.1+cu124");
	assert_int_equal(kit.cxx11abi, 1);
	assert_null(kit.tree);
	assert_null(kit.wheel);
	struct ws_digest record;
	const char *dist_info = ws_path_join(a, packages, "torch-2.5.1.dist-info", NULL);
	const char *moved = ws_path_join(a, packages, "torch-2.5.1+cu124.dist-info", NULL);
	assert_ok(
		ws_digest_file(ws_path_join(a, dist_info, "RECORD", NULL), &record, NULL, &s.err), s.err);
	assert_string_equal(kit.record_sha256, record.hex);
	assert_string_equal(kit.path, ws_path_join(a, packages, "torch", NULL));
	assert_string_equal(kit.library_path, ws_path_join(a, packages, "torch/lib", NULL));

	struct ws_python_kit details = {.purelib = packages, .include = "/usr/include/python3.11"};
	assert_int_equal(rename(dist_info, moved), 0);
	assert_ok(ws_torch_open_installed(&facts, &details, s.store.ledger, a, &kit, &s.err), s.err);
	assert_string_equal(kit.record_sha256, record.hex);
	assert_int_equal(rename(moved, ws_path_join(a, packages, "elsewhere", NULL)), 0);
	assert_ok(ws_torch_open_installed(&facts, &details, s.store.ledger, a, &kit, &s.err), s.err);
	assert_string_equal(kit.record_sha256, "");
	details.purelib = "/nowhere";
	assert_fails(ws_torch_open_installed(&facts, &details, s.store.ledger, a, &kit, &s.err), s.err,
		WS_ERR_CONFIG);
	assert_contains(s.err.text, "/usr/include/python3.11");
}
