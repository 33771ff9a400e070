/* test_kit_export_lists.c - export lists of small wheels, one for each Python. */

#include "compile.h"
#include "elf/exports.h"
#include "kit/torch/export_lists.h"
#include "kit_scene.h"

static const char *
files(struct ws_scene *s)
{
	return ws_path_join(s->a, s->served.dir, "files", NULL);
}

static const char *
find_by(struct ws_scene *s, const char *program)
{
	struct ws_facts facts = {0};
	struct ws_version version;
	assert_true(ws_version_parse("2.5.1", s->a, &version));
	s->err = (struct ws_err){0};
	struct ws_pin_exports pin = {.torch = "2.5.1"};
	return ws_torch_exports_find(
		&s->fetch, &facts, program, &version, ws_machine_host(), &pin, s->a, &s->err);
}

static const char *
find(struct ws_scene *s)
{
	return find_by(s, WS_PROGRAM);
}

static bool
exports(struct ws_scene *s, const char *path, const char *python, const char *library,
	enum ws_export_kind kind, const char *text)
{
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, python, s->a, &s->err);
	struct ws_export line = {0};
	bool found = false;
	assert_ok(list != NULL, s->err);
	while (line.kind != WS_EXPORT_END) {
		assert_ok(ws_exports_next(list, &line, &s->err), s->err);
		found = found
			|| (line.kind == kind && strcmp(line.library, library) == 0
				&& strcmp(line.text, text) == 0);
	}
	return found;
}

static void
make_wheels(struct ws_scene *s)
{
	ws_scene_run(s, "make_torch.py", files(s), "all=1", NULL);
	ws_scene_run(s, "make_torch.py", files(s), "all=1", "python=cp313t",
		"pybind=v5_gcc_libstdcpp_cxxabi1011", NULL);
}

WS_TEST(a_list_holds_every_library_and_every_python)
{
	WS_SCENE(s, a);
	make_wheels(&s);
	const char *path = find(&s);
	assert_ok(path != NULL, s.err);
	assert_true(exports(&s, path, "cp311", "libtorch.so", WS_EXPORT_NAME, "of_torch"));
	assert_true(exports(
		&s, path, NULL, "libc10.so", WS_EXPORT_NAME, "_ZN3c105ErrorC1ENS_14SourceLocationESs"));
	assert_true(exports(&s, path, NULL, "libtorch_cpu.so", WS_EXPORT_TLS, "at_cpu"));
	assert_true(exports(&s, path, "cp311", "libtorch_python.so", WS_EXPORT_NAME, "glue_of_cp311"));
	assert_false(
		exports(&s, path, "cp313t", "libtorch_python.so", WS_EXPORT_NAME, "glue_of_cp311"));
	assert_true(exports(&s, path, "cp313t", "libtorch_python.so", WS_EXPORT_INTERNALS,
		"__pybind11_internals_v5_gcc_libstdcpp_cxxabi1011__"));
	assert_int_equal(ws_scene_partials(&s), 0);
}

WS_TEST(it_is_made_once)
{
	WS_SCENE(s, a);
	make_wheels(&s);
	const char *path = find(&s);
	assert_ok(path != NULL, s.err);
	unsigned before = ws_served_count(&s.served, "\"path\"");
	s.fetch.index = ws_index_open(s.fetch.http, a);
	const char *again = find(&s);
	assert_ok(again != NULL, s.err);
	assert_string_equal(again, path);
	assert_int_equal(ws_served_count(&s.served, "\"path\""), before);
}

WS_TEST(a_library_that_is_missing_or_wrong_is_named)
{
	static const char *const faults[][2] = {
		{"lack=torch/lib/libtorch_cuda.so", "has no 'torch/lib/libtorch_cuda.so'"},
		{"lie=torch/lib/libtorch_cpu.so", "does not match its RECORD"},
	};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		WS_SCENE(s, a);
		ws_scene_run(&s, "make_torch.py", files(&s), "all=1", faults[i][0], NULL);
		assert_null(find(&s));
		assert_int_equal(s.err.kind, WS_ERR_FETCH);
		assert_contains(s.err.text, "export list of torch 2.5.1: ");
		assert_contains(s.err.text, faults[i][1]);
		assert_int_equal(ws_scene_partials(&s), 0);
	}
}

WS_TEST(a_child_process_reads_the_library)
{
	WS_SCENE(s, a);
	make_wheels(&s);
	assert_fails(find_by(&s, "/bin/false"), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "reading its libraries exited with 1");
	assert_fails(find_by(&s, "/nonexistent"), s.err, WS_ERR_BUILD);
	assert_int_equal(ws_scene_partials(&s), 0);
}

/* An installed torch, its libraries in FOLDER/torch/lib. */
static struct ws_torch_kit
install(struct ws_scene *s, const char *folder, const char *abi)
{
	const char *wheel = ws_scene_run(s, "make_torch.py", folder, "all=1", abi, NULL);
	const char *const argv[] = {
		"python3", "-m", "zipfile", "-e", ws_path_join(s->a, folder, wheel, NULL), folder, NULL};
	ws_test_run(s->a, argv, folder);
	struct ws_torch_kit kit = {.library_path = ws_path_join(s->a, folder, "torch/lib", NULL)};
	assert_true(ws_version_parse("2.5.1+cu124", s->a, &kit.version));
	return kit;
}

WS_TEST(an_installed_torch_is_read_where_it_is)
{
	WS_SCENE(s, a);
	static const struct ws_python_tag python = {.major = 3, .minor = 11};
	const char *folder = ws_path_join(a, ws_test_dir(a), "a[b]*", NULL);
	assert_ok(ws_fs_mkdirs(folder, &s.err), s.err);
	struct ws_torch_kit kit = install(&s, folder, "abi=0");
	const char *path =
		ws_torch_exports_find_installed(&s.fetch, WS_PROGRAM, &kit, &python, a, &s.err);
	assert_ok(path != NULL, s.err);
	assert_true(exports(&s, path, "cp311", "libtorch_cuda.so", WS_EXPORT_NAME, "of_torch_cuda"));
	assert_true(exports(&s, path, "cp311", "libtorch_python.so", WS_EXPORT_NAME, "glue_of_cp311"));
	/* The required packages are beside it, in any state. */
	const char *nvidia = ws_path_join(a, folder, "nvidia/cublas/lib", NULL);
	assert_ok(ws_fs_mkdirs(nvidia, &s.err), s.err);
	ws_test_library(a, nvidia, "libcublas.so.12", "int cublasCreate_v2(void) { return 0; }", NULL);
	const char *text = ws_path_join(a, nvidia, "libtext.so", NULL);
	assert_ok(ws_fs_write(text, "text", 4, 0644, &s.err), s.err);
	path = ws_torch_exports_find_installed(&s.fetch, WS_PROGRAM, &kit, &python, a, &s.err);
	assert_ok(path != NULL, s.err);
	assert_true(exports(&s, path, "cp311", "libcublas.so.12", WS_EXPORT_NAME, "cublasCreate_v2"));
	assert_true(exports(&s, path, "cp311", "libtorch_cuda.so", WS_EXPORT_NAME, "of_torch_cuda"));
	/* Cached from now on: the library is not read again. */
	assert_string_equal(
		path, ws_torch_exports_find_installed(&s.fetch, "/nonexistent", &kit, &python, a, &s.err));
	/* Another one in its place. */
	install(&s, folder, "abi=1");
	const char *other =
		ws_torch_exports_find_installed(&s.fetch, WS_PROGRAM, &kit, &python, a, &s.err);
	assert_ok(other != NULL, s.err);
	assert_string_not_equal(path, other);
	assert_int_equal(ws_scene_partials(&s), 0);
}

WS_TEST(an_installed_torch_that_is_not_a_library_is_refused)
{
	WS_SCENE(s, a);
	static const struct ws_python_tag python = {.major = 3, .minor = 11};
	struct ws_torch_kit kit = install(&s, ws_test_dir(a), "abi=0");
	const char *cpu = ws_path_join(a, kit.library_path, "libtorch_cpu.so", NULL);
	assert_ok(ws_fs_write(cpu, "text", 4, 0644, &s.err), s.err);
	assert_fails(ws_torch_exports_find_installed(&s.fetch, WS_PROGRAM, &kit, &python, a, &s.err),
		s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "libtorch_cpu.so' is not an ELF file");
	assert_ok(ws_fs_remove(cpu, &s.err), s.err);
	assert_fails(ws_torch_exports_find_installed(&s.fetch, WS_PROGRAM, &kit, &python, a, &s.err),
		s.err, WS_ERR_CONFIG);
	assert_int_equal(ws_scene_partials(&s), 0);
}
