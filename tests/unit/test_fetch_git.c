/* test_fetch_git.c - commits from a real smart-HTTP server into source trees. */
#include "test.h"

#include "base/fs.h"
#include "fetch/source_tree.h"
#include "git_served.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <sys/wait.h>

/* A server, a store, the library, and the hostile configuration of the person who runs the test. */
struct world {
	struct ws_git_served s;
	struct ws_store store;
	struct ws_git *git;
	struct ws_git_config config;
	struct ws_checkout checkout;
	struct ws_tree tree; /* of the last checkout */
	struct ws_err err;   /* likewise */
	struct ws_arena *a;
};

static struct world
make_world(struct ws_arena *a)
{
	static const char hostile[] = "[url \"http://127.0.0.1:1/\"]\n\tinsteadOf = http://127.0.0.1\n"
								  "[core]\n\tautocrlf = true\n\thooksPath = /nonexistent\n"
								  "[fetch]\n\tfsckObjects = true\n[http]\n\tproxy = 127.0.0.1:1\n";
	struct world w = {.s = ws_git_served_start(a), .a = a};
	struct ws_err err = {0};
	const char *home = ws_test_dir(a);
	assert_ok(ws_fs_write(
				  ws_path_join(a, home, ".gitconfig", NULL), hostile, strlen(hostile), 0644, &err),
		err);
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	assert_ok(ws_store_open(ws_test_dir(a), a, &w.store, &err), err);
	w.config.program = WS_PROGRAM;
	w.config.vars = (const char *const *)environ;
	w.git = ws_git_open(&w.config, a, &err);
	assert_ok(w.git, err);
	return w;
}

static void
end_world(struct world *w)
{
	ws_git_close(w->git);
	ws_store_close(&w->store);
	ws_git_served_stop(&w->s);
}

/* The children of this process; the server is one. */
static unsigned
count_children(struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf list = {0};
	struct ws_err err = {0};
	const char *path = ws_arena_printf(a, "/proc/self/task/%d/children", (int)getpid());
	assert_ok(ws_fs_read(path, &list, &err), err);
	unsigned count = 0;
	for (const char *c = ws_buf_text(&list); (c = strchr(c, ' ')); c++) {
		count++;
	}
	return count;
}

#define AUTO_WORLD __attribute__((cleanup(end_world)))

/* Anew, with another configuration. */
static void
reopen(struct world *w)
{
	struct ws_err err = {0};
	ws_git_close(w->git);
	w->git = ws_git_open(&w->config, w->a, &err);
	assert_ok(w->git, err);
}

static bool
check_out(struct world *w)
{
	struct ws_checkout *checkout = &w->checkout;
	struct ws_source_tree_plan plan = {
		.tree = "src-demo-1", .from = checkout->spec.url, .strip = ""};
	w->err = (struct ws_err){0};
	struct ws_unpack_sink *into = ws_source_tree_begin(&w->store, &plan, w->a, &w->err);
	assert_non_null(into);
	if (!ws_checkout(w->git, &w->store, checkout, into, &w->err)) {
		ws_source_tree_abandon(into);
		bool is_again = checkout->is_damaged;
		checkout->is_damaged = false;
		return is_again && check_out(w);
	}
	return ws_source_tree_commit(into, w->a, &w->tree, &w->err);
}

static void
want(struct world *w, const char *path, const char *id)
{
	w->checkout = (struct ws_checkout){
		.spec = {.url = ws_git_served_url(&w->s, path), .commit = ws_git_served_id(&w->s, id)}};
}

static void
assert_file(const struct ws_tree *tree, const char *path, const char *contents, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err = {0};
	assert_ok(ws_fs_read(ws_path_join(a, tree->path, path, NULL), &b, &err), err);
	assert_string_equal(ws_buf_text(&b), contents);
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

WS_TEST(a_proxys_login_is_never_shown)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	char text[WS_ERR_PRINTED];
	setenv("http_proxy", "http://me:sec/ret@h:3128", 1);
	w.config.vars = (const char *const *)environ; /* setenv moves it */
	reopen(&w);
	assert_false(check_out(&w));
	unsetenv("http_proxy");
	ws_err_print(&w.err, text);
	assert_null(strstr(text, "me:"));
	assert_null(strstr(text, "sec"));
	assert_contains(text, "the URL, or that of the proxy, cannot be used");
}

WS_TEST(a_commit_with_one_submodule_of_two)
{
	AUTO_WORLD struct world w = make_world(a);
	const char *const submodules[] = {"csrc/cut", "csrc/cut/deep/er"};
	want(&w, "plain/demo", "first");
	w.checkout.spec.tree = ws_git_served_id(&w.s, "first-tree");
	w.checkout.spec.submodules = submodules;
	w.checkout.spec.submodule_count = 2;
	assert_ok(check_out(&w), w.err);
	assert_listing(&w.tree,
		"f .gitattributes\nf .gitmodules\nf a.c\nf big.bin\nf csrc/b.cu\n"
		"f csrc/cut/.gitmodules\nf csrc/cut/deep/er/d.h\nf csrc/cut/include/cut.h\nl l\n"
		"x tool.sh\nf version.txt\nf x.dat\n");
	assert_string_equal(w.checkout.found_tree, w.checkout.spec.tree);
	/* Attributes and the person's configuration change nothing. */
	assert_file(&w.tree, "version.txt", "$Format:%H$\n", a);
	assert_file(&w.tree, "a.c", "int a; // $Id$\n", a);
	assert_file(&w.tree, "csrc/cut/include/cut.h", "#define CUT 1\n", a);
	assert_file(&w.tree, "l", "__global__ void b() {}\n", a);
	assert_int_equal(ws_git_served_count(&w.s, "/ck.git"), 0);
	assert_false(ws_fs_exists("/tmp/wheelsmith-must-not-exist"));
}

WS_TEST(a_commit_in_the_cache_is_not_requested)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	assert_ok(check_out(&w), w.err);
	unsigned asked = ws_git_served_count(&w.s, "demo.git");
	assert_in_range(asked, 2, 3); /* the refs; the pack, in one step or two */
	const struct ws_tree first = w.tree;
	w.config.offline = true;
	reopen(&w);
	assert_ok(check_out(&w), w.err);
	assert_true(ws_digest_eq(&w.tree.digest, &first.digest));
	assert_int_equal(ws_git_served_count(&w.s, "demo.git"), asked);

	want(&w, "plain/demo", "tip");
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_contains(w.err.text, "this run is offline");
	w.config.offline = false;
	reopen(&w);
	assert_ok(check_out(&w), w.err);
	assert_int_equal(w.tree.count, first.count + 2);
}

/* The tag's commit, one in the middle of a branch, one by its id, and none. */
WS_TEST(every_way_to_a_commit)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "middle");
	assert_ok(check_out(&w), w.err);
	assert_non_null(ws_tree_lookup(&w.tree, "two.c"));
	assert_null(ws_tree_lookup(&w.tree, "three.c"));

	want(&w, "plain/byid", "middle");
	unsigned asked = ws_git_served_count(&w.s, "GET /plain/byid");
	assert_ok(check_out(&w), w.err);
	assert_int_equal(ws_git_served_count(&w.s, "GET /plain/byid"), asked + 1);

	want(&w, "plain/demo", "dangling");
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_contains(w.err.text, "has no commit");
	assert_contains(w.err.text, w.checkout.spec.commit);
	assert_contains(w.err.cure, "put a tag on it");
}

WS_TEST(a_tree_id_that_differs_is_refused)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	w.checkout.spec.tree = ws_git_served_id(&w.s, "tip-tree");
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_contains(w.err.text, ws_git_served_id(&w.s, "first-tree"));
	assert_contains(w.err.text, w.checkout.spec.tree);
}

WS_TEST(only_full_ids_are_commits)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const bad[] = {"main", "", "67c093da", ":/x",
		"67C093DA5DC122B8656D9447F4D3FA45C982C432", "67c093da5dc122b8656d9447f4d3fa45c982c43x"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		want(&w, "plain/demo", "first");
		w.checkout.spec.commit = bad[i];
		assert_fails(check_out(&w), w.err, WS_ERR_CONFIG);
		assert_contains(w.err.text, "is not a commit");
	}
	/* The id of a tree has the form of a commit's, but is not a commit. */
	want(&w, "plain/demo", "first-tree");
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
}

WS_TEST(servers_that_misbehave)
{
	AUTO_WORLD struct world w = make_world(a);
	static const struct {
		const char *path, *text, *cure;
	} cases[] = {
		{"away/demo", "cannot redirect from", "to another host are not followed"},
		{"login/demo", "a user and a password", "a local folder or an archive"},
		{"cut/demo", "'demo' from 'http://127.0.0.1:", ""},
		{"plain/absent", "'absent' from 'http://127.0.0.1:", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		want(&w, cases[i].path, "first");
		if (check_out(&w)) {
			fail_msg("'%s' served", cases[i].path);
		}
		assert_int_equal(w.err.kind, WS_ERR_FETCH);
		assert_contains(w.err.text, cases[i].text);
		assert_contains(w.err.cure, cases[i].cure);
	}
	assert_int_equal(ws_git_served_count(&w.s, "GET /plain/demo"), 0);
	/* A server may hang up between two requests: no SIGPIPE, one way or the other. */
	want(&w, "hangup/demo", "first");
	if (!check_out(&w)) {
		assert_int_equal(w.err.kind, WS_ERR_FETCH);
	}
	/* a truncated download does not block the next one. */
	want(&w, "plain/demo", "first");
	assert_ok(check_out(&w), w.err);
}

WS_TEST(certificates_are_checked)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	w.checkout.spec.url = ws_arena_printf(a, "https://localhost:%u/plain/demo.git", w.s.tls);
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_contains(w.err.cure, "name the certificates to trust");
	w.config.ca_path = ws_path_join(a, w.s.dir, "cert.pem", NULL);
	reopen(&w);
	assert_ok(check_out(&w), w.err);
	/* A trusted certificate for a wrong name. */
	w.checkout.spec.url = ws_arena_printf(a, "https://127.0.0.1:%u/plain/demo.git", w.s.tls);
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_int_equal(ws_git_served_count(&w.s, "GET"), 1);
}

WS_TEST(silence_ends)
{
	AUTO_WORLD struct world w = make_world(a);
	w.config.stall_ms = 600;
	reopen(&w);
	static const char *const paths[] = {"silent/demo", "stall/demo"};
	for (size_t i = 0; i < WS_LEN(paths); i++) {
		want(&w, paths[i], "first");
		int64_t start_ms = ws_clock_ms();
		assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
		assert_true(ws_clock_ms() - start_ms < 5000);
		if (!strstr(w.err.text, "no answer") && !strstr(w.err.text, "timed out")) {
			fail_msg("%s", w.err.text);
		}
	}
}

WS_TEST(a_stop_is_heard_while_waiting)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 300};
	w.config.stop = &stop;
	w.config.stall_ms = 3000;
	reopen(&w);
	want(&w, "silent/demo", "first");
	int64_t start_ms = ws_clock_ms();
	unsigned children = count_children(a);
	assert_fails(check_out(&w), w.err, WS_ERR_STOPPED);
	assert_true(ws_clock_ms() - start_ms < 2500);
	assert_int_equal(count_children(a), children);
}

/* Ctrl-C is heard at once, and the child is gone when the error is there. */
WS_TEST(a_signal_is_heard_while_waiting)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_stop stop;
	signal(SIGTERM, SIG_DFL);
	assert_ok(ws_stop_open(&stop, &w.err), w.err);
	w.config.stop = &stop;
	reopen(&w);
	want(&w, "silent/demo", "first");
	unsigned children = count_children(a);
	pid_t us = getpid(), other = fork();
	if (other == 0) {
		usleep(300000);
		kill(us, SIGTERM);
		_exit(0);
	}
	assert_fails(check_out(&w), w.err, WS_ERR_STOPPED);
	assert_int_equal(waitpid(other, NULL, 0), other);
	assert_int_equal(count_children(a), children);
	close(stop.fd);
}

WS_TEST(a_child_that_cannot_run_or_dies_is_reported)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	w.config.program = "/bin/false";
	reopen(&w);
	assert_fails(check_out(&w), w.err, WS_ERR_FETCH);
	assert_contains(w.err.text, "exited with 1");
	w.config.program = "/nonexistent";
	reopen(&w);
	assert_false(check_out(&w));
	assert_contains(w.err.text, "/nonexistent");
}

WS_TEST(hostile_trees_are_refused_by_rule)
{
	AUTO_WORLD struct world w = make_world(a);
	static const struct {
		const char *repo, *text;
	} cases[] = {
		{"link-up", "breaks the archive rule 'link' at 'l'"},
		{"link-absolute", "breaks the archive rule 'link' at 'l'"},
		{"name-up", "breaks the archive rule 'name-path' at '..'"},
		{"name-git", "breaks the archive rule 'name-path' at '.GIT': a repository in it"},
		{"name-slash", "breaks the archive rule 'name-path' at 'a/../../b'"},
		{"name-newline", "breaks the archive rule 'name-text' at 'a?b'"},
		{"mode", "breaks the archive rule 'type' at 'fifo'"},
		{"duplicate", "'a'"},
		{"lfs", "'k.cu' in 'http"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		want(&w, ws_arena_printf(a, "plain/%s", cases[i].repo), cases[i].repo);
		bool fine = check_out(&w);
		if (fine) {
			fail_msg("'%s' was taken", cases[i].repo);
		}
		assert_contains(w.err.text, cases[i].text);
	}
	want(&w, "plain/lfs-data", "lfs-data");
	assert_ok(check_out(&w), w.err);
}

WS_TEST(hostile_submodules_are_refused)
{
	AUTO_WORLD struct world w = make_world(a);
	static const struct {
		const char *repo, *text;
	} cases[] = {
		{"url-file", "'file:///etc' is a local one"},
		{"url-ext", "characters that do not belong there"},
		{"url-path", "'/etc' is not asked: only https is"},
		{"url-ssh", "'ssh://h/x' is not asked: only https is"},
		{"url-scp", "'git@h:x.git' is not asked: only https is"},
		{"url-option", "'-u./x' is not asked: only https is"},
		{"url-http", "is not fetched over http"},
		{"url-climb", "climbs out of"},
		{"modules-none", "does not give exactly one URL for the submodule 's'"},
		{"modules-twice", "does not give exactly one URL for the submodule 's'"},
		{"modules-broken", "line 1 of '.gitmodules' is not understood"},
		{"lfs-data", "has no submodule 's'"},
	};
	const char *const submodules[] = {"s"};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		want(&w, ws_arena_printf(a, "plain/%s", cases[i].repo), cases[i].repo);
		w.checkout.spec.submodules = submodules;
		w.checkout.spec.submodule_count = 1;
		assert_false(check_out(&w));
		assert_contains(w.err.text, cases[i].text);
		/* If it is not chosen, its folder stays empty and its URL is not read. */
		w.checkout.spec.submodule_count = 0;
		assert_ok(check_out(&w), w.err);
	}
}

static const char *
cache_of(const struct world *w)
{
	const char *url = w->checkout.spec.url;
	struct ws_digest digest = ws_digest_bytes(url, strlen(url));
	return ws_arena_printf(w->a, "%s/git/demo-%.16s", w->store.path, digest.hex);
}

WS_TEST(a_damaged_cache_is_made_anew_or_told)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	assert_ok(check_out(&w), w.err);
	const char *cache = cache_of(&w);
	assert_true(ws_fs_exists(ws_path_join(a, cache, "HEAD", NULL)));
	assert_ok(ws_fs_remove(ws_path_join(a, cache, "HEAD", NULL), &w.err), w.err);
	assert_ok(check_out(&w), w.err);
}

static bool
damage_one(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	char byte = 0;
	if (!S_ISREG(entry->status.st_mode) || entry->status.st_size < 64
		|| !ws_ends_with(entry->name, *(const char *const *)self)) {
		return true;
	}
	chmod(entry->path, 0600);
	WS_AUTO_FD int fd = open(entry->path, O_RDWR | O_CLOEXEC);
	/* Headers and sums stay; of a pack, what comes last goes: files. */
	off_t begin = ws_ends_with(entry->name, ".pack") ? entry->status.st_size * 3 / 4 : 40;
	for (off_t at = begin; at < entry->status.st_size - 20; at += 8) {
		if (pread(fd, &byte, 1, at) != 1 || (byte = (char)~byte, pwrite(fd, &byte, 1, at)) != 1) {
			return ws_err_sys(err, WS_ERR_IO, "cannot damage '%s'", entry->path);
		}
	}
	return true;
}

WS_TEST(damaged_objects_are_fetched_again)
{
	static const char *const ends[] = {".pack", ".idx", "config", ""};
	for (size_t i = 0; i < WS_LEN(ends); i++) {
		AUTO_WORLD struct world w = make_world(a);
		want(&w, "plain/demo", "first");
		assert_ok(check_out(&w), w.err);
		const char *cache = cache_of(&w);
		assert_ok(ws_fs_walk(cache, damage_one, (void *)(uintptr_t)&ends[i], &w.err), w.err);
		if (i == 0) { /* it is kept while it cannot be downloaded again */
			w.config.offline = true;
			reopen(&w);

			assert_fails(check_out(&w), w.err, WS_ERR_IO);
			assert_true(ws_fs_exists(cache));
			w.config.offline = false;
			reopen(&w);
		}
		assert_ok(check_out(&w), w.err);
		assert_ok(check_out(&w), w.err);
	}
}

WS_TEST(a_cache_of_a_different_user_is_read_and_not_changed)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	assert_ok(check_out(&w), w.err);
	const char *cache = cache_of(&w);
	const char *mark = ws_path_join(a, cache, "mark", NULL);
	assert_ok(ws_fs_write(mark, "", 0, 0644, &w.err), w.err);
	if (chown(cache, 65534, 65534) == 0) { /* we are root */
		w.config.offline = true;
		reopen(&w);
		assert_ok(check_out(&w), w.err);
	}
	assert_true(ws_fs_exists(mark));
}

WS_TEST(a_cache_that_cannot_be_read_stays)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	assert_ok(check_out(&w), w.err);
	const char *cache = cache_of(&w);
	struct rlimit before = ws_test_open_no_more();
	assert_null(ws_git_repo_open(w.git, cache, a, &w.err));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_contains(w.err.text, "cannot open the git repository");
	assert_true(ws_fs_exists(ws_path_join(a, cache, "HEAD", NULL)));
}

WS_TEST(local_repositories_only_when_allowed)
{
	AUTO_WORLD struct world w = make_world(a);
	want(&w, "plain/demo", "first");
	w.checkout.spec.url = ws_arena_printf(a, "file://%s/demo.git", w.s.dir);
	assert_fails(check_out(&w), w.err, WS_ERR_CONFIG);
	w.config.files = true;
	reopen(&w);
	assert_ok(check_out(&w), w.err);
	assert_non_null(ws_tree_lookup(&w.tree, "a.c"));
}

WS_TEST(the_version_is_known)
{
	bool is_old;
	const char *version = ws_git_version(a, &is_old);
	unsigned major, minor, revision;
	assert_int_equal(sscanf(version, "%u.%u.%u", &major, &minor, &revision), 3);
	assert_int_equal(is_old, major * 10000 + minor * 100 + revision < 10907);
}
