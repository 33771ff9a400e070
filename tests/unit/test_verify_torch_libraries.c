/* test_verify_torch_libraries.c - libraries that torch brings, by the shipped lists: what `import
 * torch` has in the process and what it has not; for each release no symbol is assumed and unknown
 * symbols are missing; symbols of libraries without a list are neither missing nor found. Where run
 * paths lead is held against dlopen: cli.loader. */

#include "compile.h"
#include "elf/stub.h"
#include "kit/torch/export_lists.h"
#include "verify/missing_symbols.h"

static const char facts[] = WS_SOURCE_DATA_DIR "/matrix/facts";

/* Compiles a module beside stubs that it may be linked with. */
static struct ws_elf *
make_module(const char *name, const char *source, const char *const *flags, struct ws_arena *a)
{
	static const char *const stubs[] = {"libtorch.so", "libtorch_python.so", "libtorch_cuda.so",
		"libcuda.so.1", "libcusolver.so.11", "libcusolver.so.12", "libnvrtc.so.12",
		"libibverbs.so.1"};
	const char *dir = ws_test_dir(a);
	struct ws_err err = {0};
	for (size_t i = 0; i < WS_LEN(stubs); i++) {
		WS_AUTO_BUF struct ws_buf b = {0};
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = stubs[i]}, &b, &err), err);
		const char *path = ws_path_join(a, dir, stubs[i], NULL);
		assert_ok(ws_fs_write(path, b.data, b.len, 0644, &err), err);
	}
	struct ws_elf *elf = ws_elf_open(ws_test_library(a, dir, name, source, flags), a, &err);
	assert_ok(elf, err);
	return elf;
}

/* Judges the module as p/m.so beside that torch and, with @brought, its dependencies. @release
 * NULL: a module that is for no torch. */
static struct ws_symbols
judge_in(const struct ws_elf *elf, const char *release, bool brought, bool installed,
	struct ws_load_place around, struct ws_arena *a)
{
	struct ws_version version;
	struct ws_err err = {0};
	ws_list_paths lists = {0};
	struct ws_symbols symbols;
	if (release) {
		assert_true(ws_version_parse(release, a, &version));
		*ws_vec_push(&lists, a) = ws_arena_printf(a, "%s/exports/torch-%s.zst", facts, release);
	}
	if (brought) {
		assert_ok(ws_torch_dependencies(facts, release ? &version : NULL, a, &lists, &err), err);
	}
	around.lists = lists.at;
	around.list_count = lists.len;
	struct ws_subject_module module = {
		.name = "m", .elf = elf, .place = "p/m.so", .required = true};
	struct ws_subject subject = {.modules = &module, .count = 1, .installed = installed};
	assert_ok(ws_symbols_judge(&subject, &around, a, &symbols, &err), err);
	return symbols;
}

/* ---- what `import torch` loads ---- */

/* The first finding on a module that needs @name and has @flags. "": it loads. */
static const char *
load(struct ws_arena *a, const char *release, const char *name, const char *const *flags)
{
	const char *source = name
		? ws_arena_printf(a, "int %s(void); int f(void) { return %s(); }", name, name)
		: "int f(void) { return 1; }";
	WS_AUTO_ELF struct ws_elf *elf = make_module("m.so", source, flags, a);
	struct ws_symbols symbols = judge_in(
		elf, release, true, true, (struct ws_load_place){.python = "cp311", .complete = true}, a);
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(&symbols, a, &count);
	return findings[0].verdict == WS_VERDICT_OK ? "" : findings[0].text;
}

#define NEEDS(library, ...) \
	((const char *const[]){"-nostdlib", "-L.", "-Wl,--no-as-needed", "-l:" library, \
		"-Wl,--enable-new-dtags", __VA_ARGS__, NULL})

WS_TEST(a_library_of_nvidia_that_nothing_loads_is_not_there)
{
	const char *said = load(a, "2.5.1", "cusolverDnCreate", NEEDS("libcusolver.so.11", NULL));
	assert_string_equal(said,
		"m needs the library 'libcusolver.so.11', which torch 2.5.1 brings and does not load: no "
		"run path leads to it");
	assert_contains(load(a, "2.8.0", NULL, NEEDS("libcusolver.so.11", NULL)), "does not load");
	assert_contains(load(a, "2.5.1", NULL, NEEDS("libnvrtc.so.12", NULL)), "does not load");
}

WS_TEST(a_run_path_leads_to_it)
{
	assert_string_equal(
		load(a, "2.5.1", "cusolverDnCreate",
			NEEDS("libcusolver.so.11", "-Wl,-rpath,$ORIGIN/../nvidia/cusolver/lib")),
		"");
	assert_string_equal(load(a, "2.5.1", NULL,
							NEEDS("libnvrtc.so.12", "-Wl,-rpath,$ORIGIN/../nvidia/cuda_nvrtc/lib")),
		"");
	assert_contains(load(a, "2.5.1", NULL,
						NEEDS("libcusolver.so.11", "-Wl,-rpath,$ORIGIN/../nvidia/cublas/lib")),
		"does not load");
}

WS_TEST(newer_releases_load_more)
{
	/* _load_global_deps of torch/__init__.py */
	assert_string_equal(load(a, "2.6.0", NULL, NEEDS("libnvrtc.so.12", NULL)), "");
	assert_string_equal(load(a, "2.11.0", NULL, NEEDS("libcusolver.so.12", NULL)), "");
}

WS_TEST(needs_of_a_library_that_is_not_loaded_are_not_available)
{
	/* libcufile_rdma.so.1 of 2.8.0 needs it, and no package has it. */
	static const char *const releases[] = {"2.5.1", "2.8.0", "2.15.0"};
	for (size_t i = 0; i < WS_LEN(releases); i++) {
		assert_contains(load(a, releases[i], NULL, NEEDS("libibverbs.so.1", NULL)),
			"needs the library 'libibverbs.so.1', which neither");
	}
}

WS_TEST(needs_of_global_deps_are_available_to_all)
{
	static const char *const alone[] = {"-nostdlib", NULL};
	assert_string_equal(load(a, "2.5.1", "cudaGetDeviceCount", alone), "");
	/* That is local to torch. */
	assert_contains(load(a, "2.5.1", "cublasCreate_v2", alone), "does not name that library");
}

/* ---- what torch brings ---- */

static const char *const releases[] = {"2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0",
	"2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"};

/* A module that needs torch's libraries and the driver, and wants each of @names. */
static struct ws_elf *
make_wanting(const char *const *names, size_t count, struct ws_arena *a)
{
	static const char *const flags[] = {"-nostdlib", "-L.", "-Wl,--no-as-needed", "-ltorch",
		"-ltorch_python", "-ltorch_cuda", "-l:libcuda.so.1", NULL};
	WS_AUTO_BUF struct ws_buf source = {0};
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&source, "void %s(void); void f%zu(void) { %s(); }\n", names[i], i, names[i]);
	}
	return make_module("m.so", ws_buf_text(&source), flags, a);
}

static struct ws_symbols
judge(const struct ws_elf *elf, const char *release, const char *stable, struct ws_arena *a)
{
	return judge_in(elf, release, true, false, (struct ws_load_place){.stable_python = stable}, a);
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
	WS_AUTO_ELF struct ws_elf *good = make_wanting(real, WS_LEN(real), a);
	WS_AUTO_ELF struct ws_elf *bad = make_wanting(made_up, WS_LEN(made_up), a);
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
	WS_AUTO_ELF struct ws_elf *elf = make_wanting(names, 1, a);
	assert_int_equal(judge(elf, "2.8.0", NULL, a).verdict, WS_VERDICT_OK);
	struct ws_symbols symbols = judge(elf, "2.5.1", NULL, a);
	assert_int_equal(symbols.missing_count, 1);
	assert_string_equal(symbols.missing[0].library, "libcudart.so.12");
}

WS_TEST(the_stable_abi_grows_with_each_python)
{
	static const char *const since_3_10[] = {"PyUnicode_AsUTF8AndSize", "PyModule_Create2"};
	static const char *const since_3_11[] = {"PyType_GetName"};
	WS_AUTO_ELF struct ws_elf *older = make_wanting(since_3_10, 2, a);
	WS_AUTO_ELF struct ws_elf *newer = make_wanting(since_3_11, 1, a);
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

/* ---- trust: torch 2.11.0 brings libgomp.so.1, libshm.so, libtorch_nvshmem.so and the libraries of
 * CUDA 13; its own list has none ---- */

/* Judges C++ that is linked with torch alone; the finding, of which there must be one. */
static const char *
trust(const char *source, struct ws_symbols *symbols, struct ws_arena *a)
{
	static const char *const flags[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", "-ltorch_python", NULL};
	WS_AUTO_ELF struct ws_elf *module = make_module("m.cc.so", source, flags, a);
	size_t count;
	*symbols =
		judge_in(module, "2.11.0", false, false, (struct ws_load_place){.python = "cp311"}, a);
	const struct ws_finding *findings = ws_symbols_findings(symbols, a, &count);
	assert_int_equal(count, 1);
	assert_int_equal(findings[0].verdict, WS_VERDICT_OK);
	return findings[0].text;
}

WS_TEST(the_library_that_was_not_read_is_named_once)
{
	struct ws_symbols symbols;
	assert_string_equal(trust("namespace at { int get_num_threads(); }\n"
							  "extern \"C\" { int omp_get_max_threads(), GOMP_parallel(); }\n"
							  "int f() { return at::get_num_threads() + omp_get_max_threads()\n"
							  "  + GOMP_parallel(); }\n",
							&symbols, a),
		"m finds all of its 3 symbols, 2 of them taken on trust: 'libgomp.so.1' was not read");
	assert_int_equal(symbols.assumed_count, 2);
	assert_int_equal(symbols.unread_count, 1);
	assert_string_equal(symbols.unread[0], "libgomp.so.1");
}

WS_TEST(of_many_the_first_are_named)
{
	struct ws_symbols symbols;
	assert_string_equal(
		trust("extern \"C\" { int GOMP_parallel(), cublasCreate_v2(), nvshmem_my_pe(); }\n"
			  "void libshm_init(const char *);\n"
			  "int f() { libshm_init(\"\"); return GOMP_parallel() + cublasCreate_v2()\n"
			  "  + nvshmem_my_pe(); }\n",
			&symbols, a),
		"m finds all of its 4 symbols, 4 of them taken on trust: 'libgomp.so.1', 'libshm.so', "
		"'libcublas.so.13' and 1 more were not read");
	assert_int_equal(symbols.unread_count, 4);
}

WS_TEST(without_an_interpreter_its_names_are_trusted)
{
	struct ws_symbols symbols;
	assert_string_equal(
		trust("extern \"C\" int Py_IsInitialized(); int f() { return Py_IsInitialized(); }\n",
			&symbols, a),
		"m finds all of its 1 symbol, 1 of them taken on trust: 'Python' was not read");
}
