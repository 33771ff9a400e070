/* gpu.c - two questions to nvidia-smi, and its lines taken apart. The form of the answers was seen
 * with driver 580.159: "0, NVIDIA H200, 9.0, 143771 MiB, 580.159.04" and "435, /tmp/x, 518 MiB";
 * what it does not know it writes in brackets, "[N/A]", and failures go to stdout as well. */
#include "kit/cuda/gpu.h"

#include "base/fs.h"
#include "sys/child.h"

#define TIMEOUT_MS 15000 /* the first question after boot loads the driver: seconds */
#define MOST 4096        /* lines that are read; no host has so many devices or processes */
#define SHOWN 120        /* bytes of a message of nvidia-smi that are repeated */

/* Images for clusters keep the driver's libraries where only LD_LIBRARY_PATH finds them. */
static bool
ask(const struct ws_user_env *env, const char *program, const char *question, struct ws_arena *a,
	struct ws_buf *answer, struct ws_err *err)
{
	const char *libraries = ws_user_env_get(env, "LD_LIBRARY_PATH");
	const char *const vars[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C",
		libraries ? ws_arena_printf(a, "LD_LIBRARY_PATH=%s", libraries) : NULL, NULL};
	const char *const argv[] = {program, question, "--format=csv,noheader", NULL};
	const struct ws_child_order command = {
		.argv = argv, .env = vars, .limits.timeout_ms = TIMEOUT_MS};
	return ws_child_ask(&command, answer, err);
}

static char *
plain_copy(struct ws_str text, struct ws_arena *a)
{
	char *copy = ws_str_copy(text, a);
	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f) {
			*c = '?';
		}
	}
	return copy;
}

/* Cuts the part behind the last comma off @a rest. */
static struct ws_str
cut_last(struct ws_str *rest)
{
	const char *comma = rest->n > 0 ? memrchr(rest->s, ',', rest->n) : NULL;
	if (!comma) {
		return (struct ws_str){NULL, 0};
	}
	struct ws_str last = {comma + 1, (size_t)(rest->s + rest->n - comma - 1)};
	rest->n = (size_t)(comma - rest->s);
	return ws_str_trim(last);
}

/* "143771 MiB"; 0 for "[N/A]". */
static uint64_t
read_memory(struct ws_str text)
{
	uint64_t mib;
	struct ws_str number = ws_str_cut(&text, ' ');
	bool sound = text.s && ws_str_is(text, "MiB") && ws_str_to_u64(number, &mib) && mib < 1U << 31;
	return sound ? mib << 20 : 0;
}

/* The name is what the numbers at both ends leave. */
static bool
read_gpu(struct ws_str line, struct ws_gpu *gpu, const char **driver, struct ws_arena *a)
{
	uint64_t index, major, minor;
	struct ws_str version = cut_last(&line);
	struct ws_str memory = cut_last(&line);
	struct ws_str capability = cut_last(&line);
	struct ws_str whole = ws_str_cut(&capability, '.'); /* "9.0" */
	struct ws_str first = ws_str_cut(&line, ',');
	/* A minor number of two digits would not fit the scheme of names: sm_90. */
	if (!line.s || !ws_str_to_u64(ws_str_trim(first), &index) || index > MOST || !capability.s
		|| !ws_str_to_u64(whole, &major) || !ws_str_to_u64(capability, &minor) || major < 1
		|| major > 99 || minor > 9) {
		return false;
	}
	gpu->arch.number = (unsigned)(major * 10 + minor);
	gpu->index = (unsigned)index;
	gpu->name = plain_copy(ws_str_trim(line), a);
	gpu->memory_bytes = read_memory(memory);
	*driver = plain_copy(version, a);
	return true;
}

static void
list_gpus(const struct ws_user_env *env, struct ws_gpus *gpus, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	WS_VEC(struct ws_gpu) found = {0};
	struct ws_err err = {0};
	bool asked = ask(env, gpus->program,
		"--query-gpu=index,name,compute_cap,memory.total,driver_version", a, &answer, &err);
	struct ws_str rest = ws_buf_str(&answer);
	for (size_t i = 0; asked && rest.s && i < MOST; i++) {
		struct ws_gpu gpu = {0};
		if (read_gpu(ws_str_cut(&rest, '\n'), &gpu, &gpus->driver, a)) {
			*ws_vec_push(&found, a) = gpu;
		}
	}
	gpus->at = found.at;
	gpus->count = found.len;
	if (gpus->count > 0) {
		return;
	}
	/* The first line that is not blank, for people. */
	struct ws_str line = {"", 0};
	for (rest = ws_buf_str(&answer); rest.s && line.n == 0;) {
		line = ws_str_trim(ws_str_cut(&rest, '\n'));
	}
	line.n = line.n < SHOWN ? line.n : SHOWN;
	const char *said = plain_copy(line, a);
	if (!asked) {
		gpus->why_none =
			said[0] ? ws_arena_printf(a, "%s: %s", err.text, said) : ws_arena_strdup(a, err.text);
	} else {
		gpus->why_none = said[0] ? ws_arena_printf(a, "'%s' said: %s", gpus->program, said)
								 : ws_arena_printf(a, "'%s' lists none", gpus->program);
	}
}

static void
list_users(const struct ws_user_env *env, struct ws_gpus *gpus, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	WS_VEC(struct ws_gpu_user) found = {0};
	bool asked = ask(
		env, gpus->program, "--query-compute-apps=pid,process_name,used_memory", a, &answer, NULL);
	struct ws_str rest = ws_buf_str(&answer);
	for (size_t i = 0; asked && rest.s && i < MOST; i++) {
		uint64_t pid;
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_str memory = cut_last(&line);
		struct ws_str first = ws_str_cut(&line, ',');
		if (line.s && ws_str_to_u64(ws_str_trim(first), &pid) && pid > 0 && pid <= 1U << 30) {
			*ws_vec_push(&found, a) = (struct ws_gpu_user){
				(unsigned)pid, plain_copy(ws_str_trim(line), a), read_memory(memory)};
		}
	}
	gpus->users = found.at;
	gpus->user_count = found.len;
}

/* ---- without nvidia-smi: the files of the kernel module ---- */

static void
read_driver_files(const struct ws_user_env *env, struct ws_gpus *gpus, struct ws_arena *a)
{
	static const char folder[] = "/proc/driver/nvidia/gpus";
	WS_AUTO_DIR DIR *dir = opendir(ws_arena_printf(a, "%s%s", env->root, folder));
	WS_VEC(const char *) seen = {0};
	const struct dirent *entry;
	/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..."; of an open module the
	 * words differ. The version is the first word of numbers and dots. */
	struct ws_str rest = ws_str_of(ws_user_env_read(env, "/proc/driver/nvidia/version", a));
	struct ws_str line = ws_str_cut(&rest, '\n');
	while (line.s && !gpus->driver) {
		const char *word = plain_copy(ws_str_cut(&line, ' '), a);
		bool version = strchr(word, '.') && word[strspn(word, "0123456789.")] == '\0';
		gpus->driver = version ? word : NULL;
	}
	/* "Model: \t\t NVIDIA H100 80GB HBM3" in <folder>/<device>/information. */
	while (dir && (entry = readdir(dir)) && seen.len < MOST) {
		const char *path = ws_path_join(a, folder, entry->d_name, "information", NULL);
		rest = ws_str_of(entry->d_name[0] == '.' ? NULL : ws_user_env_read(env, path, a));
		bool found = false;
		while (rest.s && !found) {
			struct ws_str value = ws_str_cut(&rest, '\n');
			found = ws_str_is(ws_str_cut(&value, ':'), "Model");
			if (found) {
				*ws_vec_push(&seen, a) = plain_copy(ws_str_trim(value), a);
			}
		}
	}
	gpus->seen = seen.at;
	gpus->seen_count = seen.len;
	gpus->why_none = !gpus->driver ? "no nvidia-smi found, so no NVIDIA driver"
								   : ws_arena_printf(a,
									   "no nvidia-smi to report architectures; driver %s "
									   "lists %zu device%s",
									   gpus->driver, seen.len, seen.len == 1 ? "" : "s");
}

void
ws_gpu_list(const struct ws_user_env *env, struct ws_arena *a, struct ws_gpus *gpus)
{
	*gpus = (struct ws_gpus){0};
	struct ws_str rest = ws_str_of(ws_user_env_get(env, "PATH"));
	while (rest.s && !gpus->program) {
		struct ws_str folder = ws_str_cut(&rest, ':');
		const char *path = ws_arena_printf(a, "%.*s/nvidia-smi", WS_STR_ARGS(folder));
		bool found = folder.n > 0 && folder.s[0] == '/' && access(path, X_OK) == 0;
		gpus->program = found ? path : NULL;
	}
	const char *installed = ws_arena_printf(a, "%s/usr/bin/nvidia-smi", env->root);
	if (!gpus->program && access(installed, X_OK) == 0) {
		gpus->program = installed;
	}
	if (!gpus->program) {
		read_driver_files(env, gpus, a);
		return;
	}
	list_gpus(env, gpus, a);
	if (gpus->count > 0) {
		list_users(env, gpus, a);
	}
}

struct ws_arch_set
ws_gpu_archs(const struct ws_gpus *gpus, struct ws_arena *a)
{
	struct ws_arch *archs = WS_NEW_N(a, struct ws_arch, gpus->count + 1);
	for (size_t i = 0; i < gpus->count; i++) {
		archs[i] = gpus->at[i].arch;
	}
	return ws_arch_set_of(archs, gpus->count);
}
