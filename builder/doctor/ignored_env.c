/* ignored_env.c - the table. Who reads them elsewhere: torch/utils/cpp_extension.py (CC, CXX,
 * MAX_JOBS, TORCH_CUDA_ARCH_LIST), setuptools (CC, CFLAGS), nvcc (NVCC_*), CMake (CUDAHOSTCXX), gcc
 * (CPATH, LIBRARY_PATH). */
#include "doctor/ignored_env.h"

#include "base/text.h"

#define COMPILER "the newest compiler that the CUDA toolkit takes is chosen"

static const struct ws_ignored_variable variables[] = {
	{"CC", COMPILER},
	{"CXX", COMPILER},
	{"CUDAHOSTCXX", COMPILER},
	{"NVCC_CCBIN", COMPILER},
	{"CFLAGS", "the recipe's 'cxx_flags'"},
	{"NVCC_PREPEND_FLAGS", "the recipe's 'nvcc_flags'"},
	{"NVCC_APPEND_FLAGS", "the recipe's 'nvcc_flags'"},
	{"TORCH_CUDA_ARCH_LIST", "the matrix's 'arch', or --arch"},
	{"MAX_JOBS", "-j N, or --memory SIZE"},
	{"CPATH", "the recipe's 'include'"},
	{"LIBRARY_PATH", "the recipe's 'link_flags'"},
};

static bool
is_set(const char *const *vars, const char *name)
{
	size_t len = strlen(name);
	for (; *vars; vars++) {
		if (strncmp(*vars, name, len) == 0 && (*vars)[len] == '=') {
			return (*vars)[len + 1] != '\0';
		}
	}
	return false;
}

void
ws_ignored_env_list(const char *const *vars, struct ws_arena *a, ws_ignored_list *list)
{
	for (size_t i = 0; i < WS_LEN(variables); i++) {
		if (is_set(vars, variables[i].name)) {
			*ws_vec_push(list, a) = variables[i];
		}
	}
}

const char *
ws_ignored_env_warning(const char *const *vars, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_ignored_list list = {0};
	ws_ignored_env_list(vars, a, &list);
	for (size_t i = 0; i < list.len; i++) {
		ws_buf_puts(&text, i == 0 ? "" : ", ");
		ws_buf_puts(&text, list.at[i].name);
		/* Neighbours with the same answer are answered once. */
		if (i + 1 == list.len || strcmp(list.at[i + 1].instead, list.at[i].instead) != 0) {
			ws_buf_printf(&text, " (instead: %s)", list.at[i].instead);
		}
	}
	if (list.len == 0) {
		return NULL;
	}
	return ws_arena_printf(a, "set in the environment and ignored: %s", ws_buf_text(&text));
}
