/* test_fetch_source.c - a recipe's sources: archives from a real index, commits, folders,
 * patches. */
#include "test.h"

#include "base/fs.h"
#include "fetch/git.h"
#include "fetch/source.h"
#include "git_served.h"
#include "net/index_config.h"
#include "served.h"
#include "store/cas.h"
#include "sys/child.h"

struct listener {
	struct ws_sink sink;
	struct ws_buf warnings;
};

static void
hear(struct ws_sink *self, const struct ws_event *event)
{
	if (event->kind == WS_EVENT_WARNING) {
		ws_buf_printf(&((struct listener *)self)->warnings, "%s\n", event->subject);
	}
}

struct world {
	struct ws_served s;
	struct ws_store store;
	struct ws_http *http;
	struct ws_index_choice choice;
	struct ws_index_config indexes;
	struct ws_fetch fetch;
	struct ws_events events;
	struct listener listener;
	struct ws_source_wish wish;
	struct ws_err err; /* of the last source */
	struct ws_arena *a;
};

/* It stays where it is, because the fetch points into it. */
static struct world *
make_world(struct ws_arena *a)
{
	struct ws_err err = {0};
	struct world *w = WS_NEW(a, struct world);
	*w = (struct world){.s = ws_served_start(a), .a = a, .listener = {.sink = {hear}}};
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &err), err);
	w->http = ws_served_http(NULL);
	const char **urls = WS_NEW(a, const char *);
	urls[0] = ws_served_url(&w->s, "/simple");
	w->choice = (struct ws_index_choice){"default", urls, 1, "a test"};
	w->indexes = (struct ws_index_config){.choices = &w->choice, .count = 1};
	ws_events_add(&w->events, &w->listener.sink);
	w->fetch = (struct ws_fetch){.store = &w->store,
		.http = w->http,
		.index = ws_index_open(w->http, a),
		.indexes = &w->indexes,
		.events = &w->events};
	w->wish = (struct ws_source_wish){.name = "demo", .version = "1.0"};
	return w;
}

static void
end_world(struct world *const *w)
{
	ws_http_close((*w)->http);
	ws_store_close(&(*w)->store);
	ws_buf_release(&(*w)->listener.warnings);
}

#define AUTO_WORLD __attribute__((cleanup(end_world)))

static void
run(const char *script, const char *first, const char *second)
{
	const char *const argv[] = {"/bin/sh", "-c", script, "sh", first, second, NULL};
	struct ws_child_order command = {.argv = argv, .with_stderr = true};
	WS_AUTO_BUF struct ws_buf said = {0};
	struct ws_err err = {0};
	if (!ws_child_ask(&command, &said, &err)) {
		fail_msg("%s: %s", err.text, ws_buf_text(&said));
	}
}

/* A folder with the sources of demo, some of them odd. */
static const char *
make_sources(struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	run("mkdir -p $1/demo-1.0/csrc && cd $1/demo-1.0 && printf 'one\\ntwo\\n' >csrc/a.cu && "
		"printf x >setup.py && chmod 755 setup.py && ln -s csrc/a.cu l && "
		"ln csrc/a.cu twin.cu && mkdir .git && touch .git/HEAD",
		dir, NULL);
	return dir;
}

/* Packs what @a script leaves of them as files/@a name on the index; its digest. */
static const char *
serve_sdist(struct world *w, const char *name, const char *script)
{
	const char *dir = make_sources(w->a);
	run(ws_arena_printf(w->a, "cd $1 && rm -rf demo-1.0/.git && %s", script), dir, NULL);
	ws_served_put(&w->s, ws_arena_printf(w->a, "files/%s", name), 1);
	const char *to = ws_arena_printf(w->a, "%s/files/%s", w->s.dir, name);
	run("cd $1 && tar -czf $2 --sort=name *", dir, to);
	struct ws_digest digest;
	struct ws_err err = {0};
	assert_ok(ws_digest_file(to, &digest, NULL, &err), err);
	return ws_arena_strdup(w->a, digest.hex);
}

static struct ws_source_spec
sdist(const char *sha256)
{
	return (struct ws_source_spec){
		.kind = WS_SOURCE_SDIST, .package = "demo", .file = "demo-1.0.tar.gz", .sha256 = sha256};
}

static bool
bring(struct world *w, const struct ws_source_spec *specs, size_t count,
	struct ws_source_found *found)
{
	w->wish.specs = specs;
	w->wish.spec_count = count;
	w->err = (struct ws_err){0};
	return ws_source_bring(&w->fetch, &w->wish, w->a, found, &w->err);
}

static void
assert_refused(struct world *w, const struct ws_source_spec *specs, size_t count,
	enum ws_err_kind kind, const char *text)
{
	struct ws_source_found found;
	assert_fails(bring(w, specs, count, &found), w->err, kind);
	assert_contains(w->err.text, text);
}

static void
assert_listing(const struct ws_tree *tree, const char *expected)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < tree->count; i++) {
		ws_buf_printf(&b, "%c %s\n", "fxl"[tree->entries[i].kind], tree -> entries[i].path);
	}
	assert_string_equal(ws_buf_text(&b), expected);
}

static const char *
contents(const struct ws_tree *tree, const char *path, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err = {0};
	assert_ok(ws_fs_read(ws_path_join(a, tree->path, path, NULL), &b, &err), err);
	return ws_buf_copy(&b, a);
}

WS_TEST(an_sdist_is_fetched_once)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	struct ws_source_found found, again;
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_listing(&found.tree, "f csrc/a.cu\nl l\nx setup.py\nf twin.cu\n");
	assert_string_equal(contents(&found.tree, "twin.cu", a), "one\ntwo\n");
	assert_string_equal(found.tree.name, "src-demo-1.0");
	assert_ptr_equal(found.spec, &spec);
	assert_false(found.remembered);
	assert_true(ws_cas_has(&w->store, spec.sha256));
	unsigned asked = ws_served_count(&w->s, "GET");

	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_true(again.remembered);
	assert_true(ws_digest_eq(&again.tree.digest, &found.tree.digest));

	/* The tree is gone, the archive is not. */
	assert_ok(ws_fs_remove(found.tree.path, &w->err), w->err);
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_false(again.remembered);
	assert_true(ws_digest_eq(&again.tree.digest, &found.tree.digest));
	assert_int_equal(ws_served_count(&w->s, "GET"), asked);
	assert_string_equal(ws_buf_text(&w->listener.warnings), "");
}

WS_TEST(a_stop_is_heard_while_an_archive_is_unpacked)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	struct ws_stop stop = {.fd = -1, .deadline_ms = 1};
	w->fetch.stop = &stop;
	struct ws_source_found found;
	assert_refused(w, &spec, 1, WS_ERR_STOPPED, "");
	assert_true(ws_cas_has(&w->store, spec.sha256)); /* the download was not asked */
	w->fetch.stop = NULL;
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_false(found.remembered);
}

WS_TEST(sources_are_tried_in_order)
{
	AUTO_WORLD struct world *w = make_world(a);
	const char *sha256 = serve_sdist(w, "demo-1.0.tar.gz", "true");
	struct ws_digest other = ws_digest_bytes("x", 1);
	const char *wrong = other.hex;
	struct ws_source_spec specs[] = {
		sdist(wrong),
		{.kind = WS_SOURCE_SDIST, .package = "demo", .file = "demo-2.0.tar.gz", .sha256 = wrong},
		{.kind = WS_SOURCE_GIT,
			.url = "https://h/x",
			.commit = "67c093da5dc122b8656d9447f4d3fa45c982c432"},
		sdist(sha256),
	};
	struct ws_source_found found;
	assert_ok(bring(w, specs, 4, &found), w->err);
	assert_ptr_equal(found.spec, &specs[3]);
	assert_contains(ws_buf_text(&w->listener.warnings), "'demo' 1.0: ");
	assert_contains(ws_buf_text(&w->listener.warnings), "git is not available; trying the next");

	assert_refused(w, specs, 3, WS_ERR_FETCH, "no source of 'demo' 1.0: ");
	assert_contains(w->err.cure, "then 'demo-2.0.tar.gz': ");
	assert_contains(w->err.cure, "then 'https://h/x': git is not available");

	specs[0].sha256 = "abc";
	assert_refused(w, specs, 4, WS_ERR_CONFIG, "needs its sha256");
	assert_refused(w, specs, 0, WS_ERR_CONFIG, "");
}

WS_TEST(the_top_folder_is_taken_off)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec =
		sdist(serve_sdist(w, "demo-1.0.tar.gz", "echo beside >readme; rm demo-1.0/twin.cu"));
	struct ws_source_found found;
	assert_refused(w, &spec, 1, WS_ERR_FETCH,
		"'demo-1.0.tar.gz' holds 'readme' next to its top folder 'demo-1.0'");
	assert_contains(w->err.cure, "\"strip\"");
	spec.strip = "";
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_listing(
		&found.tree, "f demo-1.0/csrc/a.cu\nl demo-1.0/l\nx demo-1.0/setup.py\nf readme\n");
	spec.strip = "demo-2.0";
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "");

	spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	spec.strip = "demo-1.0/csrc";
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "");
	spec.strip = "demo-1.0";
	w->fetch.index = ws_index_open(w->http, a);
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_listing(&found.tree, "f csrc/a.cu\nl l\nx setup.py\nf twin.cu\n");
}

WS_TEST(hostile_archives_are_reported)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec =
		sdist(serve_sdist(w, "demo-1.0.tar.gz", "ln -s ../../etc/passwd demo-1.0/evil"));
	assert_refused(w, &spec, 1, WS_ERR_FETCH,
		"'demo-1.0.tar.gz' breaks the archive rule 'link' at 'demo-1.0/evil'");
	/* Inside the archive, but outside once the top folder is off. */
	w->fetch.index = ws_index_open(w->http, a);
	spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "ln -s ../demo-1.0/l demo-1.0/evil"));
	assert_refused(
		w, &spec, 1, WS_ERR_FETCH, "the link 'evil' to '../demo-1.0/l', which leaves it");
	w->fetch.index = ws_index_open(w->http, a);
	spec = sdist(serve_sdist(w, "demo-1.0.tar.gz",
		"printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:0\\n' >demo-1.0/k.cu"));
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "'k.cu' in 'demo-1.0.tar.gz' is a git-LFS pointer");
	/* No partial file is left. */
	run("test -z \"$(find $1/partial $1/trees -mindepth 1)\"", w->store.path, NULL);
}

/* A patch file beside a recipe. */
static struct ws_patch
patch(struct world *w, const char *name, const char *text)
{
	const char *path = ws_path_join(w->a, ws_test_dir(w->a), name, NULL);
	struct ws_err err = {0};
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	struct ws_digest digest = ws_digest_bytes(text, strlen(text));
	return (struct ws_patch){.file = path, .sha256 = ws_arena_strdup(w->a, digest.hex)};
}

WS_TEST(patches_are_applied_in_order)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	struct ws_patch first = patch(w, "1.patch",
		"--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
		"--- /dev/null\n+++ b/csrc/new.h\n@@ -0,0 +1 @@\n+new\n"
		"--- a/setup.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n");
	struct ws_patch second = patch(w, "2.patch",
		"--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -2 +2 @@\n-TWO\n+2\n"
		"diff --git a/csrc/new.h b/csrc/new.h\nold mode 100644\nnew mode 100755\n");
	const struct ws_patch *patches[] = {&first, &second};
	struct ws_source_found plain, one, both, again;
	assert_ok(bring(w, &spec, 1, &plain), w->err);
	w->wish.patches = patches;
	w->wish.patch_count = 1;
	assert_ok(bring(w, &spec, 1, &one), w->err);
	assert_listing(&one.tree, "f csrc/a.cu\nf csrc/new.h\nl l\nf twin.cu\n");
	assert_string_equal(contents(&one.tree, "csrc/a.cu", a), "one\nTWO\n");
	assert_string_equal(contents(&one.tree, "twin.cu", a), "one\ntwo\n");
	w->wish.patch_count = 2;
	assert_ok(bring(w, &spec, 1, &both), w->err);
	assert_listing(&both.tree, "f csrc/a.cu\nx csrc/new.h\nl l\nf twin.cu\n");
	assert_string_equal(contents(&both.tree, "csrc/a.cu", a), "one\n2\n");
	assert_false(ws_digest_eq(&one.tree.digest, &both.tree.digest));
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_true(again.remembered);
	assert_true(ws_digest_eq(&again.tree.digest, &both.tree.digest));
}

/* The lock replaces missing entries of the store; a patched tree is remembered for its source tree
 * only. */
WS_TEST(a_pinned_tree_is_taken_under_its_definition)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec spec = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	struct ws_source_spec folder = {.kind = WS_SOURCE_FOLDER, .path = make_sources(a)};
	struct ws_patch change =
		patch(w, "x.patch", "--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1 +1 @@\n-one\n+1\n");
	const struct ws_patch *patches[] = {&change};
	struct ws_source_found first, other, again;
	w->wish.patches = patches;
	w->wish.patch_count = 1;
	assert_ok(bring(w, &spec, 1, &first), w->err);

	/* A different tree of that name, as from a bundle; the store drops its remembered result. */
	w->wish.patch_count = 0;
	run("printf evil > $1/demo-1.0/evil.cu", folder.path, NULL);
	folder.path = ws_path_join(a, folder.path, "demo-1.0", NULL);
	assert_ok(bring(w, &folder, 1, &other), w->err);
	assert_ok(ws_fs_remove(ws_store_path(&w->store, a, "ac"), &w->err), w->err);
	assert_ok(ws_fs_remove(ws_store_path(&w->store, a, "cas"), &w->err), w->err);
	ws_served_put(&w->s, "files/demo-1.0.tar.gz", 1);

	struct ws_pin_source pin = {
		.definition = first.definition, .tree = ws_arena_strdup(a, other.tree.digest.hex)};
	w->wish.pin = &pin;
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_true(again.remembered);
	assert_true(ws_digest_eq(&again.tree.digest, &other.tree.digest));
	/* Patched, it is still that tree. */
	w->wish.patch_count = 1;
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_string_equal(contents(&again.tree, "evil.cu", a), "evil");
	assert_string_equal(contents(&again.tree, "csrc/a.cu", a), "1\ntwo\n");
	/* A pin of a different definition does not count. */
	pin.definition = other.tree.digest.hex;
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "");
}

WS_TEST(patches_that_do_not_fit_end_it)
{
	AUTO_WORLD struct world *w = make_world(a);
	struct ws_source_spec good = sdist(serve_sdist(w, "demo-1.0.tar.gz", "true"));
	struct ws_source_spec specs[] = {good, good};
	static const struct {
		const char *text, *reported, *place;
	} cases[] = {
		{"--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1 +1 @@\n-ONE\n+1\n",
			"hunk 1 of 'csrc/a.cu' does not match line 1, which is 'one'", "x.patch:4:1"},
		{"--- a/gone.c\n+++ b/gone.c\n@@ -1 +1 @@\n-x\n+y\n",
			"'gone.c' does not exist in 'demo-1.0.tar.gz'", "x.patch:1:1"},
		{"--- /dev/null\n+++ b/setup.py\n@@ -0,0 +1 @@\n+y\n",
			"'setup.py' is already there in 'demo-1.0.tar.gz'", "x.patch:1:1"},
		{"--- a/l\n+++ b/l\n@@ -1 +1 @@\n-one\n+y\n", "a patch changes 'l', which is a link", ""},
		{"hello\n", "'x.patch' holds no change", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_patch bad = patch(w, "x.patch", cases[i].text);
		const struct ws_patch *patches[] = {&bad};
		w->wish.patches = patches;
		w->wish.patch_count = 1;
		assert_refused(w, specs, 2, WS_ERR_CONFIG, cases[i].reported);
		assert_contains(w->err.text, "'demo' 1.0: ");
		assert_string_equal(w->err.place, cases[i].place);
	}
	assert_string_equal(ws_buf_text(&w->listener.warnings), "");

	struct ws_patch bad = patch(w, "x.patch", cases[0].text);
	bad.sha256 = good.sha256;
	const struct ws_patch *patches[] = {&bad};
	w->wish.patches = patches;
	assert_refused(w, specs, 2, WS_ERR_CONFIG, "is not the one that the recipe names");
}

WS_TEST(a_folder_is_copied)
{
	AUTO_WORLD struct world *w = make_world(a);
	const char *dir = ws_path_join(a, make_sources(a), "demo-1.0", NULL);
	struct ws_source_spec spec = {.kind = WS_SOURCE_FOLDER, .path = dir};
	struct ws_source_found found, again;
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_listing(&found.tree, "f csrc/a.cu\nl l\nx setup.py\nf twin.cu\n");
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_true(ws_digest_eq(&again.tree.digest, &found.tree.digest));
	assert_false(again.remembered);
	run("echo three >>$1/csrc/a.cu", dir, NULL);
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_false(ws_digest_eq(&again.tree.digest, &found.tree.digest));
	assert_string_equal(contents(&found.tree, "csrc/a.cu", a), "one\ntwo\n");

	run("ln -s /etc/passwd $1/evil", dir, NULL);
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "breaks the archive rule 'link' at 'evil'");
	run("rm $1/evil && mkfifo $1/pipe", dir, NULL);
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "breaks the archive rule 'type' at 'pipe'");
	run("rm $1/pipe && python3 -c 'import socket, sys; "
		"socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "
		"$1/s",
		dir, NULL);
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "breaks the archive rule 'type' at 's'");
	/* A sparse file is neither read nor written to the store. */
	run("rm $1/s && truncate -s 20G $1/holes", dir, NULL);
	assert_refused(
		w, &spec, 1, WS_ERR_FETCH, "rule 'amount' at 'holes': it has 21474836480 bytes, more than");
	run("truncate -s 2147483649 $1/holes", dir, NULL);
	assert_refused(w, &spec, 1, WS_ERR_FETCH, "rule 'amount' at 'holes'");
	assert_contains(w->err.cure, "name a folder that holds the sources alone");
	spec.path = "/nonexistent";
	assert_refused(w, &spec, 1, WS_ERR_CONFIG, "");
}

WS_TEST(a_commit_gives_its_tree_id)
{
	AUTO_WORLD struct world *w = make_world(a);
	WS_AUTO_GIT_SERVED struct ws_git_served s = ws_git_served_start(a);
	struct ws_git_config config = {.program = WS_PROGRAM, .vars = (const char *const *)environ};
	w->fetch.git = ws_git_open(&config, a, &w->err);
	assert_ok(w->fetch.git, w->err);
	struct ws_source_spec spec = {.kind = WS_SOURCE_GIT,
		.url = ws_git_served_url(&s, "plain/demo"),
		.commit = ws_git_served_id(&s, "first")};
	struct ws_patch fix = patch(w, "1.patch",
		"--- a/csrc/b.cu\n+++ b/csrc/b.cu\n@@ -1 +1 @@\n-__global__ void b() {}\n+void b();\n");
	const struct ws_patch *patches[] = {&fix};
	w->wish.patches = patches;
	w->wish.patch_count = 1;
	struct ws_source_found found, again;
	assert_ok(bring(w, &spec, 1, &found), w->err);
	assert_string_equal(found.tree_id, ws_git_served_id(&s, "first-tree"));
	assert_string_equal(contents(&found.tree, "csrc/b.cu", a), "void b();\n");
	assert_null(ws_tree_lookup(&found.tree, "csrc/cut/include/cut.h"));
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_true(again.remembered);
	assert_string_equal(again.tree_id, found.tree_id);

	const char *const submodules[] = {"csrc/cut"};
	spec.submodules = submodules;
	spec.submodule_count = 1;
	assert_ok(bring(w, &spec, 1, &again), w->err);
	assert_non_null(ws_tree_lookup(&again.tree, "csrc/cut/include/cut.h"));
	assert_string_equal(again.tree_id, found.tree_id);
	ws_git_close(w->fetch.git);
}

/* The cache of the first source is damaged and cannot be fetched again: that of the second is. */
WS_TEST(a_damaged_cache_of_the_first_source_leaves_the_second_its_retry)
{
	AUTO_WORLD struct world *w = make_world(a);
	WS_AUTO_GIT_SERVED struct ws_git_served s = ws_git_served_start(a);
	struct ws_git_config config = {.program = WS_PROGRAM, .vars = (const char *const *)environ};
	w->fetch.git = ws_git_open(&config, a, &w->err);
	assert_ok(w->fetch.git, w->err);
	const char *commit = ws_git_served_id(&s, "first");
	struct ws_source_spec specs[] = {
		{.kind = WS_SOURCE_GIT, .url = ws_git_served_url(&s, "login/demo"), .commit = commit},
		{.kind = WS_SOURCE_GIT, .url = ws_git_served_url(&s, "plain/demo"), .commit = commit},
	};
	struct ws_source_found found;
	assert_ok(bring(w, &specs[1], 1, &found), w->err);
	run("ls -d $1/*/ >$1/first", ws_store_path(&w->store, a, "git"), NULL);
	assert_refused(w, specs, 1, WS_ERR_FETCH, "");
	run("cd $1 && full=$(cat first) && for d in $1/*/; do [ $d = $full ] || cp -rT $full $d; done "
		"&&"
		" [ $(ls -d */ | wc -l) = 2 ] && for p in */objects/pack/*.pack; do chmod u+w $p &&"
		" size=$(stat -c %s $p) && dd if=/dev/zero of=$p bs=1 seek=$((size * 3 / 4))"
		" count=$((size / 4 - 20)) conv=notrunc; done && rm -rf $2/src-demo-*",
		ws_store_path(&w->store, a, "git"), ws_store_path(&w->store, a, "trees"));
	assert_ok(bring(w, specs, 2, &found), w->err);
	assert_ptr_equal(found.spec, &specs[1]);
	assert_contains(ws_buf_text(&w->listener.warnings), "trying the next source");
	ws_git_close(w->fetch.git);
}
