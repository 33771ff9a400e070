/* test_cli_ignored_env.c - which variables are warned about, and how. */
#include "test.h"

#include "doctor/doctor.h"

WS_TEST(a_plain_environment_gives_no_finding)
{
	const char *const vars[] = {
		"PATH=/bin", "CC=", "CCACHE_DIR=/x", "XCFLAGS=-O3", "CFLAGS", "MAX_JOBS_X=3", NULL};
	ws_ignored_list list = {0};
	ws_ignored_env_list(vars, a, &list);
	assert_int_equal(list.len, 0);
	assert_null(ws_ignored_env_warning(vars, a));
}

WS_TEST(each_has_its_place)
{
	const char *const vars[] = {"MAX_JOBS=4", "TORCH_CUDA_ARCH_LIST=8.0", "CC=gcc-11", NULL};
	ws_ignored_list list = {0};
	ws_ignored_env_list(vars, a, &list);
	assert_int_equal(list.len, 3);
	assert_string_equal(list.at[0].name, "CC");
	assert_string_equal(list.at[1].name, "TORCH_CUDA_ARCH_LIST");
	assert_contains(list.at[1].instead, "--arch");
	assert_string_equal(list.at[2].name, "MAX_JOBS");
	assert_contains(list.at[2].instead, "-j N");
}

WS_TEST(one_warning_names_all)
{
	const char *const all[] = {"CC=a", "CXX=a", "CUDAHOSTCXX=a", "CFLAGS=a", "NVCC_PREPEND_FLAGS=a",
		"NVCC_APPEND_FLAGS=a", "NVCC_CCBIN=a", "TORCH_CUDA_ARCH_LIST=a", "MAX_JOBS=a",
		"LIBRARY_PATH=a", "CPATH=a", NULL};
	const char *text = ws_ignored_env_warning(all, a);
	for (size_t i = 0; all[i]; i++) {
		assert_contains(text, ws_arena_copy(a, all[i], strlen(all[i]) - 2));
	}
	assert_null(strchr(text, '\n'));
	const char *const two[] = {"CXX=a", "CC=b", NULL};
	assert_string_equal(ws_ignored_env_warning(two, a),
		"set in the environment and ignored: CC, CXX (instead: the newest compiler that the CUDA "
		"toolkit takes is chosen)");
}
