/* test_fetch_patch.c - unified diffs: what git writes is undone exactly, what does not fit is
 * reported. */
#include "test.h"

#include "base/fs.h"
#include "compile.h"
#include "fetch/patch.h"

#define CASES 120

static bool
parse(const char *text, struct ws_arena *a, struct ws_patch_file *patch, struct ws_err *err)
{
	return ws_patch_parse("fix.patch", text, strlen(text), a, patch, err);
}

WS_TEST(a_change_is_applied)
{
	static const char text[] =
		"From: somebody\n\n---\n a.c | 2 +-\n\n"
		"diff --git a/src/a.c b/src/a.c\nindex 123..456 100644\n"
		"--- a/src/a.c\n+++ b/src/a.c\n"
		"@@ -1,3 +1,4 @@ int main()\n one\n-two\n+TWO\n+and more\n three\n"
		"@@ -5 +6 @@\n-five\n\\ No newline at end of file\n+five\n-- \n2.39.5\n";
	struct ws_patch_file patch;
	struct ws_err err = {0};
	assert_ok(parse(text, a, &patch, &err), err);
	assert_int_equal(patch.count, 1);
	assert_string_equal(patch.changes[0].path, "src/a.c");
	assert_int_equal(patch.changes[0].kind, WS_PATCH_CHANGES);
	assert_int_equal(patch.changes[0].hunk_count, 2);
	WS_AUTO_BUF struct ws_buf after = {0};
	assert_ok(ws_patch_apply(&patch, &patch.changes[0], ws_str_of("one\ntwo\nthree\nfour\nfive"),
				  &after, &err),
		err);
	assert_string_equal(ws_buf_text(&after), "one\nTWO\nand more\nthree\nfour\nfive\n");
}

WS_TEST(files_come_and_go)
{
	static const char text[] =
		"--- /dev/null\n+++ b/new.h\n@@ -0,0 +1,2 @@\n+x\n+y\n"
		"--- a/old.h\t2020-01-01 00:00:00\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"
		"diff --git a/run.sh b/run.sh\nnew file mode 100755\n"
		"index 0000000..e69de29\n"
		"diff --git a/t.sh b/t.sh\nold mode 100644\nnew mode 100755\n"
		"diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n";
	struct ws_patch_file patch;
	struct ws_err err = {0};
	assert_ok(parse(text, a, &patch, &err), err);
	assert_int_equal(patch.count, 5);
	static const struct {
		const char *path;
		enum ws_patch_kind kind;
		int executable;
		const char *before, *after;
	} expected[] = {
		{"new.h", WS_PATCH_CREATES, -1, "", "x\ny\n"},
		{"old.h", WS_PATCH_DELETES, -1, "z\n", ""},
		{"run.sh", WS_PATCH_CREATES, 1, "", ""},
		{"t.sh", WS_PATCH_CHANGES, 1, "t\n", "t\n"},
		{"e", WS_PATCH_DELETES, -1, "", ""},
	};
	WS_AUTO_BUF struct ws_buf after = {0};
	for (size_t i = 0; i < WS_LEN(expected); i++) {
		const struct ws_patch_change *change = &patch.changes[i];
		assert_string_equal(change->path, expected[i].path);
		assert_int_equal(change->kind, expected[i].kind);
		assert_int_equal(change->executable, expected[i].executable);
		assert_ok(ws_patch_apply(&patch, change, ws_str_of(expected[i].before), &after, &err), err);
		assert_string_equal(ws_buf_text(&after), expected[i].after);
	}
	assert_fails(ws_patch_apply(&patch, &patch.changes[1], ws_str_of("z\nmore\n"), &after, &err),
		err, WS_ERR_CONFIG);
	assert_contains(err.text, "'old.h' is deleted, but has lines");
}

WS_TEST(the_reader_does_not_guess)
{
	static const char text[] = "--- a/a.c\n+++ b/a.c\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n";
	static const struct {
		const char *before, *reported, *line;
	} cases[] = {
		{"one\ntwo\nTHREE\nfour\n", "hunk 1 of 'a.c' does not match line 3, which is 'THREE'",
			"fix.patch:5:1"},
		{"zero\none\ntwo\nthree\nfour\n", "hunk 1 of 'a.c' does not match line 2, which is 'one'",
			"fix.patch:4:1"},
		{"one\ntwo\nthree\nfour", "does not match line 4, which is 'four'", "fix.patch:7:1"},
		{"one\ntwo\nthree\n", "the file ends at line 3", "fix.patch:7:1"},
		{"", "the file ends at line 0", "fix.patch:3:1"},
		{"one\ntwo \nthree\nfour\n", "does not match line 2, which is 'two'", "fix.patch:4:1"},
		{"one\r\ntwo\r\nthree\r\nfour\r\n", "does not match line 2", "fix.patch:4:1"},
	};
	struct ws_patch_file patch;
	struct ws_err err = {0};
	assert_ok(parse(text, a, &patch, &err), err);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf after = {0};
		assert_fails(
			ws_patch_apply(&patch, &patch.changes[0], ws_str_of(cases[i].before), &after, &err),
			err, WS_ERR_CONFIG);
		assert_contains(err.text, cases[i].reported);
		assert_string_equal(err.place, cases[i].line);
		assert_contains(err.cure, "make the patch again");
	}
}

WS_TEST(patches_that_cannot_be_trusted)
{
	static const struct {
		const char *text, *reported;
	} cases[] = {
		{"", "holds no change"},
		{"hello\n", "holds no change"},
		{"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "'../x' leaves the source folder"},
		{"--- a//etc/x\n+++ b//etc/x\n@@ -1 +1 @@\n-a\n+b\n", "leaves the source folder"},
		{"--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n", "does not start with 'a/'"},
		{"--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "does not start with 'a/'"},
		{"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "renames are not applied"},
		{"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "renames are not applied"},
		{"diff --git a/x b/y\nsimilarity index 90%\nrename from x\n", "renames are not applied"},
		{"diff --git a/../x b/../x\nnew file mode 100644\n", "leaves the source folder"},
		{"diff --git a/x b/x\nnew file mode 120000\n", "is not a regular file"},
		{"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n", "binary patches"},
		{"diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "binary patches"},
		{"--- a/x\n@@ -1 +1 @@\n-a\n+b\n", "a '+++' line should follow"},
		{"--- a/x\n+++ b/x\n-a\n+b\n", "a '@@' line should follow"},
		{"--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n", "this is not a '@@"},
		{"--- a/x\n+++ b/x\n@@ -1,99999999999999999999 +1 @@\n-a\n+b\n", "this is not a '@@"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "has other lines than"},
		{"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "has other lines than"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", "has more lines than"},
		{"--- a/x\n+++ b/x\n@@ -1,0 +1,0 @@\n", "is empty or not behind"},
		{"--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n",
			"not behind the one before"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+b\n",
			"'x' is repeated"},
		{"diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
			"both changed and created"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_patch_file patch;
		struct ws_err err = {0};
		if (parse(cases[i].text, a, &patch, &err)) {
			fail_msg("taken:\n%s", cases[i].text);
		}
		assert_int_equal(err.kind, WS_ERR_CONFIG);
		assert_contains(err.text, cases[i].reported);
	}
	struct ws_patch_file patch;
	struct ws_err err = {0};
	/* Valid except for one byte, so that only this rule can refuse it. */
	static const char zero[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\0c\n";
	assert_fails(ws_patch_parse("x", zero, sizeof(zero) - 1, a, &patch, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "'x' holds a zero byte");
}

static const struct ws_patch_change *
change_of(const struct ws_patch_file *patch, const char *path)
{
	for (size_t i = 0; i < patch->count; i++) {
		if (strcmp(patch->changes[i].path, path) == 0) {
			return &patch->changes[i];
		}
	}
	return NULL;
}

static void
compare_file(
	const char *top, const struct ws_patch_file *patch, const char *name, struct ws_arena *a)
{
	const char *old = ws_path_join(a, top, "old", name, NULL);
	const char *new = ws_path_join(a, top, "new", name, NULL);
	const struct ws_patch_change *change = change_of(patch, name);
	WS_AUTO_BUF struct ws_buf before = {0};
	WS_AUTO_BUF struct ws_buf expected = {0};
	WS_AUTO_BUF struct ws_buf after = {0};
	struct ws_err err = {0};
	struct stat old_status, new_status;
	bool was = stat(old, &old_status) == 0, is = stat(new, &new_status) == 0;
	if (was) {
		assert_ok(ws_fs_read(old, &before, &err), err);
	}
	if (is) {
		assert_ok(ws_fs_read(new, &expected, &err), err);
	}
	if (!change) {
		assert_int_equal(was, is);
		assert_string_equal(ws_buf_text(&before), ws_buf_text(&expected));
		return;
	}
	assert_int_equal(change->kind == WS_PATCH_CREATES, !was);
	assert_int_equal(change->kind == WS_PATCH_DELETES, !is);
	assert_ok(ws_patch_apply(patch, change, ws_buf_str(&before), &after, &err), err);
	assert_int_equal(after.len, expected.len);
	assert_string_equal(ws_buf_text(&after), ws_buf_text(&expected));
	if (is && change->executable >= 0) {
		assert_int_equal(change->executable, (new_status.st_mode & 0100) != 0);
	} else if (is && was) {
		assert_int_equal(old_status.st_mode & 0100, new_status.st_mode & 0100);
	}
}

/* random patches of git give the same files as git. */
WS_TEST(git_agrees)
{
	const char *dir = ws_test_dir(a);
	const char *const argv[] = {"/usr/bin/env", "python3", WS_TESTS_DIR "/support/make_patches.py",
		dir, ws_arena_printf(a, "%d", CASES), NULL};
	struct ws_err err = {0};
	ws_test_run(a, argv, NULL);
	static const char *const names[] = {"one.c", "sub/two words.txt", "sub/three.py"};
	unsigned changes = 0;
	for (int n = 0; n < CASES; n++) {
		const char *top = ws_arena_printf(a, "%s/%d", dir, n);
		WS_AUTO_BUF struct ws_buf text = {0};
		assert_ok(ws_fs_read(ws_path_join(a, top, "patch", NULL), &text, &err), err);
		struct ws_patch_file patch = {0};
		if (text.len > 0) {
			assert_ok(ws_patch_parse(top, text.data, text.len, a, &patch, &err), err);
		}
		for (size_t i = 0; i < WS_LEN(names); i++) {
			compare_file(top, &patch, names[i], a);
		}
		changes += (unsigned)patch.count;
	}
	assert_true(changes > CASES);
}
