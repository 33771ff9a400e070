/* test_store_tree.c - the store's folder, its files and its trees. */
#include "test.h"

#include "base/fs.h"
#include "store/cas.h"
#include "store/results.h"

#include <fcntl.h>

static struct ws_store
open_store(struct ws_arena *a)
{
	struct ws_err err;
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, ws_test_dir(a), "s", NULL), a, &store, &err), err);
	return store;
}

WS_TEST_ERR(a_store_with_a_different_version_is_refused_with_a_cure)
{
	struct ws_store store = open_store(a);
	const char *version = ws_store_path(&store, a, "VERSION");
	ws_store_close(&store);
	assert_ok(ws_fs_write(version, "wheelsmith.store/9\n", 19, 0644, &err), err);
	assert_fails(ws_store_open(ws_path_dir(a, version), a, &store, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "wheelsmith.store/9");
	assert_cure(err, WS_CURE_STORE, "");
}

WS_TEST_ERR(unused_downloads_are_removed_after_a_week)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	const char *old = ws_store_path(&store, a, "partial/old.part");
	const char *young = ws_store_path(&store, a, "partial/young.part");
	assert_ok(ws_fs_write(old, "x", 1, 0644, &err), err);
	assert_ok(ws_fs_write(young, "x", 1, 0644, &err), err);
	struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
	ws_store_close(&store);
	assert_ok(ws_store_open(store.path, a, &store, &err), err);
	assert_false(ws_fs_exists(old));
	assert_true(ws_fs_exists(young));
}

WS_TEST_ERR(files_are_kept_by_their_digest)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	const char *file = ws_path_join(a, ws_test_dir(a), "x", NULL);
	assert_ok(ws_fs_write(file, "abc", 3, 0644, &err), err);
	struct ws_digest digest, again;
	uint64_t size;
	assert_ok(ws_cas_take(&store, file, &digest, &size, &err), err);
	assert_string_equal(
		digest.hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_false(ws_fs_exists(file));
	assert_ok(ws_cas_put(&store, "abc", 3, &again, &err), err);
	assert_true(ws_digest_eq(&digest, &again));

	const char *to = ws_path_join(a, ws_test_dir(a), "y", NULL);
	assert_ok(ws_cas_link_into(&store, digest.hex, to, false, &err), err);
	struct stat status;
	assert_int_equal(stat(to, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0444);
	WS_AUTO_BUF struct ws_buf b = {0};
	assert_ok(ws_cas_read(&store, digest.hex, &b, &err), err);
	assert_string_equal(b.data, "abc");
}

WS_TEST_ERR(files_behind_a_link_are_not_cleaned)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	const char *partial = ws_store_path(&store, a, "partial");
	const char *theirs = ws_test_dir(a);
	const char *tree = ws_path_join(a, theirs, "src-x-dead", NULL);
	assert_ok(ws_fs_mkdirs(tree, &err), err);
	assert_ok(ws_fs_remove(partial, &err), err);
	assert_int_equal(symlink(theirs, partial), 0);
	ws_store_close(&store);
	assert_ok(ws_store_open(store.path, a, &store, &err), err);
	assert_true(ws_fs_is_dir(tree));
}

/* SQLite opens no file whose path has 512 bytes. */
WS_TEST_ERR(a_path_that_is_too_long_is_refused_with_what_to_do)
{
	struct ws_store store;
	const char *dir = ws_test_dir(a);
	dir = ws_arena_printf(a, "%s/%0*d/%0200d", dir, (int)(460 - 202 - strlen(dir)), 0, 0);
	assert_ok(ws_store_open(dir, a, &store, &err), err);
	ws_store_close(&store);
	dir = ws_arena_printf(a, "%s/%040d", dir, 0);
	assert_fails(ws_store_open(dir, a, &store, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "is too long");
	assert_cure(err, WS_CURE_STORE, "");
}

WS_TEST_ERR(without_a_home_the_store_has_no_place)
{
	struct ws_store store;
	const struct ws_user_env nobody = {NULL, "", NULL};
	assert_null(ws_store_default_path(&nobody, NULL, a));
	assert_string_equal(ws_store_default_path(&nobody, "here", a), "here");
	assert_fails(ws_store_open(NULL, a, &store, &err), err, WS_ERR_CONFIG);
	assert_int_equal(err.cures[0].code, WS_CURE_STORE);
}

static struct ws_tree
build_tree(const struct ws_store *store, const char *first, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_tree_builder *b = ws_tree_begin(store, "demo-1", a, &err);
	assert_non_null(b);
	/* Two orders of adding give one digest. */
	const char *second = strcmp(first, "bin/tool") == 0 ? "include/x.h" : "bin/tool";
	assert_ok(ws_tree_add_file(b, first, first, strlen(first), false, &err), err);
	assert_ok(ws_tree_add_file(b, second, second, strlen(second), false, &err), err);
	assert_ok(ws_tree_set_executable(b, "bin/tool", &err), err);
	assert_ok(ws_tree_add_link(b, "inc", "include", &err), err);
	assert_ok(ws_tree_add_link(b, "include/y.h", "../include/x.h", &err), err);
	struct ws_tree tree;
	assert_ok(ws_tree_commit(b, a, &tree, &err), err);
	return tree;
}

WS_TEST(a_tree_is_the_same_however_it_was_made)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree x = build_tree(&store, "bin/tool", a);
	struct ws_tree y = build_tree(&store, "include/x.h", a);
	assert_true(ws_digest_eq(&x.digest, &y.digest));
	assert_string_equal(x.path, y.path);
	assert_int_equal(x.count, 4);
	assert_int_equal(access(ws_path_join(a, x.path, "bin/tool", NULL), X_OK), 0);
}

WS_TEST(looking_into_a_tree_follows_its_links)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a);
	const struct ws_tree_entry *file = ws_tree_lookup(&tree, "include/x.h");
	assert_non_null(file);
	assert_ptr_equal(ws_tree_lookup(&tree, "inc/x.h"), file);
	assert_ptr_equal(ws_tree_lookup(&tree, "inc/y.h"), file);
	assert_null(ws_tree_lookup(&tree, "inc"));
	assert_null(ws_tree_lookup(&tree, "include"));
	assert_null(ws_tree_lookup(&tree, "inc/z.h"));
}

WS_TEST_ERR(trees_refuse_what_leaves_them)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree_builder *b = ws_tree_begin(&store, "demo-1", a, &err);
	assert_fails(ws_tree_add_file(b, "../x", "", 0, false, &err), err, WS_ERR_FETCH);
	assert_fails(ws_tree_add_link(b, "a/l", "../../x", &err), err, WS_ERR_FETCH);
	assert_fails(ws_tree_add_link(b, "l", "/etc/passwd", &err), err, WS_ERR_FETCH);
	assert_ok(ws_tree_add_file(b, "x", "", 0, false, &err), err);
	assert_fails(ws_tree_add_file(b, "x", "", 0, false, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "twice");
	/* A link that was added must not be written through, nor a file be a folder. */
	assert_ok(ws_tree_add_link(b, "d", "e", &err), err);
	assert_fails(ws_tree_add_file(b, "d/x", "", 0, false, &err), err, WS_ERR_FETCH);
	assert_fails(ws_tree_add_file(b, "x/y", "", 0, false, &err), err, WS_ERR_FETCH);
	/* Each alone stays inside; together they would leave: up is f, and f/../../x is above the
	 * root. */
	assert_ok(ws_tree_add_link(b, "f/e/up", "..", &err), err);
	assert_fails(ws_tree_add_link(b, "l2", "f/e/up/../../x", &err), err, WS_ERR_FETCH);
	assert_ok(ws_tree_add_link(b, "g/h", "../x", &err), err);
	ws_tree_abandon(b);
}

WS_TEST_ERR(adopting_takes_what_a_tool_left)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree_builder *b = ws_tree_begin(&store, "demo-1", a, &err);
	const char *dir = ws_tree_folder(b);
	assert_ok(ws_fs_write(ws_path_join(a, dir, "a.c", NULL), "1", 1, 0644, &err), err);
	assert_ok(ws_fs_write(ws_path_join(a, dir, "run", NULL), "2", 1, 0755, &err), err);
	assert_int_equal(symlink("a.c", ws_path_join(a, dir, "b.c", NULL)), 0);
	assert_ok(ws_tree_adopt(b, &err), err);
	assert_int_equal(ws_tree_added(b, "run")->kind, WS_TREE_EXECUTABLE);
	assert_int_equal(ws_tree_added(b, "b.c")->kind, WS_TREE_LINK);
	assert_int_equal(symlink("/etc", ws_path_join(a, dir, "out", NULL)), 0);
	assert_fails(ws_tree_adopt(b, &err), err, WS_ERR_FETCH);
	ws_tree_abandon(b);
}

WS_TEST_ERR(a_remembered_tree_is_found_until_it_is_deleted)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a), found;
	const char *key = "aa00000000000000000000000000000000000000000000000000000000000000";
	assert_false(ws_tree_recall(&store, key, a, &found));
	assert_ok(ws_tree_remember(&store, key, &tree, &err), err);
	assert_true(ws_tree_recall(&store, key, a, &found));
	assert_true(ws_digest_eq(&tree.digest, &found.digest));
	assert_ok(ws_fs_remove(tree.path, &err), err);
	assert_false(ws_tree_recall(&store, key, a, &found));
	/* Made again, it is there again. */
	build_tree(&store, "bin/tool", a);
	assert_true(ws_tree_recall(&store, key, a, &found));
}

/* A folder's name has 16 digits: whoever asks for another digest with the same does not mean this
 * tree. */
WS_TEST(a_tree_that_is_not_asked_for_stays)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a), found;
	const char *other = ws_arena_printf(
		a, "%.16s%.48s", tree.digest.hex, "000000000000000000000000000000000000000000000000");
	assert_false(ws_tree_find(&store, tree.name, other, a, &found));
	assert_true(ws_tree_find(&store, tree.name, tree.digest.hex, a, &found));
}

/* Opens the store and asks for the tree, as a user without privileges or with all files open. */
static bool
is_found(const char *path, const struct ws_tree *tree, bool is_other_user, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_store store;
	struct ws_tree found;
	struct rlimit before = {0};
	assert_ok(ws_store_open(path, a, &store, err), *err);
	if (is_other_user) {
		assert_int_equal(seteuid(65534), 0);
	} else {
		before = ws_test_open_no_more();
	}
	bool is_there = ws_tree_find(&store, tree->name, tree->digest.hex, a, &found);
	if (is_other_user) {
		assert_int_equal(seteuid(0), 0);
	} else {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	}
	assert_null(is_there ? NULL : ws_tree_begin(&store, "again-1", a, err));
	ws_store_close(&store);
	return is_there;
}

WS_TEST_ERR(a_tree_that_cannot_be_read_stays)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a);
	const char *tool = ws_path_join(a, tree.path, "bin/tool", NULL);
	const char *list = ws_arena_printf(a, "%s.list", tree.path);
	ws_store_close(&store);
	assert_false(is_found(store.path, &tree, false, a, &err));
	assert_contains(err.text, "Too many open files");
	assert_true(ws_fs_exists(tool) && ws_fs_exists(list));
	if (geteuid() == 0) {
		assert_false(is_found(store.path, &tree, true, a, &err));
		assert_contains(err.text, "Permission denied");
		assert_true(ws_fs_exists(tool) && ws_fs_exists(list));
	}
	struct ws_tree found;
	assert_ok(ws_store_open(store.path, a, &store, &err), err);
	assert_true(ws_tree_find(&store, tree.name, tree.digest.hex, a, &found));
}

WS_TEST_ERR(a_folder_of_somebody_does_not_become_a_store)
{
	struct ws_store store;
	const char *dir = ws_test_dir(a);
	const char *theirs = ws_path_join(a, dir, "partial/theirs", NULL);
	assert_ok(ws_fs_mkdirs(theirs, &err), err);
	assert_fails(ws_store_open(dir, a, &store, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "is not a store, and it is not empty");
	assert_cure(err, WS_CURE_STORE, "");
	assert_false(ws_fs_exists(ws_path_join(a, dir, "cas", NULL)));
	/* A fresh file system is not quite empty; a store may have lost its version. */
	const char *fresh = ws_test_dir(a);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, fresh, "lost+found", NULL), &err), err);
	assert_ok(ws_store_open(fresh, a, &store, &err), err);
	ws_store_close(&store);
	assert_ok(ws_fs_remove(ws_path_join(a, fresh, "VERSION", NULL), &err), err);
	assert_ok(ws_store_open(fresh, a, &store, &err), err);
	ws_store_close(&store);
}

static void
read_list(const struct ws_tree *tree, struct ws_buf *text, struct ws_arena *a)
{
	struct ws_err err;
	ws_buf_clear(text);
	assert_ok(ws_fs_read(ws_arena_printf(a, "%s.list", tree->path), text, &err), err);
}

/* Locks contain its digest. */
WS_TEST_ERR(a_listing_has_sizes_and_the_digest_of_one_without)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a), found;
	WS_AUTO_BUF struct ws_buf text = {0}, old = {0};
	read_list(&tree, &text, a);
	assert_contains(text.data, "/8 bin/tool\n");
	assert_contains(text.data, "/11 include/x.h\nl ../include/x.h\tinclude/y.h\n");
	assert_int_equal(ws_tree_lookup(&tree, "bin/tool")->size_bytes, 8);
	for (size_t i = 0; i < tree.count; i++) {
		const struct ws_tree_entry *entry = &tree.entries[i];
		bool link = entry->kind == WS_TREE_LINK;
		ws_buf_printf(&old, "%c %s%c%s\n", "fxl"[entry->kind], entry -> value, link ? '\t' : ' ',
			entry->path);
	}
	struct ws_digest digest = ws_digest_bytes(old.data, old.len);
	assert_true(ws_digest_eq(&digest, &tree.digest));
	/* A store that was made before listings had sizes gets them. */
	assert_ok(
		ws_fs_write_atomic(ws_arena_printf(a, "%s.list", tree.path), old.data, old.len, 0444, &err),
		err);
	ws_store_close(&store);
	assert_ok(ws_store_open(store.path, a, &store, &err), err);
	assert_true(ws_tree_find(&store, tree.name, tree.digest.hex, a, &found));
	assert_int_equal(ws_tree_lookup(&found, "include/x.h")->size_bytes, 11);
	read_list(&tree, &old, a);
	assert_string_equal(old.data, text.data);
}

/* A wrong size in the listing would be sent with the tree. */
WS_TEST_ERR(a_listing_with_a_wrong_size_is_damaged)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a), found;
	WS_AUTO_BUF struct ws_buf text = {0};
	read_list(&tree, &text, a);
	strstr(text.data, "/8 bin/tool")[1] = '9';
	assert_ok(ws_fs_write_atomic(
				  ws_arena_printf(a, "%s.list", tree.path), text.data, text.len, 0444, &err),
		err);
	ws_store_close(&store);
	assert_ok(ws_store_open(store.path, a, &store, &err), err);
	assert_false(ws_tree_find(&store, tree.name, tree.digest.hex, a, &found));
	assert_false(ws_fs_exists(tree.path));
	build_tree(&store, "bin/tool", a);
	assert_true(ws_tree_find(&store, tree.name, tree.digest.hex, a, &found));
}

WS_TEST_ERR(a_tree_without_a_listing_is_made_again)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_tree tree = build_tree(&store, "bin/tool", a);
	/* As a cleaner of caches leaves it: folders, no files. */
	const char *tool = ws_path_join(a, tree.path, "bin/tool", NULL);
	assert_ok(ws_fs_remove(tool, &err), err);
	assert_ok(ws_fs_remove(ws_arena_printf(a, "%s.list", tree.path), &err), err);
	assert_true(ws_fs_is_dir(tree.path));
	struct ws_tree again = build_tree(&store, "bin/tool", a);
	assert_string_equal(again.path, tree.path);
	assert_true(ws_fs_exists(tool));
}
