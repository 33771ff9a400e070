/* lock_file.c - where a lock lies, reading and writing it. Its text is config/lock.c's. */
#include "make/lock_file.h"

#include "base/fs.h"
#include "config/lock.h"
#include "sys/clock.h"
#include "sys/flock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_TURN_MS 10000

/* Where the lock of a matrix in a read-only folder is kept. */
static const char *
lock_path_in_store(const struct ws_context *ctx, const char *path)
{
	char *absolute = realpath(ws_path_dir(ctx->a, path), NULL);
	const char *whole = ws_path_join(ctx->a, absolute ? absolute : "/", ws_path_base(path), NULL);
	free(absolute);
	struct ws_digest name = ws_digest_bytes(whole, strlen(whole));
	return ws_arena_printf(ctx->a, "%s/locks/%.16s.lock.json", ctx->store->path, name.hex);
}

/* The matrix's own pins, which are in version control, go before those that were kept for want of a
 * place beside them. */
bool
ws_lock_file_read(
	struct ws_context *ctx, const char *path, struct ws_lock *lock, struct ws_err *err)
{
	static const struct ws_lock none;
	struct ws_lock own;
	ctx->lock_path = path;
	ctx->lock = lock;
	ctx->lock_was = none;
	if (!ws_lock_read(path, ctx->a, &own, err)
		|| !ws_lock_read(lock_path_in_store(ctx, path), ctx->a, lock, err)) {
		return false;
	}
	ws_lock_merge(lock, &none, &own, ctx->a);
	ws_lock_merge(&ctx->lock_was, &none, &own, ctx->a);
	return true;
}

/* Until others have written; that takes milliseconds. Where nothing can be locked two at once are
 * rare, and pins that one of them loses are made again. */
static bool
wait_for_turn(const char *turn, int *fd, struct ws_err *err)
{
	for (int64_t begun_ms = ws_clock_ms(); ws_clock_ms() < begun_ms + LONGEST_TURN_MS;) {
		if (ws_flock_try(turn, true, fd, NULL) != WS_FLOCK_BUSY) {
			return true;
		}
		nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
	}
	ws_err_set(err, WS_ERR_IO, "another process keeps '%s' and does not let go", turn);
	return ws_err_cure(err, "is one stopped? `fuser %s` names it", turn);
}

/* The file as it is by now, with what this process did to its own. */
static bool
save_at(const struct ws_context *ctx, const char *path, struct ws_err *err)
{
	const char *folder = ws_path_dir(ctx->a, path);
	const char *name = ws_arena_printf(ctx->a, ".%s.turn", ws_path_base(path));
	const char *turn = ws_path_join(ctx->a, folder, name, NULL);
	struct ws_lock lock;
	WS_AUTO_FD int fd = -1;
	if (!wait_for_turn(turn, &fd, err)) {
		return false;
	}
	bool read = ws_lock_read(path, ctx->a, &lock, err);
	if (read) {
		ws_lock_merge(&lock, &ctx->lock_was, ctx->lock, ctx->a);
	}
	bool saved = read && ws_lock_save(path, &lock, err);
	if (fd >= 0) {
		unlink(turn);
	}
	return saved;
}

static const char *
known_path(const struct ws_context *ctx)
{
	return ws_store_path(ctx->store, ctx->a, "locks/pins.json");
}

const struct ws_lock *
ws_lock_file_known(const struct ws_context *ctx)
{
	struct ws_lock *known = WS_NEW(ctx->a, struct ws_lock);
	if (!ws_lock_read(known_path(ctx), ctx->a, known, NULL)) {
		*known = (struct ws_lock){0};
	}
	return known;
}

/* So that planning without a lock finds what was built. What two processes do at once to the file may
 * be lost, until the next run. */
static void
remember(const struct ws_context *ctx)
{
	struct ws_lock known = *ws_lock_file_known(ctx);
	bool changed = false;
	for (size_t i = 0; i < ctx->lock->cuda.len; i++) {
		changed = ws_lock_put(&known, WS_PIN_CUDA, &ctx->lock->cuda.at[i], ctx->a) || changed;
	}
	for (size_t i = 0; i < ctx->lock->torch.len; i++) {
		changed = ws_lock_put(&known, WS_PIN_TORCH, &ctx->lock->torch.at[i], ctx->a) || changed;
	}
	if (changed) {
		ws_lock_save(known_path(ctx), &known, NULL);
	}
}

bool
ws_lock_file_save(struct ws_context *ctx, struct ws_err *err)
{
	struct ws_err why = {0};
	if (!ws_fs_mkdirs(ws_store_path(ctx->store, ctx->a, "locks"), err)) {
		return false;
	}
	if (!ctx->is_bundled) {
		remember(ctx);
	}
	if (!ctx->lock_changed) {
		return true;
	}
	ctx->lock_changed = false;
	const char *kept = lock_path_in_store(ctx, ctx->lock_path);
	bool writable = access(ws_path_dir(ctx->a, ctx->lock_path), W_OK) == 0;
	if (writable && save_at(ctx, ctx->lock_path, &why)) {
		return ws_fs_remove(kept, err);
	}
	if (writable && why.kind != WS_ERR_IO) {
		if (err) {
			*err = why;
		}
		return false;
	}
	ws_events_warn(
		ctx->events, "'%s' cannot be written; what it lacks is kept in '%s'", ctx->lock_path, kept);
	return save_at(ctx, kept, err);
}
