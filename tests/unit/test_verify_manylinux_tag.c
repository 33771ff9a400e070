/* test_verify_manylinux_tag.c - libraries that ask for chosen versions. */

#include "compile.h"
#include "verify/manylinux_tag.h"

/*
 * Adds a library that asks for @version of @library: a provider is made that has one symbol
 * "wanted" of that version, and a user is linked to it.
 */
static void
ask(struct ws_floor *floor, const char *library, const char *version, const char *const *own,
	struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	struct ws_err err = {0};
	const char *map = ws_arena_printf(a, "%s { global: *; };", version ? version : "");
	assert_ok(ws_fs_write(ws_path_join(a, dir, "map", NULL), map, strlen(map), 0644, &err), err);
	const char *provider[] = {"-nostdlib", "-Wl,--version-script,map", NULL};
	ws_test_library(a, dir, library, "int wanted(void) { return 1; }", provider);
	const char *user[] = {"-nostdlib", "-L.", ws_arena_printf(a, "-l:%s", library), NULL};
	const char *path = ws_test_library(
		a, dir, "user.so", "int wanted(void); int f(void) { return wanted(); }", user);
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	assert_ok(elf, err);
	ws_floor_add(floor, elf, own, own ? 1 : 0, a);
}

static const char *
tag_of(const char *library, const char *version, struct ws_arena *a)
{
	struct ws_floor floor = {0};
	ask(&floor, library, version, NULL, a);
	return ws_floor_tag(&floor);
}

WS_TEST(the_oldest_policy_that_allows_a_version)
{
	static const struct {
		const char *library, *version, *tag;
	} asks[] = {
		{"libc.so.6", "GLIBC_2.2.5", "manylinux_2_5_x86_64"},
		{"libc.so.6", "GLIBC_2.5", "manylinux_2_5_x86_64"},
		{"libc.so.6", "GLIBC_2.6", "manylinux_2_12_x86_64"},
		{"libc.so.6", "GLIBC_2.17", "manylinux_2_17_x86_64"},
		{"libc.so.6", "GLIBC_2.28", "manylinux_2_28_x86_64"},
		{"libc.so.6", "GLIBC_2.32", "manylinux_2_34_x86_64"},
		{"libc.so.6", "GLIBC_2.41", "manylinux_2_41_x86_64"},
		{"libc.so.6", "GLIBC_2.42", "linux_x86_64"},
		{"libc.so.6", "GLIBC_PRIVATE", "linux_x86_64"},
		{"libc.so.6", "GLIBC_ABI_DT_RELR", "manylinux_2_36_x86_64"},
		{"libstdc++.so.6", "GLIBCXX_3.4.19", "manylinux_2_17_x86_64"},
		{"libstdc++.so.6", "GLIBCXX_3.4.29", "manylinux_2_34_x86_64"},
		{"libstdc++.so.6", "GLIBCXX_3.4.9", "manylinux_2_12_x86_64"},
		{"libstdc++.so.6", "CXXABI_1.3.11", "manylinux_2_27_x86_64"},
		{"libstdc++.so.6", "CXXABI_1.3.15", "manylinux_2_39_x86_64"},
		{"libstdc++.so.6", "CXXABI_TM_1", "manylinux_2_17_x86_64"},
		{"libstdc++.so.6", "CXXABI_FLOAT128", "manylinux_2_24_x86_64"},
		{"libgcc_s.so.1", "GCC_3.0", "manylinux_2_5_x86_64"},
		{"libgcc_s.so.1", "GCC_12.0.0", "manylinux_2_35_x86_64"},
		{"libatomic.so.1", "LIBATOMIC_1.0", "manylinux_2_24_x86_64"},
		{"libz.so.1", "ZLIB_1.2.12", "manylinux_2_37_x86_64"},
		{"libmvec.so.1", "GLIBC_2.22", "manylinux_2_24_x86_64"},
		{"libexpat.so.1", NULL, "manylinux_2_12_x86_64"},
		/* Versions of a kind that no policy counts say nothing. */
		{"libexpat.so.1", "EXPAT_99", "manylinux_2_12_x86_64"},
		{"libc.so.6", "GLIBCOTHER_99.9", "manylinux_2_5_x86_64"},
		{"libpython3.11.so.1.0", NULL, "linux_x86_64"},
		{"libavcodec.so.58", NULL, "linux_x86_64"},
		/* Exempt, whatever versions they require. */
		{"libtorch_cpu.so", NULL, "manylinux_2_5_x86_64"},
		{"libc10_cuda.so", "GLIBC_2.99", "manylinux_2_5_x86_64"},
		{"libcudart.so.12", "libcudart.so.12", "manylinux_2_5_x86_64"},
		{"libcuda.so.1", NULL, "manylinux_2_5_x86_64"},
		{"libcublasLt.so.13", NULL, "manylinux_2_5_x86_64"},
		{"libnccl.so.2", NULL, "manylinux_2_5_x86_64"},
	};
	for (size_t i = 0; i < WS_LEN(asks); i++) {
		assert_string_equal(tag_of(asks[i].library, asks[i].version, a), asks[i].tag);
	}
}

WS_TEST(several_libraries_add_up_and_say_what_decided)
{
	struct ws_floor floor = {0};
	ask(&floor, "libc.so.6", "GLIBC_2.9", NULL, a);
	ask(&floor, "libc.so.6", "GLIBC_2.32", NULL, a);
	ask(&floor, "libc.so.6", "GLIBC_2.10", NULL, a);
	ask(&floor, "libstdc++.so.6", "GLIBCXX_3.4.21", NULL, a);
	struct ws_finding finding = ws_floor_finding(&floor, a);
	assert_string_equal(finding.text, "glibc 2.32 or newer: manylinux_2_34_x86_64");
	assert_int_equal(finding.evidence_count, 2);
	assert_string_equal(finding.evidence[0], "GLIBC_2.32: wanted");
	assert_string_equal(finding.evidence[1], "GLIBCXX_3.4.21: wanted");
	assert_true(ws_floor_fits_glibc(&floor, 2, 36));
	assert_true(ws_floor_fits_glibc(&floor, 2, 32));
	assert_false(ws_floor_fits_glibc(&floor, 2, 31));
}

WS_TEST(a_version_may_have_fewer_numbers)
{
	static const char *const orders[][2] = {
		{"GLIBC_2.3", "GLIBC_2.3.4"}, {"GLIBC_2.3.4", "GLIBC_2.3"}};
	for (size_t i = 0; i < WS_LEN(orders); i++) {
		struct ws_floor floor = {0};
		ask(&floor, "libc.so.6", orders[i][0], NULL, a);
		ask(&floor, "libc.so.6", orders[i][1], NULL, a);
		assert_string_equal(floor.asked[WS_FLOOR_GLIBC].text, "2.3.4");
	}
	struct ws_floor floor = {0};
	ask(&floor, "libc.so.6", "GLIBC_2.12.1", NULL, a);
	assert_string_equal(ws_floor_tag(&floor), "manylinux_2_17_x86_64");
	assert_false(ws_floor_fits_glibc(&floor, 2, 12));
	assert_true(ws_floor_fits_glibc(&floor, 2, 13));
}

WS_TEST(packed_relocations_need_glibc_2_36)
{
	struct ws_floor floor = {0};
	ask(&floor, "libc.so.6", "GLIBC_ABI_DT_RELR", NULL, a);
	assert_true(floor.dt_relr);
	assert_false(ws_floor_fits_glibc(&floor, 2, 35));
	assert_true(ws_floor_fits_glibc(&floor, 2, 36));
	assert_string_equal(
		ws_floor_finding(&floor, a).text, "glibc 2.36 or newer: manylinux_2_36_x86_64");
}

WS_TEST(the_reason_for_no_policy_is_named)
{
	struct ws_floor floor = {0};
	ask(&floor, "libavcodec.so.58", NULL, NULL, a);
	struct ws_finding finding = ws_floor_finding(&floor, a);
	assert_string_equal(finding.text, "any glibc: linux_x86_64");
	assert_string_equal(finding.evidence[0], "'libavcodec.so.58' is in no manylinux policy");
	static const char *const own[] = {"libavcodec.so.58"};
	floor = (struct ws_floor){0};
	ask(&floor, "libavcodec.so.58", NULL, own, a);
	assert_string_equal(ws_floor_tag(&floor), "manylinux_2_5_x86_64");
	assert_true(ws_floor_is_system_library("libm.so.6"));
	assert_true(ws_floor_is_system_library("ld-linux-x86-64.so.2"));
	assert_false(ws_floor_is_system_library("libcudart.so.12"));
}
