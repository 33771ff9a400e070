/* test_verify_missing_symbols.c - modules made here, judged against the shipped lists of torch and
 * the libraries of this host. The facts are those of a causal-conv1d wheel built for torch
 * 2.5.1. */
#include "elf/stub.h"
#include "verify/missing_symbols.h"
#include "verify_world.h"

/* A module that uses what every extension uses. With the other ABI it lacks exactly three names
 * in torch 2.5.1: torchCheckFail, torchInternalAssertFail, c10::Warning::Warning. */
static const char extension[] =
	"#include <string>\n"
	"#include <variant>\n"
	"namespace c10 {\n"
	"struct SourceLocation { const char *function, *file; unsigned line; };\n"
	"struct Warning {\n"
	"  struct UserWarning {}; struct DeprecationWarning {};\n"
	"  Warning(std::variant<UserWarning, DeprecationWarning>, const SourceLocation &,\n"
	"    std::string, bool);\n"
	"};\n"
	"namespace detail {\n"
	"void torchCheckFail(const char *, const char *, unsigned, const std::string &);\n"
	"void torchInternalAssertFail(const char *, const char *, unsigned, const char *,\n"
	"  const std::string &);\n"
	"}\n"
	"namespace cuda { namespace CUDACachingAllocator { extern void *allocator; } }\n"
	"}\n"
	"extern \"C\" void *PyModule_Create2(void *, int); extern \"C\" int cudaGetLastError();\n"
	"extern \"C\" void *PyInit_m() {\n"
	"  c10::detail::torchCheckFail(\"\", \"\", 1, \"x\");\n"
	"  c10::detail::torchInternalAssertFail(\"\", \"\", 1, \"\", \"x\");\n"
	"  c10::Warning(c10::Warning::UserWarning(), {\"\", \"\", 1}, \"x\", true);\n"
	"  cudaGetLastError();\n"
	"  return c10::cuda::CUDACachingAllocator::allocator ? PyModule_Create2(0, 0) : nullptr;\n"
	"}\n";

/* A host with this torch; libcudart and the interpreter are small ones of our own. */
static struct world
make_world(const char *torch, struct ws_arena *a)
{
	struct world w = make_host(a);
	w.list = ws_arena_printf(
		a, "%s/matrix/facts/exports/torch-%s.zst", WS_SOURCE_DATA_DIR, torch ? torch : "");
	w.place.list_count = torch ? 1 : 0;
	add_library(&w,
		ws_test_library(
			a, w.dir, "libcudart.so.12", "int cudaGetLastError(void) { return 0; }", NULL));
	return w;
}

static const char *const torch_flags[] = {"-L.", "-Wl,--no-as-needed", "-lc10", "-ltorch",
	"-ltorch_cpu", "-ltorch_python", "-l:libcudart.so.12", "-lc10_cuda", "-ltorch_cuda"};

/* The libraries of a build's link. */
static void
make_torch_stubs(struct world *w)
{
	static const char *const names[] = {"libc10.so", "libtorch.so", "libtorch_cpu.so",
		"libtorch_python.so", "libc10_cuda.so", "libtorch_cuda.so"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		struct ws_err err = {0};
		WS_AUTO_BUF struct ws_buf b = {0};
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = names[i]}, &b, &err), err);
		const char *path = ws_path_join(w->a, w->dir, names[i], NULL);
		assert_ok(ws_fs_write(path, b.data, b.len, 0644, &err), err);
	}
}

static bool
judge_elf(
	struct world *w, const struct ws_elf *module, struct ws_symbols *symbols, struct ws_err *err)
{
	struct ws_subject_module modules[] = {
		{.name = "m", .elf = module}, {.name = "sibling", .elf = w->sibling}};
	struct ws_subject subject = {.modules = modules, .count = w->sibling ? 2 : 1};
	struct ws_symbols all[2];
	w->place.lists = &w->list;
	w->place.libraries = w->libraries;
	w->place.globals = w->globals;
	bool done = ws_symbols_judge(&subject, &w->place, w->a, all, err);
	*symbols = all[0];
	return done;
}

/* Compiles a module; @more are flags up to a NULL. */
static struct ws_symbols
judge(struct world *w, const char *source, bool torch, const char *const *more)
{
	make_torch_stubs(w);
	const char *flags[40] = {0};
	size_t count = 0;
	for (; more && *more; more++) {
		flags[count++] = *more;
	}
	for (size_t i = 0; torch && i < WS_LEN(torch_flags); i++) {
		flags[count++] = torch_flags[i];
	}
	const char *path =
		ws_test_library(w->a, w->dir, "m.cpython-311-x86_64-linux-gnu.cc.so", source, flags);
	struct ws_symbols symbols;
	struct ws_err err = {0};
	assert_ok(judge_elf(w, open_elf(w, path), &symbols, &err), err);
	return symbols;
}

/* The findings as people read them. */
static const char *
read_aloud(const struct ws_symbols *symbols, struct ws_arena *a)
{
	static const char *const words[] = {"ok", "excluded", "unknown", "fails"};
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(symbols, a, &count);
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&text, "%s %s\n", words[findings[i].verdict], findings[i].text);
		for (size_t l = 0; l < findings[i].evidence_count; l++) {
			ws_buf_printf(&text, "  %s\n", findings[i].evidence[l]);
		}
	}
	return ws_buf_copy(&text, a);
}

#define ABI0 "-D_GLIBCXX_USE_CXX11_ABI=0"
#define ABI1 "-D_GLIBCXX_USE_CXX11_ABI=1"

WS_TEST(the_right_abi_finds_everything)
{
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	static const char *const flags[] = {"-std=c++17", ABI0, NULL};
	struct ws_symbols symbols = judge(&w, extension, true, flags);
	assert_string_equal(read_aloud(&symbols, a),
		ws_arena_printf(a, "ok m finds all of its %zu symbols\n", symbols.wanted_count));
	assert_int_equal(symbols.assumed_count, 0);
	assert_int_equal(symbols.module_abi, WS_CXX11ABI_0);
	assert_int_equal(symbols.torch_abi, WS_CXX11ABI_0);
	assert_true(symbols.wanted_count >= 6);
}

WS_TEST(the_wrong_abi_lacks_three_names_and_says_why)
{
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	static const char *const flags[] = {"-std=c++17", ABI1, NULL};
	struct ws_symbols symbols = judge(&w, extension, true, flags);
	assert_int_equal(symbols.missing_count, 3);
	assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	assert_string_equal(symbols.missing[0].other_abi, "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs");
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 3 symbols that torch 2.5.1 does not export\n"
		"  c10::detail::torchCheckFail(char const*, char const*, unsigned int, "
		"std::__cxx11::string const&)\n"
		"  c10::detail::torchInternalAssertFail(char const*, char const*, unsigned int, char "
		"const*, std::__cxx11::string const&)\n"
		"  c10::Warning::Warning(std::variant<c10::Warning::UserWarning, "
		"c10::Warning::DeprecationWarning>, c10::SourceLocation const&, std::__cxx11::string, "
		"bool)\n"
		"  built for cxx11abi 1; this torch is cxx11abi 0\n");
}

WS_TEST(the_other_way_round_in_a_newer_torch)
{
	WS_AUTO_WORLD struct world w = make_world("2.11.0", a);
	static const char *const flags[] = {"-std=c++17", ABI0, NULL};
	struct ws_symbols symbols = judge(&w, extension, true, flags);
	assert_int_equal(symbols.missing_count, 3);
	assert_contains(read_aloud(&symbols, a), "built for cxx11abi 0; this torch is cxx11abi 1");
}

WS_TEST(a_name_may_differ_by_its_return_type)
{
	static const char source[] = "#include <string>\nnamespace torch::autograd { struct Node { "
								 "std::string name() const; }; }\n"
								 "bool f(torch::autograd::Node *n) { return n->name().empty(); }\n";
	WS_AUTO_WORLD struct world w = make_world("2.7.1", a);
	static const char *const flags[] = {"-std=c++17", ABI0, NULL};
	struct ws_symbols symbols = judge(&w, source, true, flags);
	assert_int_equal(symbols.missing_count, 1);
	assert_int_equal(symbols.missing[0].reason, WS_MISSING_ABI);
	assert_string_equal(symbols.missing[0].other_abi, "_ZNK5torch8autograd4Node4nameB5cxx11Ev");
}

WS_TEST(torch_libraries_that_are_not_named_do_not_count)
{
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	static const char *const flags[] = {"-std=c++17", ABI0, "-L.", "-Wl,--no-as-needed", "-lc10",
		"-ltorch_cpu", "-l:libcudart.so.12", NULL};
	struct ws_symbols symbols = judge(&w, extension, false, flags);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 1 symbol of 'libc10_cuda.so' but does not name that library (DT_NEEDED)\n"
		"  c10::cuda::CUDACachingAllocator::allocator\n");
}

WS_TEST(libtorch_leads_to_all_of_torch)
{
	/* libtorch.so needs libtorch_cpu and libtorch_cuda, which need libc10 and libc10_cuda. */
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	static const char *const flags[] = {
		"-std=c++17", ABI0, "-L.", "-Wl,--no-as-needed", "-ltorch", "-l:libcudart.so.12", NULL};
	struct ws_symbols symbols = judge(&w, extension, false, flags);
	assert_int_equal(symbols.verdict, WS_VERDICT_OK);
}

WS_TEST(names_show_their_owner)
{
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	struct ws_symbols symbols = judge(&w,
		"namespace at { void no_such_function(long); }\n"
		"extern \"C\" { int cuMemAlloc_v2(); int cublasCreate_v2(); int PyNo_Such();\n"
		"int cusolverDnCreate(); int cudaNoSuch(); int my_own(); int maybe() "
		"__attribute__((weak));\n"
		"void f() { at::no_such_function(1); cuMemAlloc_v2(); cublasCreate_v2(); PyNo_Such();\n"
		"  cusolverDnCreate(); cudaNoSuch(); my_own(); if (maybe) maybe(); } }\n",
		true, NULL);
	/* cublas comes with torch and has no export list: its symbols are assumed. my_own resembles no
	 * symbol of such libraries, so it is missing. */
	assert_int_equal(symbols.assumed_count, 1);
	assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 1 symbol that torch 2.5.1 does not export\n"
		"  at::no_such_function(long)\n"
		"  built for another torch\n"
		"fails m needs 1 symbol of the CUDA driver but does not name libcuda\n"
		"  cuMemAlloc_v2\n"
		"  it must be linked with -lcuda\n"
		"fails m needs 1 symbol that 'libcudart.so.12' does not export\n"
		"  cudaNoSuch\n"
		"fails m needs 1 symbol of 'libcusolver', which nothing brings\n"
		"  cusolverDnCreate\n"
		"fails m needs 1 symbol of Python that this interpreter does not have\n"
		"  PyNo_Such\n"
		"  built for another Python\n"
		"fails m needs 1 symbol that nothing exports\n"
		"  my_own\n"
		"  a source file that defines it may be missing from the recipe, or a library from its "
		"link "
		"flags\n");
}

WS_TEST(unread_libraries_excuse_names_of_their_own)
{
	/* torch 2.11.0 brings libgomp.so.1, libshm.so and libtorch_nvshmem.so, which have no export
	 * list. */
	WS_AUTO_WORLD struct world w = make_world("2.11.0", a);
	static const char source[] =
		"extern \"C\" { int omp_get_max_threads(), GOMP_parallel(), nvshmem_my_pe(); }\n"
		"void libshm_init(const char *); void launch(float *, int);\n"
		"void f() { omp_get_max_threads(); GOMP_parallel(); nvshmem_my_pe(); libshm_init(\"\");\n"
		"  launch(nullptr, 1); }\n";
	static const char *const flags[] = {"-L.", "-Wl,--no-as-needed", "-ltorch_python", NULL};
	struct ws_symbols symbols = judge(&w, source, false, flags);
	assert_int_equal(symbols.assumed_count, 4);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 1 symbol that nothing exports\n"
		"  launch(float*, int)\n"
		"  a source file that defines it may be missing from the recipe, or a library from its "
		"link "
		"flags\n");
}

WS_TEST(a_device_link_that_was_forgotten)
{
	WS_AUTO_WORLD struct world w = make_world("2.11.0", a);
	struct ws_symbols symbols = judge(&w,
		"extern \"C\" void __cudaRegisterLinkedBinary_1a2b_4_a_cu_1a2b();\n"
		"void f() { __cudaRegisterLinkedBinary_1a2b_4_a_cu_1a2b(); }\n",
		true, NULL);
	assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	assert_contains(read_aloud(&symbols, a), "but the device link is missing\n");
}

WS_TEST(symbols_of_every_module_are_available)
{
	/* Weak names may stay undefined; the loader, libc, libm and libstdc++ have the rest. */
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	static const char source[] =
		"#include <cmath>\n#include <cstdlib>\n#include <cstring>\n#include <stdexcept>\n"
		"#include <vector>\n"
		"extern \"C\" int perhaps() __attribute__((weak));\n"
		"extern \"C\" int cudaGetLastError();\n"
		"thread_local std::vector<double> kept;\n"
		"double f(const char *text) {\n"
		"  char copy[64]; std::strcpy(copy, text); kept.push_back(std::atof(copy));\n"
		"  if (perhaps) perhaps(); if (cudaGetLastError()) throw std::runtime_error(copy);\n"
		"  static std::vector<double> all(kept); return std::pow(all.at(0), std::sin(kept[0]));\n"
		"}\n";
	static const char *const flags[] = {ABI0, "-O0", "-fstack-protector-all", "-fPIC", NULL};
	struct ws_symbols symbols = judge(&w, source, true, flags);
	assert_string_equal(read_aloud(&symbols, a),
		ws_arena_printf(a, "ok m finds all of its %zu symbols\n", symbols.wanted_count));
	assert_int_equal(symbols.assumed_count, 0);
}

WS_TEST(a_different_cuda_is_recognised_by_its_library)
{
	WS_AUTO_WORLD struct world w = make_world("2.11.0", a);
	static const char *const flags[] = {"-L.", "-Wl,--no-as-needed", "-l:libcudart.so.12", NULL};
	w.place.library_count--; /* no package has libcudart.so.12 */
	struct ws_symbols symbols = judge(&w,
		"extern \"C\" int cudaGetLastError(); int f() { return cudaGetLastError(); }", true, flags);
	assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 'libcudart.so.12'; torch 2.11.0 brings 'libcudart.so.13'\n");
}

WS_TEST(a_library_without_a_known_provider)
{
	/* torch 2.5.1 has a copy of libgomp under another name; that does not serve. */
	WS_AUTO_WORLD struct world w = make_world("2.5.1", a);
	ws_test_library(a, w.dir, "libgomp.so.1", "int GOMP_x(void) { return 1; }", NULL);
	static const char *const flags[] = {"-L.", "-l:libgomp.so.1", NULL};
	struct ws_symbols symbols =
		judge(&w, "extern \"C\" int GOMP_x(); int f() { return GOMP_x(); }", true, flags);
	assert_string_equal(read_aloud(&symbols, a),
		"unknown m needs the library 'libgomp.so.1', which torch 2.5.1 does not bring\n");
}

WS_TEST(a_sibling_counts_when_it_is_named)
{
	WS_AUTO_WORLD struct world w = make_world(NULL, a);
	const struct ws_elf *sibling = open_elf(
		&w, ws_test_library(a, w.dir, "libsib.so", "int shared_work(void) { return 1; }", NULL));
	w.sibling = sibling;
	static const char source[] =
		"extern \"C\" int shared_work(); int f() { return shared_work(); }";
	static const char *const named[] = {"-L.", "-lsib", NULL};
	struct ws_symbols symbols = judge(&w, source, false, named);
	assert_int_equal(symbols.verdict, WS_VERDICT_OK);
	symbols = judge(&w, source, false, NULL);
	assert_string_equal(read_aloud(&symbols, a),
		"unknown m finds 1 symbol only if 'libsib.so' of its own wheel is loaded first\n"
		"  shared_work\n");
}

WS_TEST(thread_local_is_another_kind)
{
	WS_AUTO_WORLD struct world w = make_world(NULL, a);
	const char *real = ws_test_library(a, w.dir, "libslot.so", "__thread int slot;", NULL);
	static const char *const flags[] = {"-L.", "-lslot", NULL};
	struct ws_symbols symbols = judge(&w,
		"extern thread_local int slot __attribute__((tls_model(\"initial-exec\")));\n"
		"extern \"C\" int *f() { return &slot; }",
		false, NULL);
	assert_int_equal(symbols.missing_count, 1);
	/* Linked against the real one, used with one where it is an ordinary variable. */
	symbols = judge(&w, "extern \"C\" __thread int slot; int *f() { return &slot; }", false, flags);
	add_library(&w, real);
	struct ws_err err = {0};
	const struct ws_elf *module = w.opened[w.opened_count - 2];
	assert_ok(judge_elf(&w, module, &symbols, &err), err);
	assert_int_equal(symbols.verdict, WS_VERDICT_OK);
	w.libraries[w.place.library_count - 1] =
		open_elf(&w, ws_test_library(a, ws_test_dir(a), "libslot.so", "int slot;", NULL));
	assert_ok(judge_elf(&w, module, &symbols, &err), err);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m and 'libslot.so' do not agree whether a symbol is thread-local\n  slot\n");
}

WS_TEST(versions_that_a_given_library_lacks)
{
	WS_AUTO_WORLD struct world w = make_world(NULL, a);
	struct ws_err err = {0};
	static const char *const maps[] = {
		"V_1 { global: *; };", "V_1 { global: *; }; V_2 { global: g; } V_1;"};
	static const char *const with_map[] = {"-Wl,--version-script,map", NULL};
	write_text(w.dir, "map", maps[1], a);
	ws_test_library(
		a, w.dir, "libver.so", "int f(void) { return 1; } int g(void) { return 2; }", with_map);
	static const char *const flags[] = {"-L.", "-lver", NULL};
	struct ws_symbols symbols =
		judge(&w, "extern \"C\" int f(), g(); int h() { return f() + g(); }", false, flags);
	/* No known package has libver: reported once for the library, not for each symbol. */
	assert_int_equal(symbols.missing_count, 0);
	assert_int_equal(symbols.absent_count, 1);
	assert_string_equal(symbols.absent[0].name, "libver.so");
	assert_int_equal(symbols.verdict, WS_VERDICT_UNKNOWN);
	const struct ws_elf *module = w.opened[w.opened_count - 1];
	write_text(w.dir, "map", maps[0], a);
	add_library(&w,
		ws_test_library(a, w.dir, "libver.so",
			"int f(void) { return 1; } int g(void) { return 2; }", with_map));
	assert_ok(judge_elf(&w, module, &symbols, &err), err);
	assert_string_equal(read_aloud(&symbols, a),
		"fails m needs 1 symbol version that 'libver.so' here does not have\n  V_2\n");
}

WS_TEST(without_a_list_nothing_is_said_about_torch)
{
	WS_AUTO_WORLD struct world w = make_world(NULL, a);
	struct ws_symbols symbols = judge(&w, extension, true, NULL);
	assert_int_equal(symbols.torch_abi, WS_CXX11ABI_SILENT);
	assert_int_equal(symbols.verdict, WS_VERDICT_UNKNOWN);
	struct ws_err err = {0};
	w.list = "/nonexistent.zst";
	w.place.list_count = 1;
	assert_fails(judge_elf(&w, w.opened[w.opened_count - 1], &symbols, &err), err, WS_ERR_IO);
}
