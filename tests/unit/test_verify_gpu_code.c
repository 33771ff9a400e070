/* test_verify_gpu_code.c - libraries around real .nv_fatbin sections. */
#include "test.h"

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
	assert_string_equal(ws_arch_set_text(&code.common, a), "7.5;9.0+PTX");
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
	assert_int_equal(code.common.count, 0);
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
