/* test_kit_exports.c - export lists of small wheels, one for each Python. */
#include "test.h"

#include "base/fs.h"
#include "elf/exports.h"
#include "kit/torch_exports.h"
#include "kit_scene.h"

static const char *
files(struct ws_scene *s)
{
	return ws_path_join(s->a, s->served.dir, "files", NULL);
}

static const char *
find(struct ws_scene *s)
{
	struct ws_facts facts = {0};
	struct ws_version version;
	assert_true(ws_version_parse("2.5.1", s->a, &version));
	s->err = (struct ws_err){0};
	return ws_torch_exports_find(&s->fetch, &facts, &version, s->a, &s->err);
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
	WS_AUTO_SCENE struct ws_scene s;
	ws_scene_begin(&s, a);
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
	WS_AUTO_SCENE struct ws_scene s;
	ws_scene_begin(&s, a);
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
		{"lie=torch/lib/libtorch_cpu.so", "is not what its RECORD says"},
	};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		WS_AUTO_SCENE struct ws_scene s;
		ws_scene_begin(&s, a);
		ws_scene_run(&s, "make_torch.py", files(&s), "all=1", faults[i][0], NULL);
		assert_null(find(&s));
		assert_int_equal(s.err.kind, WS_ERR_FETCH);
		assert_contains(s.err.text, "what torch 2.5.1 exports: ");
		assert_contains(s.err.text, faults[i][1]);
		assert_int_equal(ws_scene_partials(&s), 0);
	}
}
