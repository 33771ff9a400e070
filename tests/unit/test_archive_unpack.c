/* test_archive_unpack.c - tar, .deb and .zip against archives that tests/support/make_tars.py
 * made. */
#include "test.h"

#include "archive/unpack.h"
#include "base/fs.h"
#include "compile.h"

#include <archive_entry.h>

#include <dlfcn.h>

static unsigned nameless; /* so many members have no name */

/* Stands before libarchive's own, which gives no name where it cannot be converted: no archive that
 * this version reads makes it so, another version's may. */
const char *
archive_entry_pathname(struct archive_entry *entry)
{
	const char *(*real)(struct archive_entry *);
	*(void **)&real = dlsym(RTLD_NEXT, "archive_entry_pathname");
	return nameless > 0 && nameless-- ? NULL : real(entry);
}

/* Writes down what it is given, as make_tars.py does. */
struct lister {
	struct ws_unpack_sink sink;
	const char *only; /* NULL: everything */
	struct ws_buf list;
	struct ws_buf contents;
};

static bool
wants(struct ws_unpack_sink *self, const struct ws_member *member)
{
	const struct lister *l = (const struct lister *)self;
	return !l->only || strcmp(member->name, l->only) == 0;
}

static bool
list_begin(
	struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err WS_UNUSED)
{
	struct lister *l = (struct lister *)self;
	char kind =
		member->kind == WS_MEMBER_FILE ? (member->executable ? 'x' : 'f') : "flhd"[member->kind];
	ws_buf_printf(&l->list, "%c %s%s", kind, member->name, member->target ? " " : "");
	ws_buf_printf(&l->list, "%s%s", member->target ? member->target : "",
		member->kind == WS_MEMBER_FILE ? " " : "\n");
	ws_buf_clear(&l->contents);
	return true;
}

static bool
list_bytes(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(&((struct lister *)self)->contents, bytes, len);
	return true;
}

static bool
list_end(struct ws_unpack_sink *self, struct ws_err *err WS_UNUSED)
{
	struct lister *l = (struct lister *)self;
	struct ws_str text = ws_str_trim(ws_str_of(ws_buf_text(&l->contents)));
	ws_buf_printf(&l->list, "%.*s", WS_STR_ARGS(text));
	if (l->contents.len > 1000) {
		ws_buf_printf(&l->list, "#%zu", l->contents.len);
	}
	ws_buf_putc(&l->list, '\n');
	return true;
}

static struct lister
lister(const char *only)
{
	return (struct lister){.sink = {wants, list_begin, list_bytes, list_end}, .only = only};
}

static void
release(struct lister *l)
{
	ws_buf_release(&l->list);
	ws_buf_release(&l->contents);
}

#define AUTO_LISTER __attribute__((cleanup(release)))

static bool
unpack(const char *name, const struct ws_member_limits *limits, struct lister *l,
	struct ws_arena *a, struct ws_err *err)
{
	enum ws_unpack_format format;
	assert_true(ws_unpack_format_of(name, &format));
	const char *path = ws_path_join(a, ws_test_made("make_tars.py", a), name, NULL);
	return ws_unpack(path, name, format, limits, &l->sink, err);
}

WS_TEST_ERR(every_archive_gives_its_list_or_its_rule)
{
	WS_AUTO_BUF struct ws_buf expected = {0};
	assert_ok(ws_fs_read(ws_path_join(a, ws_test_made("make_tars.py", a), "expected.txt", NULL),
				  &expected, &err),
		err);
	struct ws_str rest = ws_buf_str(&expected);
	size_t count = 0;
	for (; rest.n > 0; count++) {
		struct ws_str rule = ws_str_cut(&rest, '\n');
		const char *name = ws_str_copy(ws_str_cut(&rule, ' '), a);
		AUTO_LISTER struct lister l = lister(NULL);
		err = (struct ws_err){0};
		bool fine = unpack(name, NULL, &l, a, &err);
		if (fine != ws_str_is(rule, "sound")) {
			fail_msg(
				"%s: expected %.*s, not: %s", name, WS_STR_ARGS(rule), fine ? "sound" : err.text);
		}
		if (!fine) {
			bool zip = rule.n > 4 && memcmp(rule.s, "zip ", 4) == 0;
			assert_int_equal(err.kind, WS_ERR_FETCH);
			assert_contains(err.text,
				zip ? ws_arena_printf(a, "'%s' is a malformed zip archive", name)
					: ws_arena_printf(
						a, "'%s' breaks the archive rule '%.*s'", name, WS_STR_ARGS(rule)));
			continue;
		}
		WS_AUTO_BUF struct ws_buf list = {0};
		const char *path = ws_arena_printf(a, "%s/%s.list", ws_test_made("make_tars.py", a), name);
		if (ws_fs_exists(path)) {
			assert_ok(ws_fs_read(path, &list, &err), err);
			assert_string_equal(ws_buf_text(&l.list), ws_buf_text(&list));
		}
	}
	assert_true(count > 190);
}

WS_TEST(errors_name_member_and_detail)
{
	static const struct {
		const char *file, *text;
	} cases[] = {
		{"up.deb", "'up.deb' breaks the archive rule 'name-path' at '../evil': "},
		{"escape.tar", "breaks the archive rule 'name-text' at 'a?[2J': "},
		{"through-link.tar", "rule 'through' at 'l/x': 'l' is a link"},
		{"link-up.tar", "rule 'link' at 'a/b': its target '../../etc/passwd' is absolute, leaves"},
		{"twin-later.tar",
			"rule 'link' at 'a': it is a hard link to 'b', which is not an earlier file"},
		{"no-data.deb", "rule 'format': it holds no data.tar"},
		{"zeros.tar.bz2", "rule 'amount' at 'zeros': its contents are more than 200 times"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		AUTO_LISTER struct lister l = lister(NULL);
		struct ws_err err = {0};
		assert_fails(unpack(cases[i].file, NULL, &l, a, &err), err, WS_ERR_FETCH);
		assert_contains(err.text, cases[i].text);
	}
}

WS_TEST_ERR(a_member_without_a_name_is_passed_over_in_a_package_and_refused_inside)
{
	AUTO_LISTER struct lister l = lister("pkg-1.0/a.c");
	nameless = 1; /* debian-binary */
	assert_ok(unpack("xz.deb", NULL, &l, a, &err), err);
	assert_string_equal(ws_buf_text(&l.list), "f pkg-1.0/a.c int a;\n");
	nameless = 3; /* data.tar too */
	assert_fails(unpack("xz.deb", NULL, &l, a, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "rule 'format': it holds no data.tar");
	nameless = 1;
	assert_fails(unpack("links.tar", NULL, &l, a, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "rule 'name-text'");
	nameless = 0;
}

/* A kit takes a few files out of a package whose links point anywhere. */
WS_TEST_ERR(links_matter_only_when_they_are_taken)
{
	AUTO_LISTER struct lister l = lister("l");
	assert_ok(unpack("link-up.deb", NULL, &l, a, &err), err);
	assert_string_equal(ws_buf_text(&l.list), "");
	AUTO_LISTER struct lister twin = lister("a/twin");
	assert_fails(unpack("links.tar", NULL, &twin, a, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "'a/b/f', which is not an earlier file");
	AUTO_LISTER struct lister up = lister("x");
	assert_fails(unpack("up.deb", NULL, &up, a, &err), err, WS_ERR_FETCH);
}

WS_TEST(limits_are_the_callers)
{
	static const struct {
		struct ws_member_limits limits;
		bool fine;
	} cases[] = {
		{{.members = 4}, true},
		{{.members = 3}, false},
		{{.total_bytes = 17}, true},
		{{.total_bytes = 16}, false},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		AUTO_LISTER struct lister l = lister(NULL);
		struct ws_err err = {0};
		assert_int_equal(unpack("xz.deb", &cases[i].limits, &l, a, &err), cases[i].fine);
		if (!cases[i].fine) {
			assert_contains(err.text, "rule 'amount'");
		}
	}
}

WS_TEST(formats_are_known_by_name)
{
	enum ws_unpack_format format;
	assert_true(ws_unpack_format_of("a-1.0.tar.gz", &format));
	assert_int_equal(format, WS_UNPACK_TAR);
	assert_true(ws_unpack_format_of("a_1_amd64.deb", &format));
	assert_int_equal(format, WS_UNPACK_DEB);
	assert_true(ws_unpack_format_of("a.zip", &format));
	assert_int_equal(format, WS_UNPACK_ZIP);
	assert_false(ws_unpack_format_of("a.whl", &format));
	assert_false(ws_unpack_format_of("tar.gz.txt", &format));
}

WS_TEST_ERR(a_missing_file_is_reported)
{
	AUTO_LISTER struct lister l = lister(NULL);
	assert_fails(
		ws_unpack("/nonexistent.tar", "x.tar", WS_UNPACK_TAR, NULL, &l.sink, &err), err, WS_ERR_IO);
}
