/* test_elf_fatbin.c - the samples of fuzz/corpus/fatbin, which nvcc 13.0 made. */
#include "test.h"

#include "base/fs.h"
#include "elf/fatbin.h"

/* "75 75ptx 90a": code and PTX of each architecture; the number of containers after it. */
static const char *
describe(const char *sample, struct ws_arena *a, struct ws_fatbin *fatbin)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err err = {0};
	assert_ok(
		ws_fs_read(ws_path_join(a, WS_TESTS_DIR, "fuzz/corpus/fatbin", sample, NULL), &bytes, &err),
		err);
	assert_ok(ws_fatbin_read(bytes.data, bytes.len, a, fatbin, &err), err);
	size_t count;
	const struct ws_fatbin_arch *archs = ws_fatbin_archs(fatbin, a, &count);
	for (size_t i = 0; i < count; i++) {
		const char suffix[2] = {archs[i].suffix};
		if (archs[i].code) {
			ws_buf_printf(&text, "%u%s ", archs[i].sm, suffix);
		}
		if (archs[i].ptx) {
			ws_buf_printf(&text, "%u%sptx ", archs[i].sm, suffix);
		}
		ws_buf_printf(&text, "in %zu; ", archs[i].containers);
	}
	return ws_buf_copy(&text, a);
}

WS_TEST(archs_of_every_kind_of_image)
{
	static const struct {
		const char *sample, *archs;
	} samples[] = {
		{"none_75_90ptx", "75 in 1; 90 90ptx in 1; "},
		{"zstd_90aptx_100f", "90a 90aptx in 1; 100f in 1; "},
		{"lz4_75ptx", "75 75ptx in 1; "},
		{"default_75ptx_120aptx", "75 75ptx in 1; 120a 120aptx in 1; "},
		{"ptxonly_80", "80ptx in 1; "},
		{"lineinfo_80", "80 in 1; "},
		{"lto_80", "80 in 1; "},
		{"two_units_80_90a", "80 in 1; 90a in 1; "},
		{"nvcc_link_86", "86 in 2; "},
	};
	for (size_t i = 0; i < WS_LEN(samples); i++) {
		struct ws_fatbin fatbin;
		assert_string_equal(describe(samples[i].sample, a, &fatbin), samples[i].archs);
	}
}

WS_TEST_ERR(one_number_with_and_without_suffix_is_two_archs)
{
	static const char *const parts[] = {"zstd_90aptx_100f", "none_75_90ptx", "zstd_90aptx_100f"};
	WS_AUTO_BUF struct ws_buf bytes = {0};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		const char *path = ws_path_join(a, WS_TESTS_DIR, "fuzz/corpus/fatbin", parts[i], NULL);
		assert_ok(ws_fs_read(path, &bytes, &err), err);
	}
	struct ws_fatbin fatbin;
	assert_ok(ws_fatbin_read(bytes.data, bytes.len, a, &fatbin, &err), err);
	size_t count;
	const struct ws_fatbin_arch *archs = ws_fatbin_archs(&fatbin, a, &count);
	static const struct ws_fatbin_arch expected[] = {{75, 0, true, false, 1},
		{90, 0, true, true, 1}, {90, 'a', true, true, 2}, {100, 'f', true, false, 2}};
	assert_int_equal(count, WS_LEN(expected));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(archs[i].sm, expected[i].sm);
		assert_int_equal(archs[i].suffix, expected[i].suffix);
		assert_int_equal(archs[i].code, expected[i].code);
		assert_int_equal(archs[i].ptx, expected[i].ptx);
		assert_int_equal(archs[i].containers, expected[i].containers);
	}
}

WS_TEST(images_tell_how_they_are_packed)
{
	struct ws_fatbin fatbin;
	describe("zstd_90aptx_100f", a, &fatbin);
	assert_int_equal(fatbin.image_count, 3);
	assert_int_equal(fatbin.images[0].packing, WS_FATBIN_ZSTD);
	assert_int_equal(fatbin.images[0].stored_bytes, 881);
	assert_int_equal(fatbin.images[0].raw_bytes, 3568);
	describe("lz4_75ptx", a, &fatbin);
	assert_int_equal(fatbin.images[0].packing, WS_FATBIN_PLAIN);
	assert_int_equal(fatbin.images[1].packing, WS_FATBIN_LZ4);
	assert_int_equal(fatbin.images[1].kind, WS_FATBIN_PTX);
	assert_int_equal(fatbin.images[1].major, 9);
	assert_int_equal(fatbin.images[1].minor, 0);
	describe("lto_80", a, &fatbin);
	assert_int_equal(fatbin.images[1].kind, WS_FATBIN_LTO);
}

WS_TEST_ERR(an_incomplete_section_gives_no_list)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	struct ws_fatbin fatbin;
	const char *path = WS_TESTS_DIR "/fuzz/corpus/fatbin/none_75_90ptx";
	assert_ok(ws_fs_read(path, &bytes, &err), err);
	for (size_t len = 1; len < bytes.len; len += 13) {
		assert_fails(ws_fatbin_read(bytes.data, len, a, &fatbin, &err), err, WS_ERR_FETCH);
	}
	assert_contains(err.text, "offset 0 of");
	bytes.data[8] = (char)(bytes.data[8] + 1); /* one byte more than there is */
	assert_fails(ws_fatbin_read(bytes.data, bytes.len, a, &fatbin, &err), err, WS_ERR_FETCH);
	/* No GPU code at all is fine: an empty section, or the linker's padding. */
	assert_ok(ws_fatbin_read("\0\0\0\0", 4, a, &fatbin, &err), err);
	assert_int_equal(fatbin.image_count, 0);
	assert_ok(ws_fatbin_read(NULL, 0, a, &fatbin, &err), err);
}
