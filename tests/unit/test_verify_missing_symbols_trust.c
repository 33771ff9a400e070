/* test_verify_missing_symbols_trust.c - symbols of libraries without an export list: they are not
 * missing, and the finding reports that they were not found either. torch 2.11.0 brings
 * libgomp.so.1, libshm.so, libtorch_nvshmem.so and the libraries of CUDA 13; its list has none. */
#include "test.h"

#include "compile.h"
#include "elf/stub.h"
#include "verify/missing_symbols.h"

/* Judges C++ that is linked with torch alone; the finding, of which there must be one. */
static const char *
judge(const char *source, struct ws_symbols *symbols, struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	struct ws_err err = {0};
	WS_AUTO_BUF struct ws_buf stub = {0};
	assert_ok(ws_elf_stub(&(struct ws_stub){.soname = "libtorch_python.so"}, &stub, &err), err);
	const char *torch = ws_path_join(a, dir, "libtorch_python.so", NULL);
	assert_ok(ws_fs_write(torch, stub.data, stub.len, 0644, &err), err);
	static const char *const flags[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", "-ltorch_python", NULL};
	WS_AUTO_ELF struct ws_elf *module =
		ws_elf_open(ws_test_library(a, dir, "m.cc.so", source, flags), a, &err);
	assert_ok(module, err);
	const char *list =
		ws_arena_printf(a, "%s/matrix/facts/exports/torch-2.11.0.zst", WS_SOURCE_DATA_DIR);
	struct ws_load_place place = {.lists = &list, .list_count = 1, .python = "cp311"};
	struct ws_subject_module m = {.name = "m", .elf = module};
	struct ws_subject subject = {.modules = &m, .count = 1};
	assert_ok(ws_symbols_judge(&subject, &place, a, symbols, &err), err);
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(symbols, a, &count);
	assert_int_equal(count, 1);
	assert_int_equal(findings[0].verdict, WS_VERDICT_OK);
	return findings[0].text;
}

WS_TEST(the_library_that_was_not_read_is_named_once)
{
	struct ws_symbols symbols;
	assert_string_equal(judge("namespace at { int get_num_threads(); }\n"
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
		judge("extern \"C\" { int GOMP_parallel(), cublasCreate_v2(), nvshmem_my_pe(); }\n"
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
		judge("extern \"C\" int Py_IsInitialized(); int f() { return Py_IsInitialized(); }\n",
			&symbols, a),
		"m finds all of its 1 symbol, 1 of them taken on trust: 'Python' was not read");
}
