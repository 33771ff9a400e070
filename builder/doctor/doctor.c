/* doctor.c - the parts in the order of the page, and those that are a few lines. */
#include "doctor/doctor.h"

#include "fetch/git.h"

#define COMPILER "the newest compiler that the CUDA toolkit takes is chosen"

struct ignored_variable {
	const char *name;    /* "MAX_JOBS" */
	const char *instead; /* "-j N, or --memory SIZE" */
};

typedef WS_VEC(struct ignored_variable) ignored_list;

static const struct ignored_variable variables[] = {
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

/* Lists the ignored variables that have a value. */
static void
list_ignored(const char *const *vars, struct ws_arena *a, ignored_list *list)
{
	const struct ws_user_env env = {.vars = vars};
	for (size_t i = 0; i < WS_LEN(variables); i++) {
		const char *value = ws_user_env_get(&env, variables[i].name);
		if (value && value[0]) {
			*ws_vec_push(list, a) = variables[i];
		}
	}
}

const char *
ws_ignored_env_warning(const char *const *vars, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ignored_list list = {0};
	list_ignored(vars, a, &list);
	for (size_t i = 0; i < list.len; i++) {
		ws_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", list.at[i].name);
		/* Neighbours with the same answer are answered once. */
		if (i + 1 == list.len || strcmp(list.at[i + 1].instead, list.at[i].instead) != 0) {
			ws_buf_printf(&text, " (instead: %s)", list.at[i].instead);
		}
	}
	return list.len == 0
		? NULL
		: ws_arena_printf(a, "set in the environment and ignored: %s", ws_buf_text(&text));
}

/* ---- the parts ---- */

static void
libraries(struct ws_doctor *d)
{
	bool is_old;
	const char *version = ws_git_version(d->a, &is_old);
	ws_rows_add(&d->rows, "", is_old ? NULL : "libgit2 {libgit2}", "libgit2 %s libgit2_is_old %d",
		version, is_old);
	if (is_old) {
		ws_rows_problem(&d->rows, WS_PROBLEM_NOTE,
			"keep it up to date: distributions correct faults in older ones too",
			"libgit2 %s is older than 1.9.7, in which the known faults are corrected", version);
	}
}

static void
ignored(struct ws_doctor *d)
{
	ignored_list list = {0};
	list_ignored(d->env->vars, d->a, &list);
	ws_rows_list(&d->rows, "ignored_variables[]");
	for (size_t i = 0; i < list.len; i++) {
		ws_rows_add(&d->rows, "ignored_variables[]", "{name}; instead: {instead}",
			"name %s instead %s", list.at[i].name, list.at[i].instead)
			->problem = WS_PROBLEM_NOTE;
	}
	if (list.len == 0) {
		ws_rows_note(&d->rows, "no variable that is ignored is set");
	}
}

void
ws_doctor_look(struct ws_doctor *d)
{
	static const struct {
		const char *part;
		void (*look)(struct ws_doctor *d);
	} parts[] = {
		{"host", ws_doctor_host},
		{"store", ws_doctor_store},
		{"compilers", ws_doctor_compilers},
		{"CUDA", ws_doctor_cuda},
		{"Pythons", ws_doctor_pythons},
		{"torch", ws_doctor_torch},
		{"GPUs", ws_doctor_gpus},
		{"model", ws_doctor_model_read},
		{"extensions", ws_doctor_extensions},
		{"functions", ws_doctor_functions},
		{"model", ws_doctor_model},
		{"indexes", ws_doctor_indexes},
		{"remote", ws_doctor_remote},
		{"libraries", libraries},
		{"ignored", ignored},
	};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		d->rows.part = parts[i].part;
		parts[i].look(d);
	}
}
