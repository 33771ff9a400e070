/* test_build_lock_file.c - several processes on one lock. Its text is config/'s, read-only folders are
 * in cli/. */
#include "test.h"

#include "base/fs.h"
#include "config/lock.h"
#include "make/lock_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PROCESSES 6
#define PINS 12

/* One process's view of a lock. */
struct view {
	struct ws_context ctx;
	struct ws_lock lock;
	struct ws_err err;
};

static void
look(struct view *v, const struct ws_store *store, const char *path, struct ws_arena *a)
{
	*v = (struct view){.ctx = {.a = a, .store = store}};
	assert_ok(ws_lock_file_read(&v->ctx, path, &v->lock, &v->err), v->err);
}

static void
pin(struct view *v, const char *package, const char *tree)
{
	struct ws_pin_source source = {package, "1.0", "folder", "src", NULL, NULL, tree, NULL};
	struct ws_pin_cuda cuda = {package, "host", "/usr/local/cuda", tree, NULL, NULL};
	struct ws_pin_torch torch = {package, "torch.whl", "", tree, tree, "12.4", 0};
	ws_lock_put(&v->lock, WS_PIN_SOURCE, &source, v->ctx.a);
	ws_lock_put(&v->lock, WS_PIN_CUDA, &cuda, v->ctx.a);
	struct ws_pin_prebuilt wheel = {package, "1.0", "w.whl", "https://h.example/w.whl", tree};
	ws_lock_put(&v->lock, WS_PIN_TORCH, &torch, v->ctx.a);
	ws_lock_put(&v->lock, WS_PIN_PREBUILT, &wheel, v->ctx.a);
	v->ctx.lock_changed = true;
}

static void
save(struct view *v)
{
	assert_ok(ws_lock_file_save(&v->ctx, &v->err), v->err);
}

static void
assert_pinned(const struct ws_lock *lock, const char *package, const char *tree)
{
	assert_non_null(ws_lock_source(lock, package, "1.0"));
	assert_string_equal(ws_lock_source(lock, package, "1.0")->tree, tree);
	assert_non_null(ws_lock_cuda(lock, package));
	assert_string_equal(ws_lock_cuda(lock, package)->digest, tree);
	assert_non_null(ws_lock_torch(lock, package));
	assert_string_equal(ws_lock_torch(lock, package)->tree, tree);
	assert_non_null(ws_lock_prebuilt(lock, package, "w.whl"));
	assert_string_equal(ws_lock_prebuilt(lock, package, "w.whl")->sha256, tree);
}

static struct ws_store
open_store(const char *dir, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, dir, "store", NULL), a, &store, &err), err);
	return store;
}

WS_TEST(pins_that_others_made_meanwhile_stay)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	struct ws_store store = open_store(dir, a);
	struct view one, two, after;
	look(&one, &store, path, a);
	pin(&one, "common", HEX);
	pin(&one, "old", HEX);
	save(&one);
	look(&one, &store, path, a);
	look(&two, &store, path, a);
	pin(&one, "a", HEX);
	pin(&one, "both", HEX);
	pin(&two, "b", HEX);
	pin(&two, "both", OTHER);
	pin(&two, "common", OTHER);
	assert_int_equal(ws_lock_forget(&two.lock, "old"), 2);
	save(&two);
	save(&one);
	look(&after, &store, path, a);
	assert_pinned(&after.lock, "a", HEX);
	assert_pinned(&after.lock, "b", HEX);
	/* Made by both: the later one's. Changed by one: that one's. */
	assert_pinned(&after.lock, "both", HEX);
	assert_pinned(&after.lock, "common", OTHER);
	assert_null(ws_lock_source(&after.lock, "old", "1.0"));
	assert_int_equal(after.lock.torch.len, 5);
	/* What this process resolved with is not what others pinned. */
	assert_pinned(&one.lock, "common", HEX);
	ws_store_close(&store);
}

/* Each pin is a run of the program: read, pin, save. */
static void
work(const struct ws_store *store, const char *path, int process)
{
	for (int i = 0; i < PINS; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct view v;
		look(&v, store, path, a);
		pin(&v, ws_arena_printf(a, "p%d-%d", process, i), HEX);
		save(&v);
	}
}

WS_TEST(processes_that_write_at_the_same_time_lose_no_pin)
{
	const char *dir = ws_test_dir(a);
	const char *folder = ws_path_join(a, dir, "matrix", NULL);
	const char *path = ws_path_join(a, folder, "m.lock.json", NULL);
	struct ws_store store = open_store(dir, a);
	struct ws_err err = {0};
	struct view after;
	assert_ok(ws_fs_mkdirs(folder, &err), err);
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() == 0) {
			work(&store, path, i);
			_exit(0);
		}
	}
	for (int i = 0, status; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	look(&after, &store, path, a);
	assert_int_equal(after.lock.sources.len, PROCESSES * PINS);
	/* Nothing else is left where a person looks after files. */
	WS_AUTO_DIR DIR *left = opendir(folder);
	const struct dirent *entry;
	while ((entry = readdir(left))) {
		assert_true(entry->d_name[0] != '.' || strspn(entry->d_name, ".") == strlen(entry->d_name));
	}
	ws_store_close(&store);
}

WS_TEST(a_lock_that_is_no_longer_one_is_left_alone)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	struct ws_store store = open_store(dir, a);
	struct view v;
	look(&v, &store, path, a);
	pin(&v, "a", HEX);
	assert_ok(ws_fs_write(path, "<<<<<<<", 7, 0644, &v.err), v.err);
	assert_fails(ws_lock_file_save(&v.ctx, &v.err), v.err, WS_ERR_CONFIG);
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_ok(ws_fs_read(path, &text, &v.err), v.err);
	assert_string_equal(ws_buf_text(&text), "<<<<<<<");
	ws_store_close(&store);
}

WS_TEST(what_was_kept_in_the_store_moves_to_where_it_belongs)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	struct ws_store store = open_store(dir, a);
	struct view v;
	/* Nothing can take the place of a folder, not even as root. */
	look(&v, &store, path, a);
	pin(&v, "a", HEX);
	assert_ok(ws_fs_mkdirs(path, &v.err), v.err);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, path, "full", NULL), &v.err), v.err);
	save(&v);
	assert_ok(ws_fs_remove(path, &v.err), v.err);
	look(&v, &store, path, a);
	assert_pinned(&v.lock, "a", HEX);
	pin(&v, "b", HEX);
	save(&v);
	struct ws_lock own;
	assert_ok(ws_lock_read(path, a, &own, &v.err), v.err);
	assert_pinned(&own, "a", HEX);
	assert_pinned(&own, "b", HEX);
	/* What goes from there later does not come back from the store. */
	assert_ok(ws_fs_remove(path, &v.err), v.err);
	look(&v, &store, path, a);
	assert_int_equal(v.lock.sources.len, 0);
	ws_store_close(&store);
}
