/* test_engine_action_cache.c - manifests: what a result depends on, and what makes it stale. */
#include "test.h"

#include "base/fs.h"
#include "engine/action_cache.h"
#include "engine/reads_manifest.h"
#include "store/cas.h"

#include <fcntl.h>
#include <time.h>

struct world {
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_cache cache;
	const char *outside; /* a folder outside every tree */
	struct ws_mount *mount;
	const char *why; /* the last lookup missed */
};

static struct world
set_up(struct ws_arena *a)
{
	struct ws_err err;
	struct world w = {0};
	assert_ok(ws_store_open(ws_test_dir(a), a, &w.store, &err), err);
	w.ledger = w.store.ledger;
	w.outside = ws_test_dir(a);
	return w;
}

/* A new run: only the store keeps earlier results. */
static struct ws_cache *
new_run(struct world *w, struct ws_arena *a)
{
	w->cache = (struct ws_cache){.store = &w->store, .names = {.ledger = w->ledger, .a = a}};
	return &w->cache;
}

static void
tear_down(struct world *w)
{
	ws_store_close(&w->store);
}

#define WS_AUTO_WORLD __attribute__((cleanup(tear_down)))

static struct ws_tree *
make_tree(struct world *w, const char *const *files, size_t count, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_tree_builder *b = ws_tree_begin(&w->store, "t", a, &err);
	for (size_t i = 0; i < count; i++) {
		assert_ok(ws_tree_add_file(b, files[i], files[i], strlen(files[i]), false, &err), err);
	}
	struct ws_tree *tree = WS_NEW(a, struct ws_tree);
	assert_ok(ws_tree_commit(b, a, tree, &err), err);
	return tree;
}

/* Never called: it only says that the key is not complete. */
static bool
has_reads(const struct ws_action *action WS_UNUSED, const char *work WS_UNUSED,
	const char *log WS_UNUSED, struct ws_arena *a WS_UNUSED, struct ws_reads *reads WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return false;
}

/* Its mount "inc" has @files. */
static struct ws_action
action_over(struct world *w, const char *const *files, size_t count, struct ws_arena *a)
{
	static const char *const argv[] = {"cc", NULL};
	static const char *const env[] = {NULL};
	static const char *const outputs[] = {"a.o"};
	w->mount = WS_NEW(a, struct ws_mount);
	*w->mount = (struct ws_mount){"inc", "/nowhere", make_tree(w, files, count, a)};
	return (struct ws_action){
		.subject = "a.c",
		.tool = {"cc", "cc", "f00d"},
		.argv = argv,
		.env = env,
		.mounts = w->mount,
		.mount_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.find_reads = has_reads,
	};
}

static void
remember(
	struct world *w, const struct ws_action *action, struct ws_reads *reads, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_digest base;
	struct ws_cache *cache = new_run(w, a);
	assert_ok(ws_cache_base(cache, action, NULL, &base, &err), err);
	struct ws_result result = {
		.outputs = WS_NEW(a, struct ws_digest), .sizes = WS_NEW(a, uint64_t)};
	assert_ok(ws_cas_put(&w->store, "object", 6, &result.outputs[0], &err), err);
	result.cpu_ms = 17;
	assert_ok(ws_cache_add(cache, action, &base, reads, &result, &err), err);
}

static bool
is_hit(struct world *w, const struct ws_action *action, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_digest base;
	struct ws_result result;
	struct ws_cache *cache = new_run(w, a);
	assert_ok(ws_cache_base(cache, action, NULL, &base, &err), err);
	bool hit = ws_cache_find(cache, action, &base, a, &result, &w->why);
	assert_true(!hit || result.cpu_ms == 17);
	return hit;
}

static void
write_old(const char *path, const char *text)
{
	struct ws_err err;
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	struct timespec past[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	utimensat(AT_FDCWD, path, past, 0);
}

WS_TEST(a_tree_whose_read_files_did_not_change_is_a_hit)
{
	static const char *const one[] = {"read.h", "unread.h"};
	static const char *const two[] = {"read.h", "unread-2.h"};
	static const char *const three[] = {"unread.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_action action = action_over(&w, one, 2, a);
	struct ws_reads reads = {0};
	*ws_vec_push(&reads.files, a) = "inc/read.h";
	assert_false(is_hit(&w, &action, a));
	assert_string_equal(w.why, "no run of this command on these inputs is known");
	remember(&w, &action, &reads, a);
	assert_true(is_hit(&w, &action, a));
	w.mount->tree = make_tree(&w, two, 2, a);
	assert_true(is_hit(&w, &action, a));
	assert_true(is_hit(&w, &action, a)); /* now by the tree key */
	w.mount->tree = make_tree(&w, three, 1, a);
	assert_false(is_hit(&w, &action, a));
	assert_string_equal(w.why, "'inc/read.h' does not exist any more");
}

WS_TEST(a_name_that_appears_is_a_miss)
{
	static const char *const one[] = {"b/x.h"};
	static const char *const two[] = {"a/x.h", "b/x.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_action action = action_over(&w, one, 1, a);
	struct ws_reads reads = {0};
	*ws_vec_push(&reads.files, a) = "inc/b/x.h";
	*ws_vec_push(&reads.absent, a) = "inc/a/x.h";
	remember(&w, &action, &reads, a);
	assert_true(is_hit(&w, &action, a));
	w.mount->tree = make_tree(&w, two, 2, a);
	assert_false(is_hit(&w, &action, a));
	assert_string_equal(w.why, "'inc/a/x.h' is there now");
}

WS_TEST(files_outside_trees_are_watched_one_by_one)
{
	static const char *const one[] = {"x.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_action action = action_over(&w, one, 1, a);
	const char *header = ws_path_join(a, w.outside, "stdio.h", NULL);
	const char *asked = ws_path_join(a, w.outside, "asked.h", NULL);
	const char *shadow = ws_path_join(a, w.outside, "shadow.h", NULL);
	write_old(header, "1");
	write_old(asked, "");
	struct ws_reads reads = {0};
	*ws_vec_push(&reads.files, a) = header;
	*ws_vec_push(&reads.present, a) = asked;
	*ws_vec_push(&reads.absent, a) = shadow;
	remember(&w, &action, &reads, a);
	assert_true(is_hit(&w, &action, a));

	write_old(asked, "its contents do not matter");
	assert_true(is_hit(&w, &action, a));
	write_old(header, "2");
	assert_false(is_hit(&w, &action, a));
	assert_contains(w.why, "stdio.h' changed");
	write_old(header, "1"); /* back again: an older manifest holds */
	assert_true(is_hit(&w, &action, a));
	write_old(shadow, "");
	assert_false(is_hit(&w, &action, a));
	assert_contains(w.why, "shadow.h' is there now");
	assert_ok(ws_fs_remove(shadow, NULL), (struct ws_err){0});
	assert_ok(ws_fs_remove(asked, NULL), (struct ws_err){0});
	assert_false(is_hit(&w, &action, a));
	assert_contains(w.why, "asked.h' does not exist any more");
}

/* Where the store keeps it: tests alone may know. */
static const char *
stored(const struct ws_store *store, const struct ws_digest *digest, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/cas/%.2s/%s", store->path, digest->hex, digest->hex);
}

WS_TEST(a_deleted_output_is_a_miss)
{
	static const char *const one[] = {"x.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_action action = action_over(&w, one, 1, a);
	struct ws_reads reads = {0};
	remember(&w, &action, &reads, a);
	struct ws_digest object = ws_digest_bytes("object", 6);
	assert_ok(ws_fs_remove(stored(&w.store, &object, a), NULL), (struct ws_err){0});
	assert_false(is_hit(&w, &action, a));
	assert_string_equal(w.why, "its result is missing in the store");
}

WS_TEST(a_damaged_manifest_never_holds)
{
	static const char nul[] = "\0 x.h\n";
	static const char *const damaged[] = {"x\n", "a\n", "z x.h\n", "f x.h\n", "\n"};
	WS_AUTO_WORLD struct world w = set_up(a);
	static const char *const none[] = {"y.h"};
	struct ws_action action = action_over(&w, none, 1, a);
	struct ws_names *names = &new_run(&w, a)->names;
	for (size_t i = 0; i <= WS_LEN(damaged); i++) {
		struct ws_str text =
			i < WS_LEN(damaged) ? ws_str_of(damaged[i]) : (struct ws_str){nul, sizeof(nul) - 1};
		assert_false(ws_manifest_holds(text, false, &action, names, a, &w.why));
		assert_string_equal(w.why, "the manifest is damaged");
	}
}

/* A run judges all its hits by one state of the host; a new run looks again. */
WS_TEST(whether_an_outside_file_exists_is_asked_once_a_run)
{
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_err err;
	struct ws_action action = {.subject = "x.cu"};
	struct ws_cache *cache = new_run(&w, a);
	const char *absent = ws_path_join(a, w.outside, "absent.h", NULL);
	const char *present = ws_path_join(a, w.outside, "present.h", NULL);
	assert_ok(ws_fs_write(present, "", 0, 0644, &err), err);
	for (unsigned changed = 0; changed < 2; changed++) {
		assert_false(ws_names_exists(&cache->names, &action, absent));
		assert_true(ws_names_exists(&cache->names, &action, present));
		assert_ok(ws_fs_write(absent, "", 0, 0644, &err), err);
		assert_ok(ws_fs_remove(present, &err), err);
	}
	assert_non_null(ws_names_digest(&cache->names, &action, absent));
	cache = new_run(&w, a);
	assert_true(ws_names_exists(&cache->names, &action, absent));
	assert_false(ws_names_exists(&cache->names, &action, present));
}

WS_TEST(a_manifest_is_sorted_and_names_each_thing_once)
{
	static const char *const files[] = {"b.h", "a.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_err err;
	struct ws_action action = action_over(&w, files, 2, a);
	struct ws_reads reads = {0};
	static const char *const read[] = {"inc/b.h", "inc/a.h", "inc/b.h"};
	static const char *const absent[] = {"inc/z.h", "inc/y.h", "inc/z.h"};
	for (size_t i = 0; i < 3; i++) {
		*ws_vec_push(&reads.files, a) = read[i];
		*ws_vec_push(&reads.absent, a) = absent[i];
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_ok(ws_manifest_write(&reads, &action, &new_run(&w, a)->names, &text, &err), err);
	assert_string_equal(text.data,
		ws_arena_printf(a, "f %s inc/a.h\nf %s inc/b.h\na inc/y.h\na inc/z.h\n",
			ws_digest_bytes("a.h", 3).hex, ws_digest_bytes("b.h", 3).hex));
}

WS_TEST(a_manifest_that_cannot_be_stored_is_an_error)
{
	static const char *const one[] = {"x.h"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_err err;
	struct ws_action action = action_over(&w, one, 1, a);
	struct ws_reads reads = {0};
	struct ws_digest base, output = ws_digest_bytes("object", 6);
	uint64_t size = 6;
	struct ws_result result = {.outputs = &output, .sizes = &size};
	struct ws_cache *cache = new_run(&w, a);
	*ws_vec_push(&reads.files, a) = "inc/x.h";
	assert_ok(ws_cache_base(cache, &action, NULL, &base, &err), err);
	const char *cas = ws_store_path(&w.store, a, "cas");
	assert_ok(ws_fs_remove(cas, &err), err);
	assert_ok(ws_fs_write(cas, "", 0, 0644, &err), err);
	assert_fails(ws_cache_add(cache, &action, &base, &reads, &result, &err), err, WS_ERR_IO);
}

WS_TEST(an_action_that_is_not_traced_belongs_to_its_trees)
{
	static const char *const one[] = {"x.py"};
	static const char *const two[] = {"y.py"};
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_action action = action_over(&w, one, 1, a);
	action.find_reads = NULL;
	remember(&w, &action, NULL, a);
	assert_true(is_hit(&w, &action, a));
	w.mount->tree = make_tree(&w, two, 1, a);
	assert_false(is_hit(&w, &action, a));
}

WS_TEST(a_long_manifest_is_stored_packed_and_one_from_before_is_read_as_well)
{
	WS_AUTO_WORLD struct world w = set_up(a);
	struct ws_err err;
	struct ws_digest digest;
	uint64_t size;
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf read = {0};
	for (unsigned i = 0; i < 10000; i++) {
		ws_buf_printf(&text, "a /usr/include/c++/12/header-%05u.h\n", i);
	}
	assert_ok(ws_manifest_put(&w.store, ws_buf_str(&text), &digest, &size, &err), err);
	assert_in_range(size, 1, text.len / 8);
	assert_ok(ws_manifest_get(&w.store, digest.hex, &read, &err), err);
	assert_string_equal(ws_buf_text(&read), ws_buf_text(&text));
	ws_buf_clear(&read);
	assert_ok(ws_cas_put(&w.store, text.data, text.len, &digest, &err), err);
	assert_ok(ws_manifest_get(&w.store, digest.hex, &read, &err), err);
	assert_string_equal(ws_buf_text(&read), ws_buf_text(&text));
	/* A short one is text: it would not take fewer blocks. */
	struct ws_str line = ws_str_of("a /usr/include/one.h\n");
	assert_ok(ws_manifest_put(&w.store, line, &digest, &size, &err), err);
	assert_int_equal(size, line.n);
}
