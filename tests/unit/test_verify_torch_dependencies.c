/* test_verify_torch_dependencies.c - libraries that torch brings, by the shipped lists: for each
 * release of the facts no symbol of them is assumed, and unknown symbols are missing. */
#include "test.h"

#include "compile.h"
#include "elf/stub.h"
#include "kit/torch/export_lists.h"
#include "verify/missing_symbols.h"

static const char *const releases[] = {"2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0",
	"2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"};

/* A module that needs torch's libraries and the driver, and wants each of @names. */
static struct ws_elf *
make_module(const char *const *names, size_t count, struct ws_arena *a)
{
	static const char *const stubs[] = {
		"libtorch.so", "libtorch_python.so", "libtorch_cuda.so", "libcuda.so.1"};
	static const char *const flags[] = {"-nostdlib", "-L.", "-Wl,--no-as-needed", "-ltorch",
		"-ltorch_python", "-ltorch_cuda", "-l:libcuda.so.1", NULL};
	const char *dir = ws_test_dir(a);
	struct ws_err err = {0};
	for (size_t i = 0; i < WS_LEN(stubs); i++) {
		WS_AUTO_BUF struct ws_buf b = {0};
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = stubs[i]}, &b, &err), err);
		const char *path = ws_path_join(a, dir, stubs[i], NULL);
		assert_ok(ws_fs_write(path, b.data, b.len, 0644, &err), err);
	}
	WS_AUTO_BUF struct ws_buf source = {0};
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&source, "void %s(void); void f%zu(void) { %s(); }\n", names[i], i, names[i]);
	}
	const char *path = ws_test_library(a, dir, "m.so", ws_buf_text(&source), flags);
	struct ws_elf *elf = ws_elf_open(path, a, &err);
	assert_ok(elf, err);
	return elf;
}

/* @a release NULL: a module that is for no torch. */
static struct ws_symbols
judge(const struct ws_elf *elf, const char *release, const char *stable, struct ws_arena *a)
{
	static const char facts[] = WS_SOURCE_DATA_DIR "/matrix/facts";
	struct ws_version version;
	struct ws_err err = {0};
	ws_list_paths lists = {0};
	if (release) {
		assert_true(ws_version_parse(release, a, &version));
		*ws_vec_push(&lists, a) = ws_arena_printf(a, "%s/exports/torch-%s.zst", facts, release);
	}
	assert_ok(ws_torch_dependencies(facts, release ? &version : NULL, a, &lists, &err), err);
	struct ws_load_place around = {
		.lists = lists.at, .list_count = lists.len, .stable_python = stable};
	struct ws_subject_module module = {.name = "m", .elf = elf, .required = true};
	struct ws_subject subject = {.modules = &module, .count = 1};
	struct ws_symbols symbols;
	assert_ok(ws_symbols_judge(&subject, &around, a, &symbols, &err), err);
	return symbols;
}

WS_TEST(of_every_release_nothing_is_taken_on_trust)
{
	static const char *const real[] = {"cublasCreate_v2", "cublasLtCreate", "cudnnCreate",
		"cufftPlan1d", "cusparseCreate", "ncclCommInitRank", "cuptiActivityEnable", "cudaMalloc",
		"GOMP_parallel", "omp_get_max_threads", "_Z11libshm_initPKc", "cuLaunchKernel", "cuInit"};
	static const char *const made_up[] = {"cublasDoesNotExist", "cudnnDoesNotExist",
		"cufftDoesNotExist", "curandDoesNotExist", "cusolverDoesNotExist", "cusparseDoesNotExist",
		"ncclDoesNotExist", "nvrtcDoesNotExist", "cuptiDoesNotExist", "cudaDoesNotExist",
		"GOMP_doesNotExist", "omp_does_not_exist", "cuDoesNotExist", "PyThisWasNeverAFunction"};
	WS_AUTO_ELF struct ws_elf *good = make_module(real, WS_LEN(real), a);
	WS_AUTO_ELF struct ws_elf *bad = make_module(made_up, WS_LEN(made_up), a);
	for (size_t i = 0; i < WS_LEN(releases); i++) {
		struct ws_symbols symbols = judge(good, releases[i], NULL, a);
		for (size_t k = 0; k < symbols.missing_count; k++) {
			fail_msg("torch %s: %s", releases[i], symbols.missing[k].name);
		}
		for (size_t k = 0; k < symbols.absent_count; k++) {
			fail_msg("torch %s: %s is not brought", releases[i], symbols.absent[k].name);
		}
		assert_int_equal(symbols.assumed_count, 0);
		symbols = judge(bad, releases[i], "3.10", a);
		assert_int_equal(symbols.assumed_count, 0);
		assert_int_equal(symbols.missing_count, WS_LEN(made_up));
		assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	}
}

WS_TEST(newer_libraries_have_newer_names)
{
	/* CUDA 12.8 brought it, by the list alone. */
	static const char *const names[] = {"cudaLibraryLoadData"};
	WS_AUTO_ELF struct ws_elf *elf = make_module(names, 1, a);
	assert_int_equal(judge(elf, "2.8.0", NULL, a).verdict, WS_VERDICT_OK);
	struct ws_symbols symbols = judge(elf, "2.5.1", NULL, a);
	assert_int_equal(symbols.missing_count, 1);
	assert_string_equal(symbols.missing[0].library, "libcudart.so.12");
}

WS_TEST(the_stable_abi_grows_with_each_python)
{
	static const char *const since_3_10[] = {"PyUnicode_AsUTF8AndSize", "PyModule_Create2"};
	static const char *const since_3_11[] = {"PyType_GetName"};
	WS_AUTO_ELF struct ws_elf *older = make_module(since_3_10, 2, a);
	WS_AUTO_ELF struct ws_elf *newer = make_module(since_3_11, 1, a);
	assert_int_equal(judge(older, NULL, "3.10", a).missing_count, 0);
	assert_int_equal(judge(older, NULL, "3.9", a).missing_count, 1);
	assert_int_equal(judge(newer, NULL, "3.11", a).missing_count, 0);
	struct ws_symbols symbols = judge(newer, NULL, "3.10", a);
	assert_int_equal(symbols.missing[0].reason, WS_MISSING_PYTHON);
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(&symbols, a, &count);
	bool reported = false;
	for (size_t i = 0; i < count; i++) {
		reported = reported
			|| ws_same(findings[i].text,
				"m needs 1 symbol of Python that its stable ABI of 3.10 does not have");
	}
	assert_true(reported);
}
