/* test_publish_publish_lock.c - who is among the pages of an index in an object store. */
#include "test.h"

#include "base/fs.h"
#include "publish/bucket/publish_lock.h"
#include "publish/bucket/stored.h"
#include "publish_world.h"
#include "sys/clock.h"

#include <curl/curl.h>

#include <dlfcn.h>

/* Something that happens in the store just before this many puts from now. */
static struct {
	unsigned puts; /* 0: nothing */
	const char *dir, *lock;
	struct ws_arena *a;
} before;

/* How many puts began one after the other with the same text of the lock in the store. */
static struct {
	const char *dir; /* NULL: not counted */
	const char *text;
	unsigned run, longest, puts;
	long shift_s; /* of the clock: after each put it is time to renew the lock */
	struct ws_arena *a;
} watch;

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int (*real)(clockid_t, struct timespec *);
	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(clock, now);
	now->tv_sec += watch.shift_s;
	return result;
}

static void
note_put(void)
{
	const char *text = ws_world_object(watch.dir, WS_INDEX_LOCK, watch.a);
	watch.run = text && ws_same(text, watch.text) ? watch.run + 1 : 1;
	watch.longest = watch.run > watch.longest ? watch.run : watch.longest;
	watch.text = text;
	watch.puts++;
	watch.shift_s += 4;
}

/* Stands before libcurl's own: what another does at one moment. */
CURLMcode
curl_multi_add_handle(CURLM *multi, CURL *easy)
{
	CURLMcode (*real)(CURLM *, CURL *);
	const char *method = NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "curl_multi_add_handle");
	curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_METHOD, &method);
	if (before.puts > 0 && method && strcmp(method, "PUT") == 0 && --before.puts == 0) {
		ws_world_put(before.dir, WS_INDEX_LOCK, before.lock, before.a);
	}
	if (watch.dir && method && strcmp(method, "PUT") == 0) {
		note_put();
	}
	return real(multi, easy);
}

struct scene {
	const char *dir;
	struct ws_bucket b;
	struct ws_index_order order;
	unsigned told;
};

static void
tell(void *self, const char *path WS_UNUSED)
{
	((struct scene *)self)->told++;
}

static struct scene *
scene_with(const char *fault, struct ws_arena *a)
{
	struct scene *s = WS_NEW(a, struct scene);
	s->dir = ws_path_join(a, ws_test_dir(a), "store", NULL);
	s->b = ws_world_bucket(s->dir, fault, a);
	s->order = (struct ws_index_order){.target = "s3://bucket/team", .wait = tell, .self = s};
	return s;
}

static void
leave(struct scene *const *s)
{
	ws_auto_bucket(&(*s)->b);
}

#define WS_AUTO_SCENE __attribute__((cleanup(leave)))

/* A publisher with the known abilities of the store. */
static struct ws_publish_lock
publisher(struct scene *s, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_publish_lock lock = {.b = &s->b, .order = &s->order, .a = a};
	assert_ok(ws_publish_lock_try_store(&lock, &err), err);
	return lock;
}

/* A publisher that has the lock. */
static struct ws_publish_lock
holder(struct scene *s, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_publish_lock lock = publisher(s, a);
	assert_ok(ws_publish_lock_acquire(&lock, &err), err);
	return lock;
}

static const char *
held(struct scene *s, struct ws_arena *a)
{
	return ws_world_object(s->dir, WS_INDEX_LOCK, a);
}

WS_TEST(a_lock_exists_while_it_is_held)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = publisher(s, a);
	assert_null(held(s, a)); /* what was tried is gone */
	assert_ok(ws_publish_lock_acquire(&one, &err), err);
	assert_true(ws_starts_with(held(s, a), one.name));
	assert_false(one.interrupted);
	ws_publish_lock_release(&one, true);
	assert_null(held(s, a));
	assert_int_equal(s->told, 0);
}

WS_TEST(a_lock_is_renewed_in_time_and_not_before)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a);
	const char *first = held(s, a);
	assert_ok(ws_publish_lock_renew(&one, 0, &err), err);
	assert_string_equal(held(s, a), first);
	for (int i = 0; i < 2; i++) {
		one.renewed_ms -= 1000 * 60;
		assert_ok(ws_publish_lock_renew(&one, 0, &err), err);
		assert_string_not_equal(held(s, a), first);
		first = held(s, a);
	}
}

/* A page that takes longer than 10 s to send does not cost its holder the lock. */
WS_TEST(a_large_page_extends_the_lock)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a), two = publisher(s, a);
	const char *first = held(s, a);
	assert_ok(ws_publish_lock_renew(&one, 1000, &err), err);
	assert_string_equal(held(s, a), first);
	assert_ok(ws_publish_lock_renew(&one, 64 << 20, &err), err);
	assert_true(ws_ends_with(held(s, a), " 1034\n"));
	assert_ok(ws_publish_lock_renew(&one, 0, &err), err); /* the next page is small again */
	assert_true(ws_ends_with(held(s, a), " 10\n"));
	ws_world_put(s->dir, WS_INDEX_LOCK, ws_arena_printf(a, "%s 9 13\n", one.name), a);
	int64_t began_ms = ws_clock_ms();
	assert_ok(ws_publish_lock_acquire(&two, &err), err);
	assert_true(ws_clock_ms() - began_ms >= 12000);
}

/* The put of the object and the next renewal see one text of the lock; a second object would be a
 * third put. */
WS_TEST(each_object_is_put_under_a_renewal_of_its_own)
{
	static const char *const lines[] = {"pure 1.0 py3-none-any", NULL};
	struct ws_err err = {0};
	struct ws_index_outcome outcome;
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	const char *dir = ws_test_dir(a), *work = ws_test_dir(a);
	s->order = ws_world_order("s3://bucket/team", ws_world_wheels(dir, lines), a);
	watch.dir = s->dir;
	watch.a = a;
	assert_ok(ws_index_publish_stored(&s->b, &s->order, work, a, &outcome, &err), err);
	watch.dir = NULL;
	assert_true(watch.puts > 2 * outcome.new_pages);
	assert_int_equal(watch.longest, 2);
}

/* The old holder was paused for long. */
WS_TEST(a_replaced_holder_and_its_successor_both_fail)
{
	struct ws_err err = {0}, other_err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a), two = publisher(s, a);
	ws_world_put(s->dir, WS_INDEX_LOCK, "interrupted by hand", a);
	assert_ok(ws_publish_lock_acquire(&two, &err), err);
	assert_true(two.interrupted);
	one.renewed_ms = two.renewed_ms = -60 * 1000;
	assert_fails(ws_publish_lock_renew(&one, 0, &err), err, WS_ERR_PUBLISH);
	assert_true(one.lost);
	ws_publish_lock_release(&one, false);
	assert_fails(ws_publish_lock_renew(&two, 0, &other_err), other_err, WS_ERR_PUBLISH);
	assert_contains(other_err.text, "another publisher changed");
}

/* Both saw an abandoned lock; the other replaced it first. */
WS_TEST(one_of_two_waiting_publishers_gets_the_lock)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = publisher(s, a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = 1};
	ws_world_put(s->dir, WS_INDEX_LOCK, "interrupted by hand", a);
	s->order.stop = &stop; /* waiting longer is an error */
	before.puts = 2;       /* it creates the lock, which is refused, and replaces it */
	before.dir = s->dir;
	before.lock = "the other 1";
	before.a = a;
	assert_false(ws_publish_lock_acquire(&one, &err));
	assert_int_equal(before.puts, 0);
	assert_true(ws_err_is_stop(&err));
	assert_string_equal(held(s, a), "the other 1");
}

WS_TEST(an_interrupted_holder_marks_the_lock_and_the_next_does_not_wait)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a), two = publisher(s, a);
	ws_publish_lock_release(&one, false);
	assert_true(ws_starts_with(held(s, a), "interrupted"));
	assert_ok(ws_publish_lock_acquire(&two, &err), err);
	assert_true(two.interrupted);
	ws_publish_lock_release(&two, true);
	assert_null(held(s, a));
}

WS_TEST(a_foreign_lock_is_not_removed)
{
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a);
	ws_world_put(s->dir, WS_INDEX_LOCK, "of somebody else", a);
	ws_publish_lock_release(&one, true);
	assert_string_equal(held(s, a), "of somebody else");
}

WS_TEST(waiting_can_be_stopped)
{
	struct ws_err err = {0};
	WS_AUTO_SCENE struct scene *s = scene_with(NULL, a);
	struct ws_publish_lock one = holder(s, a), two = publisher(s, a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = 1};
	s->order.stop = &stop;
	assert_false(ws_publish_lock_acquire(&two, &err));
	assert_true(ws_err_is_stop(&err));
	assert_int_equal(s->told, 1);
	assert_true(ws_starts_with(held(s, a), one.name));
}

WS_TEST(a_store_without_working_conditions_is_refused)
{
	static const char *const faults[] = {"refuses", "ignores"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		struct ws_err err = {0};
		WS_AUTO_SCENE struct scene *s = scene_with(faults[i], a);
		struct ws_publish_lock lock = {.b = &s->b, .order = &s->order, .a = a};
		assert_fails(ws_publish_lock_try_store(&lock, &err), err, WS_ERR_PUBLISH);
		assert_contains(err.text, "has no conditional requests");
		assert_cure(err, WS_CURE_SYNC, "s3://bucket/team");
		assert_null(held(s, a));
	}
}
