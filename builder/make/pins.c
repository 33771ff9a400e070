/* pins.c - what a pin is made of is model/lock.c's, the text of the file config/lock.c's. */
#include "make/pins.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "config/lock.h"
#include "sys/flock.h"

#define LONGEST_TURN_MS 10000

static const struct ws_lock none;

/* ---- reading ---- */

static const char *
store_path(const struct ws_pins *pins)
{
	return ws_store_path(pins->store, pins->a, "locks/pins.json");
}

static void
read_of_store(struct ws_pins *pins)
{
	if (!ws_lock_read(store_path(pins), pins->a, &pins->of_store, NULL)) {
		pins->of_store = none;
	}
}

/* Where the lock of a matrix in a read-only folder is kept. */
static const char *
path_in_store(const struct ws_pins *pins)
{
	WS_AUTO_FREE char *absolute = realpath(ws_path_dir(pins->a, pins->path), NULL);
	const char *whole =
		ws_path_join(pins->a, absolute ? absolute : "/", ws_path_base(pins->path), NULL);
	struct ws_digest name = ws_digest_bytes(whole, strlen(whole));
	return ws_arena_printf(pins->a, "%s/locks/%.16s.lock.json", pins->store->path, name.hex);
}

/* The matrix's own pins, which are in version control, go before those that were kept for want of a
 * place beside them. */
bool
ws_pins_read(struct ws_pins *pins, const char *path, struct ws_err *err)
{
	struct ws_lock own;
	pins->path = path;
	pins->was = none;
	if (!ws_lock_read(path, pins->a, &own, err)
		|| !ws_lock_read(path_in_store(pins), pins->a, &pins->lock, err)) {
		return false;
	}
	ws_lock_merge(&pins->lock, &none, &own, pins->a);
	ws_lock_merge(&pins->was, &none, &own, pins->a);
	read_of_store(pins);
	return true;
}

bool
ws_pins_renew(struct ws_pins *pins, const char *const *names, size_t count, struct ws_err *err)
{
	pins->renewed = names;
	pins->renewed_count = count;
	for (size_t i = 0; i < count; i++) {
		if (ws_lock_forget(&pins->lock, names[i]) > 0) {
			pins->changed = true;
		} else if (strcmp(names[i], "all") != 0) {
			ws_err_set(err, WS_ERR_USAGE, "the lock has no pin of '%s'", names[i]);
			return ws_err_cure(err, "pins are called 'torch', 'cuda' or by a package's name");
		}
	}
	return true;
}

/* ---- holding what was found against them ---- */

static bool
refuse(const char *subject, const char *was, const char *is, const char *name, struct ws_err *err)
{
	if (was) {
		ws_err_set(err, WS_ERR_CONFIG, "%s: not what the lock pins", subject);
		ws_err_cure(err, "locked: %s", was);
		ws_err_cure(err, "found:  %s", is);
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "the lock has no pin of %s", subject);
	}
	ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, was ? name : NULL);
	return ws_err_cure_code(err, WS_CURE_UNLOCKED, NULL);
}

bool
ws_pins_put(struct ws_pins *pins, enum ws_pin_kind kind, const void *found, struct ws_err *err)
{
	struct ws_pin_change change = ws_lock_compare(&pins->lock, kind, found, pins->a);
	if (change.binds && pins->locked) {
		return refuse(change.subject, change.was, change.is, change.name, err);
	}
	if (change.binds && change.was && !ws_same(change.was, change.is)) {
		ws_events_note(pins->events, "the lock's pin of %s changes: %.12s is %.12s now",
			change.subject, change.was, change.is);
	}
	/* Where it is found again is not a pin: a lock that may not change has it for this run. */
	bool put = ws_lock_put(&pins->lock, kind, change.pin, pins->a);
	pins->changed = pins->changed || (put && !pins->locked);
	return true;
}

/* ---- writing ---- */

/* The file as it is by now, with what this process did to its own. Others write for
 * milliseconds. */
static bool
save_at(const struct ws_pins *pins, const char *path, struct ws_err *err)
{
	const char *name = ws_arena_printf(pins->a, ".%s.turn", ws_path_base(path));
	const char *turn = ws_path_join(pins->a, ws_path_dir(pins->a, path), name, NULL);
	struct ws_lock lock;
	WS_AUTO_FD int fd = -1;
	if (!ws_flock_wait(turn, pins->stop, LONGEST_TURN_MS, &fd, err)) {
		return false;
	}
	bool read = ws_lock_read(path, pins->a, &lock, err);
	if (read) {
		ws_lock_merge(&lock, &pins->was, &pins->lock, pins->a);
	}
	bool saved = read && ws_lock_save(path, &lock, err);
	if (fd >= 0) {
		unlink(turn);
	}
	return saved;
}

/* So that planning without a lock finds what was built. Other runs have saved since this one
 * started. When two processes save at once, the last one wins; the next run adds the lost pins
 * again. */
static void
save_in_store(struct ws_pins *pins)
{
	bool changed = false;
	read_of_store(pins);
	for (enum ws_pin_kind kind = WS_PIN_CUDA; kind <= WS_PIN_TORCH; kind++) {
		for (size_t i = 0; i < ws_lock_count(&pins->lock, kind); i++) {
			const void *pin = ws_lock_at(&pins->lock, kind, i);
			changed = ws_lock_put(&pins->of_store, kind, pin, pins->a) || changed;
		}
	}
	if (changed) {
		ws_lock_save(store_path(pins), &pins->of_store, NULL);
	}
}

bool
ws_pins_save(struct ws_pins *pins, struct ws_err *err)
{
	struct ws_err why = {0};
	if (!ws_fs_mkdirs(ws_store_path(pins->store, pins->a, "locks"), err)) {
		return false;
	}
	if (!pins->bundled) {
		save_in_store(pins);
	}
	if (!pins->changed) {
		return true;
	}
	pins->changed = false;
	const char *kept = path_in_store(pins);
	bool writable = access(ws_path_dir(pins->a, pins->path), W_OK) == 0;
	if (writable && save_at(pins, pins->path, &why)) {
		return ws_fs_remove(kept, err);
	}
	if (writable && why.kind != WS_ERR_IO) {
		if (err) {
			*err = why;
		}
		return false;
	}
	ws_events_warn(
		pins->events, "'%s' cannot be written; what it lacks is kept in '%s'", pins->path, kept);
	return save_at(pins, kept, err);
}
