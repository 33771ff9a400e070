/* hardware.c - the machine: memory and who holds it, the store from outside, GPUs, their users. */
#include "base/fs.h"
#include "doctor/doctor.h"
#include "report/format.h"
#include "sys/process.h"

#include <gnu/libc-version.h>
#include <sys/statvfs.h>

#define LITTLE_MEMORY ((uint64_t)4 << 30)
/* One CUDA 12.4 kit, torch 2.5.1's headers and three packages' sources took 0.57 GB. */
#define LITTLE_SPACE ((uint64_t)2000000000)
#define MOST_COUNTED 200000 /* files of the store that are looked at */
#define HOLDERS 3

void
ws_doctor_host(struct ws_doctor *d)
{
	const struct ws_host *host = d->host;
	uint64_t available = ws_host_available_bytes(host);
	ws_rows_add(&d->rows, "host",
		"{distribution|an unknown distribution}, glibc {glibc}\n"
		"{cores} core{s}, {memory_bytes:memory} of memory, {available_bytes:memory} of it free"
		"[\n limited by the control group {memory_group}]",
		"distribution %s glibc %s cores %ju memory_bytes %ju available_bytes %ju memory_group %s",
		host->pretty_name, gnu_get_libc_version(), (uintmax_t)host->cores, host->memory_bytes,
		available, host->memory_group);
	struct ws_holder holders[HOLDERS];
	size_t count = ws_holders_find("", d->a, holders, HOLDERS);
	WS_AUTO_BUF struct ws_buf all = {0};
	char held[WS_FORMAT_BYTES];
	ws_rows_list(&d->rows, "host.holders[]");
	for (size_t i = 0; i < count; i++) {
		const struct ws_holder *holder = &holders[i];
		ws_buf_printf(&all, "%s%s (%d) %s", i > 0 ? ", " : "", holder->name, (int)holder->pid,
			ws_format_memory(holder->rss_bytes, held));
		ws_rows_add(&d->rows, "host.holders[]", NULL, "pid %ju name %s rss_bytes %ju",
			(uintmax_t)holder->pid, holder->name, holder->rss_bytes);
	}
	if (count > 0) {
		ws_rows_note(&d->rows, " most is held by %s", ws_buf_text(&all));
	}
	if (available < LITTLE_MEMORY) {
		char left[WS_FORMAT_BYTES];
		ws_rows_problem(&d->rows, WS_PROBLEM_NOTE,
			"close what holds it, or build with --memory SIZE or -j 1",
			"only %s of memory is free; one kernel may take several GiB to compile",
			ws_format_memory(available, left));
	}
}

/* ---- store ---- */

struct contents {
	uint64_t files, bytes, trees;
};

static bool
count_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct contents *contents = self;
	if (S_ISREG(entry->status.st_mode)) {
		contents->files++;
		contents->bytes += (uint64_t)entry->status.st_size;
	}
	/* trees/NAME-DIGEST is one tree. */
	contents->trees += S_ISDIR(entry->status.st_mode) && ws_starts_with(entry->name, "trees/")
		&& !strchr(entry->name + strlen("trees/"), '/');
	return contents->files < MOST_COUNTED;
}

/* Whether builds can keep a store there; @free_bytes of its file system. */
static bool
check_store(const struct ws_doctor *d, bool is_there, uint64_t *free_bytes, struct ws_err *err)
{
	struct statvfs space;
	const char *folder = d->store;
	if (!folder) {
		return ws_store_check(NULL, err);
	}
	/* The folder itself, or the nearest one above it that is there. */
	while (!ws_fs_exists(folder) && strchr(folder, '/') && strcmp(folder, "/") != 0) {
		folder = ws_path_dir(d->a, folder);
	}
	folder = ws_fs_exists(folder) ? folder : ".";
	if (!ws_fs_is_dir(folder)) {
		ws_err_set(err, WS_ERR_IO, "'%s' is not a folder", folder);
		return ws_err_cure_code(err, WS_CURE_STORE, NULL);
	}
	*free_bytes = statvfs(folder, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize : 0;
	if (access(folder, W_OK | X_OK) != 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot write to '%s'", folder);
		return ws_err_cure_code(err, WS_CURE_STORE, NULL);
	}
	return !is_there || ws_store_check(d->store, err);
}

void
ws_doctor_store(struct ws_doctor *d)
{
	bool is_there = d->store && ws_fs_is_dir(d->store);
	struct contents contents = {0};
	uint64_t free_bytes = 0;
	struct ws_err err;
	bool good = check_store(d, is_there, &free_bytes, &err);
	bool all = !is_there || ws_fs_walk(d->store, count_file, &contents, NULL);
	ws_rows_add(&d->rows, "store",
		is_there ? "{path}\n{.more}{bytes:size} in {files} file{s}, {trees} tree{s}"
				   "[\n{free_bytes:size} free there]"
				 : "[{path}\n]not there yet[\n{free_bytes:size} free there]",
		"path %s is_there %d free_bytes %ju files %ju bytes %ju trees %ju counted_all %d .more %s",
		d->store, is_there, free_bytes, contents.files, contents.bytes, contents.trees, all,
		all ? "" : "more than ");
	if (!good) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_BLOCKS, &err);
	} else if (free_bytes < LITTLE_SPACE) {
		char size[WS_FORMAT_BYTES];
		ws_err_set(&err, WS_ERR_IO, "only %s are free there; kits and sources may not fit",
			ws_format_size(free_bytes, size));
		ws_err_cure_code(&err, WS_CURE_FREE_SPACE, NULL);
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
	}
}

/* ---- GPUs ---- */

static void
add_gpu_user(struct ws_doctor *d, const struct ws_gpu_user *user)
{
	struct ws_process process = {0};
	bool ours = ws_process_look(d->env->root, user->pid, d->a, &process);
	if (ours) {
		/* The process here that has the driver's number, if it is the same one: inside a container
		 * the driver counts the host's processes. */
		const char *first = ws_arena_copy(d->a, process.command, strcspn(process.command, " "));
		const char *base = ws_path_base(user->name);
		ours = (process.program && strcmp(ws_path_base(process.program), base) == 0)
			|| strcmp(ws_path_base(first), base) == 0;
	}
	bool stale = ours && process.is_left_behind;
	char age[WS_FORMAT_BYTES];
	const char *cure = ws_arena_printf(d->a, "if it is not needed:  kill %u\n", user->pid);
	ws_format_duration(process.age_s * 1000, age);
	struct ws_row *row = ws_rows_add(&d->rows, "gpu_users[]",
		" used by {name} ({pid}), {memory_bytes:memory|its memory is not known}"
		"[: {user}, for {.age}: {command}]",
		"pid %ju name %s memory_bytes %ju user %s command %s stale %d .age %s",
		(uintmax_t)user->pid, user->name, user->memory_bytes, ours ? process.user : NULL,
		ours ? process.command : NULL, stale, ws_arena_strdup(d->a, age));
	*ws_vec_push(&row->values, d->a) =
		(struct ws_row_value){.name = "age_s", .type = ours ? 'u' : 's', .number = process.age_s};
	if (stale) {
		row->text = ws_arena_printf(
			d->a, "%s; stale: the process that started it has ended", row->text + 1);
		row->problem = WS_PROBLEM_NOTE;
		row->cure = cure;
	}
}

void
ws_doctor_gpus(struct ws_doctor *d)
{
	struct ws_gpus *gpus = &d->gpus;
	ws_gpu_list(d->env, d->a, gpus);
	ws_rows_list(&d->rows, "gpus[]");
	for (size_t i = 0; i < gpus->count; i++) {
		const struct ws_gpu *gpu = &gpus->at[i];
		ws_rows_add(&d->rows, "gpus[]", "{index}  {name}, arch {arch}, {memory_bytes:memory}",
			"index %ju name %s arch %s memory_bytes %ju", (uintmax_t)gpu->index, gpu->name,
			ws_arch_text(&gpu->arch, d->a), gpu->memory_bytes);
	}
	ws_rows_list(&d->rows, "gpu_users[]");
	for (size_t i = 0; i < gpus->user_count; i++) {
		add_gpu_user(d, &gpus->users[i]);
	}
	ws_rows_add(&d->rows, "",
		gpus->count > 0 ? "driver {driver}{.idle}" : "not found: {why_no_gpu}",
		"driver %s why_no_gpu %s gpus_seen %p %zu .idle %s", gpus->driver, gpus->why_none,
		(const void *)gpus->seen, gpus->seen_count, gpus->user_count == 0 ? ", idle" : "");
	for (size_t i = 0; i < gpus->seen_count; i++) {
		ws_rows_note(&d->rows, " %s", gpus->seen[i]);
	}
	if (gpus->count == 0) {
		ws_rows_note(&d->rows, "building does not need one");
	}
}
