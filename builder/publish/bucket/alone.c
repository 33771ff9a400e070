/* alone.c - see alone.h. What is put, and in which order, is stored.c's. */
#include "publish/bucket/alone.h"

#include "base/fs.h"
#include "publish/manifest.h"
#include "sys/clock.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define PUBLISHER ".publisher"
#define DEAD_AFTER_S 10
#define BEAT_MS 3000
#define SETTLES_IN_S 2 /* a put that has begun ends within this time */
#define LARGEST_LIST ((size_t)64 << 20)

static bool
fail_race(struct ws_index_alone *alone, struct ws_err *err)
{
	alone->lost = true;
	ws_err_set(err, WS_ERR_PUBLISH, "another publisher changed the index meanwhile");
	return ws_err_cure(err, "run this again");
}

static bool
rest_a_second(const struct ws_index_alone *alone, struct ws_err *err)
{
	nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	return !ws_stop_asked(alone->order->stop) || ws_stop_err(alone->order->stop, err);
}

static bool
is_same(const struct ws_buf *x, const struct ws_buf *y)
{
	return x->len == y->len && memcmp(ws_buf_text(x), ws_buf_text(y), x->len) == 0;
}

bool
ws_index_alone_check(struct ws_index_alone *alone, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	bool there;
	if (!ws_bucket_get(alone->b, WS_INDEX_MANIFEST, LARGEST_LIST, &text, &there, err)) {
		return false;
	}
	return is_same(&text, alone->manifest) || fail_race(alone, err);
}

/* ---- who is among the pages ---- */

static bool
make_name(struct ws_index_alone *alone, struct ws_err *err)
{
	unsigned char random[32];
	if (alone->name) {
		return true;
	}
	if (getentropy(random, sizeof(random)) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make a name for this publisher");
	}
	alone->name = ws_arena_strdup(alone->a, ws_digest_bytes(random, sizeof(random)).hex);
	return true;
}

static bool
put_text(struct ws_index_alone *alone, const char *key, const char *text, struct ws_err *err)
{
	const char *path = ws_path_join(alone->a, alone->work, key, NULL);
	const struct ws_object object = {key, path, "application/octet-stream", "no-store"};
	return ws_fs_write(path, text, strlen(text), 0644, err)
		&& ws_bucket_put(alone->b, &object, err);
}

bool
ws_index_alone_mark(struct ws_index_alone *alone, struct ws_err *err)
{
	if (!make_name(alone, err)) {
		return false;
	}
	const char *text = ws_arena_printf(alone->a, "%s %u\n", alone->name, ++alone->beats);
	alone->beaten_ms = ws_clock_ms();
	return put_text(alone, WS_INDEX_MARK, text, err);
}

bool
ws_index_alone_beat(struct ws_index_alone *alone, struct ws_err *err)
{
	return ws_clock_ms() < alone->beaten_ms + BEAT_MS || ws_index_alone_mark(alone, err);
}

static bool
read_mark(const struct ws_index_alone *alone, struct ws_buf *text, bool *there, struct ws_err *err)
{
	return ws_bucket_get(alone->b, WS_INDEX_MARK, 1000, text, there, err);
}

void
ws_index_alone_withdraw(const struct ws_index_alone *alone)
{
	WS_AUTO_BUF struct ws_buf manifest = {0};
	WS_AUTO_BUF struct ws_buf mark = {0};
	struct ws_err ignored = {0};
	bool there;
	bool ended = alone->name
		&& ws_bucket_get(alone->b, WS_INDEX_MANIFEST, LARGEST_LIST, &manifest, &there, &ignored)
		&& !is_same(&manifest, alone->manifest);
	if (ended && read_mark(alone, &mark, &there, &ignored) && there
		&& ws_starts_with(ws_buf_text(&mark), alone->name)) {
		ws_bucket_remove(alone->b, WS_INDEX_MARK, &ignored);
	}
}

/* One that lives changes its mark, and the manifest in the end. */
static bool
await_death(struct ws_index_alone *alone, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf seen = {0};
	WS_AUTO_BUF struct ws_buf now = {0};
	bool there;
	if (alone->order->wait) {
		alone->order->wait(alone->order->self, alone->order->target);
	}
	if (!read_mark(alone, &seen, &there, err)) {
		return false;
	}
	for (unsigned still = 0; there && still < DEAD_AFTER_S; still++) {
		if (!rest_a_second(alone, err) || !ws_index_alone_check(alone, err)
			|| !read_mark(alone, &now, &there, err)) {
			return false;
		}
		if (!is_same(&seen, &now)) {
			still = 0;
			ws_buf_clear(&seen);
			ws_buf_add(&seen, ws_buf_text(&now), now.len);
		}
	}
	return ws_index_alone_check(alone, err);
}

/* ---- where no request is conditional ---- */

static bool
read_name(const struct ws_index_alone *alone, const char **name, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	bool there;
	if (!ws_bucket_get(alone->b, PUBLISHER, 1000, &text, &there, err)) {
		return false;
	}
	*name = there ? ws_buf_copy(&text, alone->a) : NULL;
	return true;
}

static bool
check_name(struct ws_index_alone *alone, struct ws_err *err)
{
	const char *now = NULL;
	if (!alone->has_turn) {
		return true;
	}
	return read_name(alone, &now, err) && (ws_same(now, alone->name) || fail_race(alone, err));
}

static bool
take_turn(struct ws_index_alone *alone, struct ws_err *err)
{
	const char *other;
	if (!read_name(alone, &other, err) || (other && !alone->was_begun && !await_death(alone, err))
		|| !put_text(alone, PUBLISHER, alone->name, err)) {
		return false;
	}
	alone->has_turn = true;
	for (unsigned second = 0; second < SETTLES_IN_S; second++) {
		if (!rest_a_second(alone, err)) {
			return false;
		}
	}
	return ws_index_alone_check_turn(alone, err);
}

bool
ws_index_alone_leave(const struct ws_index_alone *alone, struct ws_err *err)
{
	const char *now = NULL;
	if (!alone->has_turn) {
		return true;
	}
	return read_name(alone, &now, err)
		&& (!ws_same(now, alone->name) || ws_bucket_remove(alone->b, PUBLISHER, err));
}

/* ---- the order of things ---- */

bool
ws_index_alone_claim(
	struct ws_index_alone *alone, const struct ws_object *manifest, struct ws_err *err)
{
	if ((alone->was_begun && !await_death(alone, err)) || !ws_index_alone_mark(alone, err)) {
		return false;
	}
	switch (alone->unconditional ? WS_CREATED_UNKNOWN : ws_bucket_create(alone->b, manifest, err)) {
	case WS_CREATED_BY_ANOTHER: /* of one that died: it is taken over */
		return alone->was_begun || fail_race(alone, err);
	case WS_CREATED_UNKNOWN:
		return take_turn(alone, err);
	case WS_CREATED_FAILED:
		return false;
	case WS_CREATED:
		break;
	}
	return true;
}

bool
ws_index_alone_check_turn(struct ws_index_alone *alone, struct ws_err *err)
{
	return check_name(alone, err) && ws_index_alone_check(alone, err);
}

static bool
is_written(const struct ws_index_alone *alone, const char *key, const char *path, bool *written,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf here = {0};
	WS_AUTO_BUF struct ws_buf there = {0};
	bool found;
	if (!ws_fs_read(path, &here, err)
		|| !ws_bucket_get(alone->b, key, here.len + LARGEST_LIST, &there, &found, err)) {
		return false;
	}
	*written = found && is_same(&here, &there);
	return true;
}

/* A store may give the bytes of before for a moment. */
bool
ws_index_alone_check_written(
	struct ws_index_alone *alone, const char *const (*lists)[2], size_t count, struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		bool written = false;
		for (unsigned second = 0; !written && second <= SETTLES_IN_S; second++) {
			if ((second > 0 && !rest_a_second(alone, err))
				|| !is_written(alone, lists[i][0], lists[i][1], &written, err)) {
				return false;
			}
		}
		if (!written) {
			alone->lost = true;
			ws_err_set(err, WS_ERR_PUBLISH,
				"another publisher wrote into the index at the same time: '%s' is not what was put",
				lists[i][0]);
			return ws_err_cure(err, "publish again, and let the other publisher do so too");
		}
	}
	return check_name(alone, err);
}
