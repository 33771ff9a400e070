/* work.c - folders and links. Runners run commands in them, runner.c takes outputs out. */
#include "engine/work.h"

#include "base/fs.h"
#include "store/cas.h"
#include "sys/clock.h"
#include "sys/flock.h"

#include <fcntl.h>

#define KEPT_S ((int64_t)7 * 24 * 3600)

/* Removes a run folder whose lock is free: its process died. False: the process lives. */
static bool
remove_dead(const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FD int fd = -1;
	if (ws_fs_is_link(path)) {
		return true;
	}
	enum ws_flock_result lock = ws_flock_try(ws_path_join(a, path, "lock", NULL), true, &fd, NULL);
	/* A folder of --keep-work has a file "kept" and stays for a week. */
	struct stat status;
	bool kept = stat(ws_path_join(a, path, "kept", NULL), &status) == 0
		&& status.st_mtime + KEPT_S > ws_clock_wall_s();
	if (lock == WS_FLOCK_HELD && !kept) {
		ws_sweep_now(path);
		ws_fs_remove(path, NULL);
	}
	return lock != WS_FLOCK_BUSY;
}

static bool
remove_dead_runs(const struct ws_store *store, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *folder = ws_store_path(store, a, "work");
	if (ws_fs_is_link(folder)) {
		return true; /* the target may be another store */
	}
	WS_AUTO_DIR DIR *dir = opendir(folder);
	if (!dir) {
		return ws_err_sys(err, WS_ERR_IO, "cannot list '%s'", folder);
	}
	const struct dirent *entry;
	bool alone = true;
	while ((entry = readdir(dir))) {
		if (ws_starts_with(entry->d_name, "run-")) {
			alone = remove_dead(ws_path_join(a, folder, entry->d_name, NULL)) && alone;
		}
	}
	/* Older versions lock files there: remove it only if no run lives. */
	if (alone) {
		ws_fs_remove(ws_path_join(a, folder, "locks", NULL), NULL);
	}
	return true;
}

bool
ws_work_open(const struct ws_store *store, const char *program, struct ws_arena *a,
	struct ws_work *work, struct ws_err *err)
{
	*work = (struct ws_work)WS_WORK_CLOSED;
	work->store = store;
	if (!remove_dead_runs(store, err)) {
		return false;
	}
	const char *keys = ws_store_path(store, a, "work/keys");
	work->keys_fd = open(keys, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (work->keys_fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot open '%s', where keys are locked", keys);
	}
	/* Created under another name and renamed once locked, so that no other process removes it. */
	char *fresh = ws_fs_temp_dir(ws_store_path(store, a, "work"), "new-", a, err);
	if (!fresh
		|| ws_flock_try(ws_path_join(a, fresh, "lock", NULL), true, &work->lock_fd, err)
			!= WS_FLOCK_HELD) {
		return false;
	}
	work->path = ws_arena_printf(a, "%s/work/run-%s", store->path, ws_path_base(fresh) + 4);
	if (rename(fresh, work->path) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot make '%s'", work->path);
	}
	if (!ws_fs_mkdirs(ws_path_join(a, work->path, "logs", NULL), err)
		|| !ws_fs_mkdirs(ws_path_join(a, work->path, "files", NULL), err)) {
		return false;
	}
	if (program) {
		work->sweep_fd = ws_sweep_start(program, work->path, err);
		return work->sweep_fd >= 0;
	}
	return true;
}

void
ws_work_close(struct ws_work *work, bool keep)
{
	if (work->sweep_fd >= 0) {
		ws_sweep_end(ws_take_fd(&work->sweep_fd), work->path);
	}
	if (work->path && keep) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		ws_fs_write(ws_path_join(a, work->path, "kept", NULL), "", 0, 0644, NULL);
	} else if (work->path) {
		ws_fs_remove(work->path, NULL);
	}
	if (work->lock_fd >= 0) {
		close(ws_take_fd(&work->lock_fd));
	}
	if (work->keys_fd >= 0) {
		close(ws_take_fd(&work->keys_fd));
	}
}

static const char *
file_path(const struct ws_work *work, const char *digest, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/files/%s", work->path, digest);
}

bool
ws_work_keep(const struct ws_work *work, const char *path, struct ws_digest *digest, uint64_t *size,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!ws_digest_file(path, digest, size, err)) {
		return false;
	}
	const char *place = file_path(work, digest->hex, a);
	return (chmod(path, 0444) == 0 && rename(path, place) == 0)
		|| ws_err_sys(err, WS_ERR_IO, "cannot move '%s' to '%s'", path, place);
}

bool
ws_work_has(const struct ws_work *work, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return work->path && ws_fs_exists(file_path(work, digest, a));
}

void
ws_work_drop(const struct ws_work *work, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	unlink(file_path(work, digest, a));
}

/* The action's own folder exists. */
static bool
make_parent(const char *name, const char *place, struct ws_arena *a, struct ws_err *err)
{
	return !strchr(name, '/') || ws_fs_mkdirs(ws_path_dir(a, place), err);
}

bool
ws_work_prepare(const struct ws_work *work, const struct ws_action *action, const char *const *made,
	const char *dir, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!ws_fs_mkdirs(ws_path_join(a, dir, "tmp", NULL), err)) {
		return false;
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		const char *place = ws_path_join(a, dir, action->mounts[i].name, NULL);
		if (symlink(action->mounts[i].path, place) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", place);
		}
	}
	for (size_t i = 0; i < action->input_count; i++) {
		const struct ws_input *input = &action->inputs[i];
		const char *digest = input->from ? made[i] : input->digest;
		const char *place = ws_path_join(a, dir, input->name, NULL);
		if (!make_parent(input->name, place, a, err)) {
			return false;
		}
		if (!(ws_work_has(work, digest)
					? ws_fs_link(file_path(work, digest, a), place, err)
					: ws_cas_link_into(work->store, digest, place, input->executable, err))) {
			return ws_err_wrap(err, "'%s' needs '%s'", action->subject, input->name);
		}
	}
	for (size_t i = 0; i < action->output_count; i++) {
		const char *place = ws_path_join(a, dir, action->outputs[i], NULL);
		if (!make_parent(action->outputs[i], place, a, err)) {
			return false;
		}
	}
	return true;
}

void
ws_work_clear(const struct ws_work *work, const struct ws_action *action, const char *const *made,
	const char *dir)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; i < action->input_count; i++) {
		const struct ws_input *input = &action->inputs[i];
		if (!input->executable) {
			const char *place = ws_path_join(a, dir, input->name, NULL);
			ws_cas_unlink(work->store, input->from ? made[i] : input->digest, place);
		}
	}
	ws_fs_remove(dir, NULL);
}
