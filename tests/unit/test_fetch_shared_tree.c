/* test_fetch_shared_tree.c - two stores and a place between them: a tree that one made of
 * downloads, the other gets; what a place has that is not as it should be is a miss. */
#include "test.h"

#include "base/fs.h"
#include "fetch/shared_downloads.h"
#include "store/shared_entries.h"

#define KEY "aa00000000000000000000000000000000000000000000000000000000000000"

/* A shared place in memory that trusts everybody, with one record. */
struct place {
	struct ws_shared shared; /* first */
	struct ws_map files;     /* digest -> struct ws_buf * */
	const char *text;        /* of the record; NULL: there is none */
	struct ws_shared_file listing;
	unsigned asked_files;
	struct ws_arena *a;
};

static void
get_records(struct ws_shared *self, struct ws_shared_record *records, size_t count,
	struct ws_arena *a WS_UNUSED)
{
	struct place *p = (struct place *)self;
	assert_int_equal(count, 1);
	assert_string_equal(records[0].kind, "tree");
	if (p->text && strcmp(records[0].key, KEY) == 0) {
		ws_buf_puts(&records[0].text, p->text);
		records[0].files = &p->listing;
		records[0].file_count = 1;
	}
}

static void
get_files(struct ws_shared *self, struct ws_shared_file *files, size_t count)
{
	struct place *p = (struct place *)self;
	for (size_t i = 0; i < count; i++) {
		const struct ws_buf *bytes = ws_map_get(&p->files, files[i].digest);
		struct ws_err err;
		p->asked_files++;
		if (bytes) {
			assert_int_equal(bytes->len, files[i].size_bytes);
			assert_ok(ws_fs_write(files[i].path, ws_buf_text(bytes), bytes->len, 0600, &err), err);
			files[i].here = true;
		}
	}
}

static struct ws_shared_file
keep(struct place *p, const char *bytes, size_t len)
{
	struct ws_digest digest = ws_digest_bytes(bytes, len);
	struct ws_buf *kept = WS_NEW(p->a, struct ws_buf);
	char *copy = ws_arena_copy(p->a, bytes, len);
	*kept = (struct ws_buf){.data = copy, .len = len};
	struct ws_shared_file file = {.digest = ws_arena_strdup(p->a, digest.hex), .size_bytes = len};
	ws_map_put(&p->files, file.digest, kept, p->a);
	return file;
}

static void
put(struct ws_shared *self, const struct ws_shared_record *records, size_t count)
{
	struct place *p = (struct place *)self;
	unsigned named = 0;
	assert_int_equal(count, 1);
	for (size_t i = 0; i < records[0].file_count; i++) {
		WS_AUTO_BUF struct ws_buf bytes = {0};
		struct ws_err err;
		assert_ok(ws_fs_read(records[0].files[i].path, &bytes, &err), err);
		struct ws_shared_file file = keep(p, ws_buf_text(&bytes), bytes.len);
		assert_string_equal(file.digest, records[0].files[i].digest);
		if (!records[0].files[i].unnamed) {
			p->listing = file;
			named++;
		}
	}
	assert_int_equal(named, 1);
	p->text = ws_buf_copy(&records[0].text, p->a);
}

static struct place
make_place(struct ws_arena *a)
{
	return (struct place){.shared = {true, get_records, get_files, put}, .a = a};
}

/* A host of its own. */
struct host {
	struct ws_store store;
	struct ws_fetch fetch;
};

static struct host *
open_host(struct place *place, struct ws_arena *a)
{
	struct host *host = WS_NEW(a, struct host);
	struct ws_err err;
	assert_ok(
		ws_store_open(ws_path_join(a, ws_test_dir(a), "s", NULL), a, &host->store, &err), err);
	host->fetch = (struct ws_fetch){.store = &host->store, .shared = place ? &place->shared : NULL};
	return host;
}

static void
close_host(struct host *const *host)
{
	ws_store_close(&(*host)->store);
}

#define AUTO_HOST __attribute__((cleanup(close_host)))

static struct ws_tree
make_tree(const struct ws_store *store, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_tree tree;
	struct ws_tree_builder *b = ws_tree_begin(store, "demo-1", a, &err);
	assert_non_null(b);
	assert_ok(ws_tree_add_file(b, "bin/tool", "run", 3, true, &err), err);
	assert_ok(ws_tree_add_file(b, "include/x.h", "x\0y", 3, false, &err), err);
	assert_ok(ws_tree_add_file(b, "include/same.h", "x\0y", 3, false, &err), err);
	assert_ok(ws_tree_add_file(b, "empty", "", 0, false, &err), err);
	assert_ok(ws_tree_add_link(b, "inc", "include", &err), err);
	assert_ok(ws_tree_commit(b, a, &tree, &err), err);
	tree.note = "its record";
	return tree;
}

static bool
is_empty(const struct host *host, const char *below, struct ws_arena *a)
{
	return rmdir(ws_store_path(&host->store, a, below)) == 0
		&& mkdir(ws_store_path(&host->store, a, below), 0755) == 0;
}

WS_TEST(a_tree_that_one_host_made_is_had_by_another)
{
	struct ws_err err;
	struct place place = make_place(a);
	AUTO_HOST struct host *one = open_host(&place, a);
	AUTO_HOST struct host *other = open_host(&place, a);
	struct ws_tree tree = make_tree(&one->store, a), found;
	assert_false(ws_shared_tree_get(&other->fetch, KEY, a, &found));
	assert_ok(ws_shared_tree_remember(&one->fetch, KEY, &tree, &err), err);
	assert_true(ws_shared_tree_get(&other->fetch, KEY, a, &found));
	assert_true(ws_digest_eq(&found.digest, &tree.digest));
	assert_string_equal(found.name, tree.name);
	assert_string_equal(found.note, tree.note);
	assert_string_not_equal(found.path, tree.path);
	const char *tool = ws_path_join(a, found.path, "bin/tool", NULL);
	assert_int_equal(access(tool, X_OK), 0);
	assert_true(ws_fs_is_link(ws_path_join(a, found.path, "inc", NULL)));
	/* From now on the store has it itself. */
	struct ws_tree again;
	assert_true(ws_tree_recall(&other->store, KEY, a, &again));
	assert_string_equal(again.note, tree.note);
	assert_true(is_empty(other, "partial", a));
	/* A present tree is not requested again. */
	unsigned asked = place.asked_files;
	assert_true(ws_shared_tree_get(&other->fetch, KEY, a, &again));
	assert_int_equal(place.asked_files, asked);
}

WS_TEST(without_a_shared_place_no_record_is_read_or_written)
{
	struct ws_err err;
	AUTO_HOST struct host *host = open_host(NULL, a);
	struct ws_tree tree = make_tree(&host->store, a), found;
	assert_false(ws_shared_tree_get(&host->fetch, KEY, a, &found));
	assert_ok(ws_shared_tree_remember(&host->fetch, KEY, &tree, &err), err);
	assert_true(ws_tree_recall(&host->store, KEY, a, &found));
}

WS_TEST(a_tree_of_which_a_file_is_lost_is_a_miss)
{
	struct ws_err err;
	struct place place = make_place(a);
	AUTO_HOST struct host *one = open_host(&place, a);
	AUTO_HOST struct host *other = open_host(&place, a);
	struct ws_tree tree = make_tree(&one->store, a), found;
	assert_ok(ws_shared_tree_remember(&one->fetch, KEY, &tree, &err), err);
	struct ws_digest gone = ws_digest_bytes("run", 3);
	ws_map_put(&place.files, gone.hex, NULL, a);
	assert_false(ws_shared_tree_get(&other->fetch, KEY, a, &found));
	assert_true(is_empty(other, "partial", a));
	assert_true(is_empty(other, "trees", a));
}

/* A record of this listing, with its own digest or a wrong one. */
static void
set_listing(struct place *place, const char *lines, const char *name, bool other)
{
	struct ws_tree_entry *entries;
	size_t count;
	struct ws_digest digest = {0};
	bool sized;
	place->listing = keep(place, lines, strlen(lines));
	ws_tree_list_read(ws_str_of(lines), place->a, &entries, &count, &digest, &sized);
	digest.hex[0] = other ? (char)(digest.hex[0] ^ 1) : digest.hex[0];
	place->text = ws_arena_printf(place->a, "wheelsmith.tree/1\n%s %s\n", digest.hex, name);
}

/* a trusted signer may be wrong. */
WS_TEST(a_listing_that_is_not_a_tree_is_a_miss)
{
	struct place place = make_place(a);
	AUTO_HOST struct host *host = open_host(&place, a);
	struct ws_tree found;
	struct ws_shared_file x = keep(&place, "x", 1);
	const struct {
		const char *lines, *name;
		bool other, good;
	} cases[] = {
		{ws_arena_printf(a, "f %s/1 a/b\n", x.digest), "t-1", false, true},
		{ws_arena_printf(a, "f %s/1 a/c\n", x.digest), "t-1", true, false},
		{ws_arena_printf(a, "f %s/1 a/c\n", x.digest), "../t-1", false, false},
		{ws_arena_printf(a, "f %s/1 a/c\n", x.digest), "", false, false},
		{ws_arena_printf(a, "f %s a/c\n", x.digest), "t-1", false, false},
		{ws_arena_printf(a, "f %s/1 ../../../c\n", x.digest), "t-1", false, false},
		{ws_arena_printf(a, "f %s/1 /c\n", x.digest), "t-1", false, false},
		{ws_arena_printf(a, "f %s/1 c\nf %s/1 c\n", x.digest, x.digest), "t-1", false, false},
		{ws_arena_printf(a, "f %s/1 c\nl ../..\td\n", x.digest), "t-1", false, false},
		{ws_arena_printf(a, "l ..\td\nf %s/1 d/e\n", x.digest), "t-1", false, false},
		{ws_arena_printf(a, "f ../../etc/passwd/1 c\n"), "t-1", false, false},
		{"no listing\n", "t-1", false, false},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		set_listing(&place, cases[i].lines, cases[i].name, cases[i].other);
		bool came = ws_shared_tree_get(&host->fetch, KEY, a, &found);
		if (came != cases[i].good) {
			fail_msg("%s", cases[i].lines);
		}
		assert_true(is_empty(host, "partial", a));
		assert_false(ws_fs_exists(ws_store_path(&host->store, a, "c")));
	}
	static const char *const texts[] = {"", "wheelsmith.tree/1\n"};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		place.text = texts[i];
		assert_false(ws_shared_tree_get(&host->fetch, KEY, a, &found));
	}
}
