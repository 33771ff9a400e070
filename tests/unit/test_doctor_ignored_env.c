/* test_cli_ignored_env.c - which variables are warned about, and how. */
#include "test.h"

#include "doctor/doctor.h"

WS_TEST(a_plain_environment_gives_no_finding)
{
	const char *const vars[] = {
		"PATH=/bin", "CC=", "CCACHE_DIR=/x", "XCFLAGS=-O3", "CFLAGS", "MAX_JOBS_X=3", NULL};
	assert_null(ws_ignored_env_warning(vars, a));
}

WS_TEST(each_has_its_place)
{
	const char *const vars[] = {"MAX_JOBS=4", "TORCH_CUDA_ARCH_LIST=8.0", "CC=gcc-11", NULL};
	assert_string_equal(ws_ignored_env_warning(vars, a),
		"set in the environment and ignored: CC (instead: the newest compiler that the CUDA "
		"toolkit "
		"takes is chosen), TORCH_CUDA_ARCH_LIST (instead: the matrix's 'arch', or --arch), "
		"MAX_JOBS "
		"(instead: -j N, or --memory SIZE)");
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
