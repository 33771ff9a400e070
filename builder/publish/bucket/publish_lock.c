#include "publish/bucket/publish_lock.h"

#include "sys/clock.h"

#define DEAD_AFTER_S 10
#define SLOWEST_BYTES_PER_S (64 << 10)
#define LONGEST_ALLOWANCE_S 3600
#define RENEW_MS 3000
#define INTERRUPTED "interrupted" /* text of a lock whose holder gave up */
#define LARGEST ((size_t)1000)

/* ---- what the store can ---- */

static enum ws_put
put_text(struct ws_publish_lock *lock, const char *key, const char *text, bool is_new,
	struct ws_err *err)
{
	const struct ws_object object = {key, NULL, "application/octet-stream", "no-store", text};
	return (is_new ? ws_bucket_create : ws_bucket_replace)(lock->b, &object, lock->etag, err);
}

static bool
refuse_store(const struct ws_publish_lock *lock, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_PUBLISH,
		"the store of '%s' has no conditional requests (If-None-Match, If-Match), without which "
		"two "
		"publishers undo each other's work",
		lock->order->target);
	return ws_err_cure_code(err, WS_CURE_SYNC, lock->order->target);
}

bool
ws_publish_lock_try_store(struct ws_publish_lock *lock, struct ws_err *err)
{
	struct ws_err ignored = {0};
	unsigned char random[32];
	if (getentropy(random, sizeof(random)) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make a name for this publisher");
	}
	lock->name = ws_arena_strdup(lock->a, ws_digest_bytes(random, sizeof(random)).hex);
	const char *key = ws_arena_printf(lock->a, "%s-%.16s", WS_INDEX_LOCK, lock->name);
	char stale[WS_ETAG_BYTES];
	enum ws_put put = put_text(lock, key, "1", true, err);
	memcpy(stale, lock->etag, sizeof(stale));
	/* The first two puts create, the last two replace. The second and the fourth must be
	 * refused. */
	for (int step = 2; step <= 4 && put == WS_PUT_DONE; step++) {
		if (step == 4) {
			memcpy(lock->etag, stale, sizeof(stale));
		}
		put = put_text(lock, key, ws_arena_printf(lock->a, "%d", step), step == 2, err);
		if (step != 3 && put != WS_PUT_FAILED) { /* done, it was not heeded */
			put = put == WS_PUT_REFUSED ? WS_PUT_DONE : WS_PUT_UNSUPPORTED;
		}
	}
	if (put != WS_PUT_FAILED) {
		ws_bucket_remove(lock->b, key, &ignored);
	}
	return put == WS_PUT_DONE || (put != WS_PUT_FAILED && refuse_store(lock, err));
}

/* ---- having it ---- */

/* Puts the next text of the lock, which allows for an object of @a bytes. */
static enum ws_put
hold(struct ws_publish_lock *lock, bool is_new, uint64_t bytes, struct ws_err *err)
{
	uint64_t allowance_s = DEAD_AFTER_S + bytes / SLOWEST_BYTES_PER_S;
	lock->allowance_s =
		allowance_s < LONGEST_ALLOWANCE_S ? (unsigned)allowance_s : LONGEST_ALLOWANCE_S;
	lock->renewed_ms = ws_clock_ms();
	const char *text =
		ws_arena_printf(lock->a, "%s %u %u\n", lock->name, ++lock->renewals, lock->allowance_s);
	return put_text(lock, WS_INDEX_LOCK, text, is_new, err);
}

bool
ws_publish_lock_lose(struct ws_publish_lock *lock, struct ws_err *err)
{
	lock->lost = true;
	ws_err_set(
		err, WS_ERR_PUBLISH, "another publisher changed '%s' meanwhile", lock->order->target);
	return ws_err_cure(err, "publish again, and let the other publisher do so too");
}

/* Returns when the lock is gone, or when it was not renewed in time; then lock->etag is that of the
 * abandoned lock. */
static bool
await_end(struct ws_publish_lock *lock, bool *dead, struct ws_err *err)
{
	struct ws_stored now = {.there = false};
	bool done = true;
	char seen[WS_ETAG_BYTES] = "";
	*dead = false;
	for (unsigned still = 0; done && !*dead; still++) {
		done = ws_bucket_get(lock->b, WS_INDEX_LOCK, LARGEST, &now, err);
		if (!done || !now.there) {
			break;
		}
		still = strcmp(seen, now.etag) == 0 ? still : 0;
		memcpy(seen, now.etag, sizeof(seen));
		const char *word = strrchr(ws_buf_text(&now.text), ' ');
		unsigned long allowance_s = word ? strtoul(word, NULL, 10) : 0;
		allowance_s = allowance_s < LONGEST_ALLOWANCE_S ? allowance_s : LONGEST_ALLOWANCE_S;
		*dead = still >= (allowance_s > DEAD_AFTER_S ? allowance_s : DEAD_AFTER_S)
			|| ws_starts_with(ws_buf_text(&now.text), INTERRUPTED);
		if (!*dead) {
			nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
			done = !ws_stop_asked(lock->order->stop) || ws_stop_err(lock->order->stop, err);
		}
	}
	memcpy(lock->etag, seen, sizeof(seen));
	ws_buf_release(&now.text);
	return done;
}

bool
ws_publish_lock_acquire(struct ws_publish_lock *lock, struct ws_err *err)
{
	bool told = false, dead;
	enum ws_put put;
	while ((put = hold(lock, true, 0, err)) == WS_PUT_REFUSED) {
		if (!told && lock->order->wait) {
			lock->order->wait(lock->order->self, lock->order->target);
		}
		told = true;
		if (!await_end(lock, &dead, err)) {
			return false;
		}
		put = dead ? hold(lock, false, 0, err) : WS_PUT_REFUSED;
		if (put == WS_PUT_DONE) {
			lock->interrupted = true;
			break;
		}
	}
	return put == WS_PUT_DONE || (put == WS_PUT_UNSUPPORTED && refuse_store(lock, err));
}

bool
ws_publish_lock_renew(struct ws_publish_lock *lock, uint64_t bytes, struct ws_err *err)
{
	/* A small object needs no more than the time that is left until the lock is due. */
	bool is_large = bytes > (uint64_t)SLOWEST_BYTES_PER_S * (DEAD_AFTER_S / 2);
	if (ws_clock_ms() < lock->renewed_ms + RENEW_MS && !is_large
		&& lock->allowance_s == DEAD_AFTER_S) {
		return true;
	}
	enum ws_put put = hold(lock, false, is_large ? bytes : 0, err);
	return put == WS_PUT_DONE || (put != WS_PUT_FAILED && ws_publish_lock_lose(lock, err));
}

void
ws_publish_lock_release(struct ws_publish_lock *lock, bool whole)
{
	struct ws_stored now = {.there = false};
	struct ws_err ignored = {0};
	const char *text = ws_arena_printf(lock->a, INTERRUPTED " %s\n", lock->name);
	const struct ws_object mark = {
		WS_INDEX_LOCK, NULL, "application/octet-stream", "no-store", text};
	if (!whole && lock->lost) { /* also in the lock of a successor: its pages may mix with ours */
		ws_bucket_put(lock->b, &mark, &ignored);
	} else if (!whole) {
		ws_bucket_replace(lock->b, &mark, lock->etag, &ignored);
	} else if (ws_bucket_get(lock->b, WS_INDEX_LOCK, LARGEST, &now, &ignored) && now.there
		&& ws_starts_with(ws_buf_text(&now.text), lock->name)) {
		ws_bucket_remove(lock->b, WS_INDEX_LOCK, &ignored);
	}
	ws_buf_release(&now.text);
}
