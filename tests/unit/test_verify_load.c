/* test_verify_load.c - what `import torch` has in the process and what it has not, by the shipped
 * lists. Where run paths lead is held against dlopen: cli.loader. */
#include "test.h"

#include "compile.h"
#include "kit/torch/export_lists.h"
#include "verify/missing_symbols.h"

static const char facts[] = WS_SOURCE_DATA_DIR "/matrix/facts";

/* The verdict on p/m.so, which needs @name and has @flags, beside that torch. "" where it
 * loads. */
static const char *
judge(struct ws_arena *a, const char *release, bool complete, const char *name,
	const char *const *flags)
{
	struct ws_err err = {0};
	struct ws_version version;
	ws_list_paths lists = {0};
	assert_true(ws_version_parse(release, a, &version));
	*ws_vec_push(&lists, a) = ws_arena_printf(a, "%s/exports/torch-%s.zst", facts, release);
	assert_ok(ws_torch_dependencies(facts, &version, a, &lists, &err), err);
	struct ws_load_place around = {
		.lists = lists.at, .list_count = lists.len, .python = "cp311", .complete = complete};
	const char *dir = ws_test_dir(a);
	static const char *const stubs[] = {"libcusolver.so.11", "libcusolver.so.12", "libnvrtc.so.12",
		"libibverbs.so.1", "libcufile_rdma.so.1"};
	static const char *const bare[] = {"-nostdlib", NULL};
	for (size_t i = 0; i < WS_LEN(stubs); i++) {
		ws_test_library(a, dir, stubs[i], "int stub;", bare);
	}
	const char *source = name
		? ws_arena_printf(a, "int %s(void); int f(void) { return %s(); }", name, name)
		: "int f(void) { return 1; }";
	struct ws_elf *elf = ws_elf_open(ws_test_library(a, dir, "m.so", source, flags), a, &err);
	assert_ok(elf, err);
	struct ws_subject_module module = {
		.name = "m", .elf = elf, .place = "p/m.so", .required = true};
	struct ws_subject subject = {.modules = &module, .count = 1, .installed = true};
	struct ws_symbols symbols;
	assert_ok(ws_symbols_judge(&subject, &around, a, &symbols, &err), err);
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(&symbols, a, &count);
	const char *said = findings[0].verdict == WS_VERDICT_OK ? "" : findings[0].text;
	ws_elf_close(elf);
	return said;
}

#define NEEDS(library, ...) \
	((const char *const[]){"-nostdlib", "-L.", "-Wl,--no-as-needed", "-l:" library, \
		"-Wl,--enable-new-dtags", __VA_ARGS__, NULL})

WS_TEST(a_library_of_nvidia_that_nothing_loads_is_not_there)
{
	const char *said =
		judge(a, "2.5.1", true, "cusolverDnCreate", NEEDS("libcusolver.so.11", NULL));
	assert_string_equal(said,
		"m needs the library 'libcusolver.so.11', which torch 2.5.1 brings and does not load: no "
		"run path leads to it");
	assert_contains(
		judge(a, "2.8.0", true, NULL, NEEDS("libcusolver.so.11", NULL)), "does not load");
	assert_contains(judge(a, "2.5.1", true, NULL, NEEDS("libnvrtc.so.12", NULL)), "does not load");
}

WS_TEST(a_run_path_leads_to_it)
{
	assert_string_equal(
		judge(a, "2.5.1", true, "cusolverDnCreate",
			NEEDS("libcusolver.so.11", "-Wl,-rpath,$ORIGIN/../nvidia/cusolver/lib")),
		"");
	assert_string_equal(judge(a, "2.5.1", true, NULL,
							NEEDS("libnvrtc.so.12", "-Wl,-rpath,$ORIGIN/../nvidia/cuda_nvrtc/lib")),
		"");
	assert_contains(judge(a, "2.5.1", true, NULL,
						NEEDS("libcusolver.so.11", "-Wl,-rpath,$ORIGIN/../nvidia/cublas/lib")),
		"does not load");
}

WS_TEST(newer_releases_load_more)
{
	/* _load_global_deps of torch/__init__.py */
	assert_string_equal(judge(a, "2.6.0", true, NULL, NEEDS("libnvrtc.so.12", NULL)), "");
	assert_string_equal(judge(a, "2.11.0", true, NULL, NEEDS("libcusolver.so.12", NULL)), "");
}

WS_TEST(needs_of_a_library_that_is_not_loaded_are_not_available)
{
	/* libcufile_rdma.so.1 of 2.8.0 needs it, and no package has it. */
	static const char *const releases[] = {"2.5.1", "2.8.0", "2.15.0"};
	for (size_t i = 0; i < WS_LEN(releases); i++) {
		assert_contains(judge(a, releases[i], true, NULL, NEEDS("libibverbs.so.1", NULL)),
			"needs the library 'libibverbs.so.1', which neither");
	}
}

WS_TEST(needs_of_global_deps_are_available_to_all)
{
	static const char *const alone[] = {"-nostdlib", NULL};
	assert_string_equal(judge(a, "2.5.1", true, "cudaGetDeviceCount", alone), "");
	/* That is local to torch. */
	assert_contains(
		judge(a, "2.5.1", true, "cublasCreate_v2", alone), "does not name that library");
}
