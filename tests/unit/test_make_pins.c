/* test_make_pins.c - what may change a pin, and several processes on one lock. Its text is
 * config/'s, read-only folders are in cli/. */
#include "test.h"

#include "base/fs.h"
#include "config/lock.h"
#include "make/pins.h"

#include <sys/wait.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PROCESSES 6
#define PINS 12

/* One process's view of a lock. */
struct view {
	struct ws_pins pins;
	struct ws_err err;
};

static void
look(struct view *v, const struct ws_store *store, const char *path, struct ws_arena *a)
{
	*v = (struct view){.pins = {.a = a, .store = store}};
	assert_ok(ws_pins_read(&v->pins, path, &v->err), v->err);
}

static void
pin(struct view *v, const char *package, const char *tree)
{
	struct ws_pin_source source = {package, "1.0", "folder", "src", NULL, NULL, tree, NULL};
	struct ws_pin_cuda cuda = {package, "host", "/usr/local/cuda", tree, NULL, NULL};
	struct ws_pin_torch torch = {package, "torch.whl", "", tree, tree, "12.4", 0};
	ws_lock_put(&v->pins.lock, WS_PIN_SOURCE, &source, v->pins.a);
	ws_lock_put(&v->pins.lock, WS_PIN_CUDA, &cuda, v->pins.a);
	struct ws_pin_prebuilt wheel = {package, "1.0", "w.whl", "https://h.example/w.whl", tree};
	ws_lock_put(&v->pins.lock, WS_PIN_TORCH, &torch, v->pins.a);
	ws_lock_put(&v->pins.lock, WS_PIN_PREBUILT, &wheel, v->pins.a);
	v->pins.changed = true;
}

static void
save(struct view *v)
{
	assert_ok(ws_pins_save(&v->pins, &v->err), v->err);
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
	assert_non_null(ws_lock_prebuilt(lock, package, "w.whl", tree, NULL));
}

#define WS_AUTO_STORE __attribute__((cleanup(ws_store_close)))

static struct ws_store
open_store(const char *dir, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, dir, "store", NULL), a, &store, &err), err);
	return store;
}

/* ---- what is found against what is pinned ---- */

/* Pins with HEX and then finds with OTHER, under --locked where @locked. */
static bool
find_other(bool locked, enum ws_pin_kind kind, const void *pinned, const void *found,
	struct ws_pins *pins, struct ws_err *err, struct ws_arena *a)
{
	*pins = (struct ws_pins){.a = a};
	if (pinned) {
		assert_ok(ws_pins_put(pins, kind, pinned, err), *err);
		assert_true(pins->changed || kind == WS_PIN_EXPORTS);
	}
	pins->changed = false;
	pins->locked = locked;
	return ws_pins_put(pins, kind, found, err);
}

WS_TEST(a_different_find_changes_its_pin_or_is_refused)
{
	const struct ws_pin_source sources[] = {{"tiny", "1.0", "folder", "src", NULL, NULL, HEX, NULL},
		{"tiny", "1.0", "folder", "elsewhere", NULL, NULL, OTHER, NULL}};
	const struct ws_pin_cuda cudas[] = {{"12.4", "host", "/usr/local/cuda", HEX, NULL, NULL},
		{"12.4", "archive", "cuda-12.4", HEX, HEX, "mirror"}};
	const struct ws_pin_torch torches[] = {
		{"2.9.0", "a.whl", "", HEX, HEX, "12.4", 0}, {"2.9.0", "a.whl", "", HEX, OTHER, "12.4", 0}};
	const struct {
		enum ws_pin_kind kind;
		const void *pinned, *found;
		const char *says, *cure;
	} cases[] = {
		{WS_PIN_SOURCE, &sources[0], &sources[1], "the sources of tiny 1.0", "tiny"},
		{WS_PIN_CUDA, &cudas[0], &cudas[1], "CUDA 12.4", "cuda"},
		{WS_PIN_TORCH, &torches[0], &torches[1], "torch 2.9.0", "torch"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_pins pins;
		struct ws_err err = {0};
		enum ws_pin_kind kind = cases[i].kind;
		assert_true(find_other(false, kind, cases[i].pinned, cases[i].found, &pins, &err, a));
		assert_true(pins.changed);
		assert_false(ws_lock_put(&pins.lock, kind, cases[i].found, a));
		assert_fails(find_other(true, kind, cases[i].pinned, cases[i].found, &pins, &err, a), err,
			WS_ERR_CONFIG);
		assert_contains(err.text, ws_arena_printf(a, "%s: not what the lock pins", cases[i].says));
		assert_cure(err, WS_CURE_LOCK_UPDATE, cases[i].cure);
		assert_false(ws_lock_put(&pins.lock, kind, cases[i].pinned, a));
		/* A source without a pin. */
		assert_fails(
			find_other(true, kind, NULL, cases[i].found, &pins, &err, a), err, WS_ERR_CONFIG);
		assert_contains(err.text, ws_arena_printf(a, "the lock has no pin of %s", cases[i].says));
		assert_int_equal(ws_lock_count(&pins.lock, kind), 0);
	}
}

WS_TEST(a_find_that_matches_its_pin_changes_no_pin_whatever_its_source)
{
	struct ws_pins pins;
	struct ws_err err = {0};
	/* Another Python's wheel of a torch gives the same tree. */
	const struct ws_pin_torch torches[] = {{"2.9.0", "cp311.whl", "", HEX, HEX, "12.4", 0},
		{"2.9.0", "cp312.whl", "", OTHER, HEX, "12.4", 0}};
	assert_true(find_other(true, WS_PIN_TORCH, &torches[0], &torches[1], &pins, &err, a));
	assert_false(pins.changed);
	assert_string_equal(pins.lock.torch.at[0].wheel, "cp311.whl");
	/* A source with a changed definition, which is its key now. */
	const struct ws_pin_source sources[] = {{"tiny", "1.0", "sdist", "a", HEX, NULL, HEX, HEX},
		{"tiny", "1.0", "sdist", "b", HEX, NULL, HEX, OTHER}};
	assert_true(find_other(true, WS_PIN_SOURCE, &sources[0], &sources[1], &pins, &err, a));
	assert_false(pins.changed);
	assert_string_equal(pins.lock.sources.at[0].from, "a");
	assert_string_equal(pins.lock.sources.at[0].definition, OTHER);
	assert_true(find_other(false, WS_PIN_SOURCE, &sources[0], &sources[1], &pins, &err, a));
	assert_true(pins.changed);
	/* A list of exports is never held against the lock. */
	const struct ws_pin_exports exports[] = {{"2.9.0", HEX, HEX}, {"2.9.0", OTHER, OTHER}};
	assert_true(find_other(true, WS_PIN_EXPORTS, NULL, &exports[0], &pins, &err, a));
	assert_false(pins.changed);
	assert_true(find_other(true, WS_PIN_EXPORTS, &exports[0], &exports[1], &pins, &err, a));
	assert_false(pins.changed);
	assert_string_equal(pins.lock.exports.at[0].tree, OTHER);
}

WS_TEST(pins_that_are_made_anew_are_forgotten_first)
{
	static const char *const names[] = {"tiny"};
	static const char *const unknown[] = {"other"};
	static const char *const all[] = {"all"};
	struct ws_err err = {0};
	struct ws_pins pins = {.a = a};
	const struct ws_pin_source source = {"tiny", "1.0", "folder", "src", NULL, NULL, HEX, NULL};
	assert_ok(ws_pins_put(&pins, WS_PIN_SOURCE, &source, &err), err);
	pins.changed = false;
	assert_ok(ws_pins_renew(&pins, names, 1, &err), err);
	assert_true(pins.changed);
	assert_ptr_equal(pins.renewed, names);
	assert_int_equal(pins.renewed_count, 1);
	assert_int_equal(pins.lock.sources.len, 0);
	assert_fails(ws_pins_renew(&pins, unknown, 1, &err), err, WS_ERR_USAGE);
	assert_ok(ws_pins_renew(&pins, all, 1, &err), err);
	assert_ptr_equal(pins.renewed, all);
}

/* ---- the file ---- */

WS_TEST(pins_that_others_made_meanwhile_stay)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	WS_AUTO_STORE struct ws_store store = open_store(dir, a);
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
	assert_int_equal(ws_lock_forget(&two.pins.lock, "old"), 2);
	save(&two);
	save(&one);
	look(&after, &store, path, a);
	assert_pinned(&after.pins.lock, "a", HEX);
	assert_pinned(&after.pins.lock, "b", HEX);
	/* Made by both: the later one's. Changed by one: that one's. */
	assert_pinned(&after.pins.lock, "both", HEX);
	assert_pinned(&after.pins.lock, "common", OTHER);
	assert_null(ws_lock_source(&after.pins.lock, "old", "1.0"));
	assert_int_equal(after.pins.lock.torch.len, 5);
	/* This process resolved with pins that others have replaced. */
	assert_pinned(&one.pins.lock, "common", HEX);
}

WS_TEST(pins_in_the_store_that_others_saved_meanwhile_stay)
{
	const char *dir = ws_test_dir(a);
	WS_AUTO_STORE struct ws_store store = open_store(dir, a);
	struct view one, two, after;
	look(&one, &store, ws_path_join(a, dir, "one.lock.json", NULL), a);
	look(&two, &store, ws_path_join(a, dir, "two.lock.json", NULL), a);
	pin(&one, "a", HEX);
	pin(&two, "b", OTHER);
	save(&one);
	save(&two);
	look(&after, &store, ws_path_join(a, dir, "three.lock.json", NULL), a);
	assert_non_null(ws_lock_torch(&after.pins.of_store, "a"));
	assert_non_null(ws_lock_torch(&after.pins.of_store, "b"));
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
	WS_AUTO_STORE struct ws_store store = open_store(dir, a);
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
	assert_int_equal(after.pins.lock.sources.len, PROCESSES * PINS);
	/* No other file is left in the user's folder. */
	WS_AUTO_DIR DIR *left = opendir(folder);
	const struct dirent *entry;
	while ((entry = readdir(left))) {
		assert_true(entry->d_name[0] != '.' || strspn(entry->d_name, ".") == strlen(entry->d_name));
	}
}

WS_TEST(a_lock_that_is_no_longer_one_is_left_alone)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	WS_AUTO_STORE struct ws_store store = open_store(dir, a);
	struct view v;
	look(&v, &store, path, a);
	pin(&v, "a", HEX);
	assert_ok(ws_fs_write(path, "<<<<<<<", 7, 0644, &v.err), v.err);
	assert_fails(ws_pins_save(&v.pins, &v.err), v.err, WS_ERR_CONFIG);
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_ok(ws_fs_read(path, &text, &v.err), v.err);
	assert_string_equal(ws_buf_text(&text), "<<<<<<<");
}

WS_TEST(a_lock_kept_in_the_store_moves_to_its_own_place)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "m.lock.json", NULL);
	WS_AUTO_STORE struct ws_store store = open_store(dir, a);
	struct view v;
	/* A file cannot replace a folder, not even as root. */
	look(&v, &store, path, a);
	pin(&v, "a", HEX);
	assert_ok(ws_fs_mkdirs(path, &v.err), v.err);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, path, "full", NULL), &v.err), v.err);
	save(&v);
	assert_ok(ws_fs_remove(path, &v.err), v.err);
	look(&v, &store, path, a);
	assert_pinned(&v.pins.lock, "a", HEX);
	pin(&v, "b", HEX);
	save(&v);
	struct ws_lock own;
	assert_ok(ws_lock_read(path, a, &own, &v.err), v.err);
	assert_pinned(&own, "a", HEX);
	assert_pinned(&own, "b", HEX);
	/* Pins that are removed there later do not come back from the store. */
	assert_ok(ws_fs_remove(path, &v.err), v.err);
	look(&v, &store, path, a);
	assert_int_equal(v.pins.lock.sources.len, 0);
}
