/* test_verify_gpu_code.c - libraries around real .nv_fatbin sections. */

#include "compile.h"
#include "verify/gpu_code.h"

static struct ws_gpu_code
read_code(const char *sample, struct ws_arena *a)
{
	const char *source = ws_arena_printf(a,
		"__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
		".incbin \\\"%s/fuzz/corpus/fatbin/%s\\\"\\n.previous\\n\");",
		WS_TESTS_DIR, sample);
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, ws_test_dir(a), "libk.so", source, NULL), a, &err);
	assert_ok(elf, err);
	struct ws_gpu_code code;
	assert_ok(ws_gpu_code_read(elf, a, &code, &err), err);
	return code;
}

WS_TEST(measured_archs_in_the_words_of_the_matrix)
{
	struct ws_gpu_code code = read_code("none_75_90ptx", a);
	assert_string_equal(ws_arch_set_text(&code.archs, a), "7.5;9.0+PTX");
	assert_int_equal(code.ptx_only.count, 0);
	code = read_code("zstd_90aptx_100f", a);
	assert_string_equal(ws_arch_set_text(&code.archs, a), "9.0a+PTX;10.0f");
}

WS_TEST(ptx_alone_is_kept_apart)
{
	struct ws_gpu_code code = read_code("ptxonly_80", a);
	assert_int_equal(code.archs.count, 0);
	assert_int_equal(code.ptx_only.count, 1);
	assert_int_equal(code.ptx_only.at[0].number, 80);
}

WS_TEST(units_may_differ)
{
	struct ws_gpu_code code = read_code("two_units_80_90a", a);
	assert_string_equal(ws_arch_set_text(&code.archs, a), "8.0;9.0a");
}

WS_TEST(a_library_without_gpu_code_has_none)
{
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, ws_test_dir(a), "libn.so", "int x;", NULL), a, &err);
	struct ws_gpu_code code;
	assert_ok(ws_gpu_code_read(elf, a, &code, &err), err);
	assert_int_equal(code.image_count, 0);
	assert_int_equal(code.archs.count, 0);
}

WS_TEST(compression_asks_for_a_driver)
{
	struct ws_finding finding;
	struct ws_gpu_code code = read_code("lz4_75ptx", a);
	assert_null(code.driver);
	assert_true(code.stored_bytes < code.raw_bytes);
	assert_false(ws_gpu_code_driver(&code, "m", "470.57.02", a, &finding));
	code = read_code("zstd_90aptx_100f", a);
	assert_string_equal(code.driver, "550.54.14");
	assert_true(code.stored_bytes < code.raw_bytes);
	assert_true(ws_gpu_code_driver(&code, "m", NULL, a, &finding));
	assert_int_equal(finding.verdict, WS_VERDICT_OK);
	assert_string_equal(finding.text, "m has GPU code that needs driver 550.54.14 or newer (zstd)");
	assert_true(ws_gpu_code_driver(&code, "m", "580.159.03", a, &finding));
	assert_int_equal(finding.verdict, WS_VERDICT_OK);
	assert_true(ws_gpu_code_driver(&code, "m", "535.183.01", a, &finding));
	assert_int_equal(finding.verdict, WS_VERDICT_FAILS);
	assert_string_equal(
		finding.text, "m has GPU code that needs driver 550.54.14 or newer, not 535.183.01");
	code = read_code("none_75_90ptx", a);
	assert_null(code.driver);
}

WS_TEST(the_runtime_asks_for_a_driver)
{
	static const struct {
		const char *file, *runtime, *driver;
	} cases[] = {{"zstd_90aptx_100f", "libcudart.so.13", "580.65.06"},
		{"zstd_90aptx_100f", "libcudart.so.12", "550.54.14"},
		{"zstd_90aptx_100f", "libother.so", "550.54.14"}};
	const char *dir = ws_test_dir(a);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_err err = {0};
		struct ws_gpu_code code;
		const char *source = ws_arena_printf(a,
			"__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
			".incbin \\\"" WS_TESTS_DIR "/fuzz/corpus/fatbin/%s\\\"\\n.previous\\n\");",
			cases[i].file);
		const char *flags[] = {"-nostdlib", "-L.", "-Wl,--no-as-needed",
			ws_arena_printf(a, "-l:%s", cases[i].runtime), NULL};
		static const char *const bare[] = {"-nostdlib", NULL};
		ws_test_library(a, dir, cases[i].runtime, "int x;", bare);
		WS_AUTO_ELF struct ws_elf *elf =
			ws_elf_open(ws_test_library(a, dir, "m.so", source, flags), a, &err);
		assert_ok(elf, err);
		assert_ok(ws_gpu_code_read(elf, a, &code, &err), err);
		assert_string_equal(code.driver, cases[i].driver);
	}
}
