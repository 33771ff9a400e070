/* test_archive_zip.c - the strict zip reader against archives that tests/support/make_zips.py made:
 * sound ones, and malformed ones of each kind. */
#include "test.h"

#include "archive/zip.h"
#include "base/fs.h"
#include "compile.h"

/* Takes everything, and notes in which order. */
struct taker {
	struct ws_zip_sink sink;
	struct ws_buf log;      /* "name:contents;" per finished entry */
	struct ws_buf contents; /* of the current entry */
	const struct ws_zip_entry *entry;
};

static bool
note_begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct taker *t = (struct taker *)self;
	assert_null(t->entry);
	t->entry = entry;
	ws_buf_clear(&t->contents);
	return true;
}

static bool
note_bytes(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	struct taker *t = (struct taker *)self;
	assert_non_null(t->entry);
	ws_buf_add(&t->contents, bytes, len);
	assert_true(t->contents.len <= t->entry->size_bytes);
	return true;
}

static bool
note_end(struct ws_zip_sink *self, struct ws_err *err WS_UNUSED)
{
	struct taker *t = (struct taker *)self;
	assert_int_equal(t->contents.len, t->entry->size_bytes);
	ws_buf_printf(&t->log, "%s:%.12s;", t->entry->name, ws_buf_text(&t->contents));
	t->entry = NULL;
	return true;
}

static struct taker
taker(void)
{
	return (struct taker){.sink = {note_begin, note_bytes, note_end}};
}

static void
release(struct taker *t)
{
	ws_buf_release(&t->log);
	ws_buf_release(&t->contents);
}

#define AUTO_TAKER __attribute__((cleanup(release)))

static const struct ws_zip_entry **
all_of(const struct ws_zip *zip, struct ws_arena *a)
{
	const struct ws_zip_entry **all = WS_NEW_N(a, const struct ws_zip_entry *, zip->count);
	for (size_t i = 0; i < zip->count; i++) {
		all[i] = zip->by_name[i];
	}
	return all;
}

/* Opens the archive and reads all of it. */
static bool
judge(struct ws_byte_source *source, struct ws_arena *a, struct taker *t, struct ws_err *err)
{
	struct ws_zip zip;
	bool fine = ws_zip_open(source, NULL, a, &zip, err)
		&& ws_zip_read(&zip, all_of(&zip, a), zip.count, WS_ZIP_GAP_BYTES, &t->sink, err);
	assert_int_equal(fine, !zip.is_malformed);
	return fine;
}

/* A source that hands a file out in small pieces and counts what it was asked for. */
struct crumbs {
	struct ws_byte_source source;
	struct ws_file_source file;
	size_t piece_bytes, calls, spans;
	uint64_t bytes;
};

struct crumb_taker {
	const struct crumbs *crumbs;
	const struct ws_span *span;
};

static bool
crumble(void *self, const void *bytes, size_t len, struct ws_err *err)
{
	const struct crumb_taker *t = self;
	for (size_t done = 0; done < len;) {
		size_t step = len - done < t->crumbs->piece_bytes ? len - done : t->crumbs->piece_bytes;
		if (!t->span->take(t->span->self, (const char *)bytes + done, step, err)) {
			return false;
		}
		done += step;
	}
	return true;
}

static bool
read_crumbs(
	struct ws_byte_source *self, const struct ws_span *spans, size_t count, struct ws_err *err)
{
	struct crumbs *crumbs = (struct crumbs *)self;
	crumbs->calls++;
	crumbs->spans += count;
	for (size_t i = 0; i < count; i++) {
		crumbs->bytes += spans[i].len;
		struct crumb_taker t = {crumbs, &spans[i]};
		struct ws_span inner = {spans[i].offset, spans[i].len, crumble, &t};
		if (!crumbs->file.source.read(&crumbs->file.source, &inner, 1, err)) {
			return false;
		}
	}
	return true;
}

static void
open_crumbs(const char *path, size_t piece_bytes, struct crumbs *crumbs)
{
	struct ws_err err = {0};
	*crumbs = (struct crumbs){.piece_bytes = piece_bytes};
	assert_ok(ws_file_source_open(path, &crumbs->file, &err), err);
	crumbs->source = crumbs->file.source;
	crumbs->source.read = read_crumbs;
}

/* Every line of expected.txt: the archive is sound, or malformed in the way that is named. Each is
 * read whole and in crumbs. */
WS_TEST_ERR(malformed_archives_are_refused)
{
	const char *dir = ws_test_made("make_zips.py", a);
	WS_AUTO_BUF struct ws_buf expected = {0};
	assert_ok(ws_fs_read(ws_path_join(a, dir, "expected.txt", NULL), &expected, &err), err);
	struct ws_str rest = ws_buf_str(&expected);
	size_t count = 0, sound_count = 0;
	for (; rest.n > 0; count++) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_str file = ws_str_cut(&line, ' ');
		const char *path = ws_path_join(a, dir, ws_str_copy(file, a), NULL);
		const size_t pieces[] = {SIZE_MAX, 1, 7};
		bool sound = ws_str_is(line, "sound");
		sound_count += sound;
		for (size_t i = 0; i < WS_LEN(pieces); i++) {
			struct crumbs crumbs;
			open_crumbs(path, pieces[i], &crumbs);
			AUTO_TAKER struct taker t = taker();
			err = (struct ws_err){0};
			bool fine = judge(&crumbs.source, a, &t, &err);
			ws_file_source_close(&crumbs.file);
			if (fine != sound) {
				fail_msg("%s: expected %.*s, not: %s", path, WS_STR_ARGS(line),
					fine ? "sound" : err.text);
			}
			if (!fine) {
				assert_int_equal(err.kind, WS_ERR_FETCH);
				assert_contains(err.text, "is a malformed zip archive");
			}
		}
	}
	assert_true(count > 100 && sound_count > 10);
}

WS_TEST(an_error_names_archive_entry_and_difference)
{
	static const struct {
		const char *file, *text;
	} cases[] = {
		{"path-up.zip", "malformed zip archive at '../evil': its name is absolute, leaves the"},
		{"name-escape.zip", "malformed zip archive at '?[2Jx': its name holds a control character"},
		{"other-name.zip",
			"malformed zip archive at 'safe.py': its local header gives another name"},
		{"below-a-file.zip", "malformed zip archive at 'a/b': 'a' is a file"},
		{"crc.zip", "malformed zip archive at 'a': its contents do not have the CRC"},
		{"not-a-zip.zip", "malformed zip archive: no end record closes it; is it a zip archive?"},
	};
	const char *dir = ws_test_made("make_zips.py", a);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		const char *path = ws_path_join(a, dir, cases[i].file, NULL);
		struct ws_err err = {0};
		WS_AUTO_FILE_SOURCE struct ws_file_source file;
		assert_ok(ws_file_source_open(path, &file, &err), err);
		AUTO_TAKER struct taker t = taker();
		judge(&file.source, a, &t, &err);
		assert_contains(err.text, ws_arena_printf(a, "'%s' is a %s", path, cases[i].text));
	}
}

static void
open_zip(const char *name, struct ws_arena *a, struct crumbs *crumbs, struct ws_zip *zip)
{
	struct ws_err err = {0};
	open_crumbs(ws_path_join(a, ws_test_made("make_zips.py", a), name, NULL), SIZE_MAX, crumbs);
	assert_ok(ws_zip_open(&crumbs->source, NULL, a, zip, &err), err);
}

WS_TEST(entries_are_found_by_name)
{
	struct crumbs crumbs;
	struct ws_zip zip;
	open_zip("many.zip", a, &crumbs, &zip);
	assert_int_equal(zip.count, 300);
	assert_int_equal(crumbs.calls, 1);
	for (size_t i = 0; i < zip.count; i++) {
		assert_ptr_equal(ws_zip_find(&zip, zip.entries[i].name), &zip.entries[i]);
	}
	assert_null(ws_zip_find(&zip, "d0"));
	assert_null(ws_zip_find(&zip, "d0/"));
	assert_null(ws_zip_find(&zip, ""));
	assert_null(ws_zip_find(&zip, "zzz"));
	ws_file_source_close(&crumbs.file);

	open_zip("executable.zip", a, &crumbs, &zip);
	assert_int_equal(ws_zip_find(&zip, "bin/tool")->mode, S_IFREG | 0755);
	assert_int_equal(zip.total_bytes, zip.entries[0].size_bytes);
	ws_file_source_close(&crumbs.file);

	open_zip("siblings.zip", a, &crumbs, &zip);
	for (size_t i = 0; i < zip.count; i++) {
		assert_ptr_equal(ws_zip_find(&zip, zip.entries[i].name), &zip.entries[i]);
	}
	ws_file_source_close(&crumbs.file);
}

WS_TEST_ERR(near_entries_share_a_span)
{
	struct crumbs crumbs;
	struct ws_zip zip;
	open_zip("many.zip", a, &crumbs, &zip);
	const struct ws_zip_entry *far[] = {
		&zip.entries[299], &zip.entries[0], &zip.entries[2], &zip.entries[3], &zip.entries[0]};
	static const char order[] = "d0/f0:the quick br;d2/f2:the quick br;d3/f3:the quick br;"
								"d5/f299:the quick br;";
	crumbs.calls = crumbs.spans = crumbs.bytes = 0;
	AUTO_TAKER struct taker t = taker();
	assert_ok(ws_zip_read(&zip, far, WS_LEN(far), 0, &t.sink, &err), err);
	assert_string_equal(ws_buf_text(&t.log), order);
	assert_int_equal(crumbs.calls, 1);
	assert_int_equal(crumbs.spans, 3);
	uint64_t exact = crumbs.bytes;
	assert_true(exact < 4 * 200);

	AUTO_TAKER struct taker again = taker();
	assert_ok(ws_zip_read(&zip, far, WS_LEN(far), 1000, &again.sink, &err), err);
	assert_string_equal(ws_buf_text(&again.log), order);
	assert_int_equal(crumbs.calls, 2);
	assert_int_equal(crumbs.spans, 3 + 2);
	assert_true(crumbs.bytes - exact > exact);
	ws_file_source_close(&crumbs.file);
}

WS_TEST_ERR(one_member_is_loaded)
{
	struct crumbs crumbs;
	struct ws_zip zip;
	open_zip("large.zip", a, &crumbs, &zip);
	WS_AUTO_BUF struct ws_buf out = {0};
	const struct ws_zip_entry *big = ws_zip_find(&zip, "big");
	assert_ok(ws_zip_load(&zip, big, 4 << 20, &out, &err), err);
	assert_int_equal(out.len, 4 << 20);
	assert_fails(ws_zip_load(&zip, big, 1000, &out, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "'big'");
	ws_file_source_close(&crumbs.file);
}

WS_TEST_ERR(limits_are_the_callers)
{
	struct ws_zip zip;
	WS_AUTO_FILE_SOURCE struct ws_file_source file;
	assert_ok(ws_file_source_open(
				  ws_path_join(a, ws_test_made("make_zips.py", a), "many.zip", NULL), &file, &err),
		err);
	static const struct {
		struct ws_zip_limits limits;
		const char *text; /* of the error; NULL: it is opened */
	} cases[] = {
		{{.entries = 299}, "it has 300 entries"},
		{{.entries = 300}, NULL},
		{{.directory_bytes = 3000}, "it has 300 entries, described in "},
		{{.total_bytes = 300 * 44 * 4}, NULL},
		{{.total_bytes = 300 * 44 * 4 - 1}, "its contents are absurdly large"},
		{{.tail_bytes = 1 << 20}, NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		bool fine = ws_zip_open(&file.source, &cases[i].limits, a, &zip, &err);
		assert_int_equal(zip.is_malformed, !fine);
		assert_int_equal(fine, cases[i].text == NULL);
		assert_contains(fine ? "" : err.text, fine ? "" : cases[i].text);
	}
}

/* A directory larger than the first read: the rest of it is one more. */
WS_TEST_ERR(a_long_directory_takes_two_reads)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "long.zip", NULL);
	const char *const argv[] = {"/usr/bin/env", "python3", "-c",
		"import sys, zipfile\n"
		"with zipfile.ZipFile(sys.argv[1], 'w') as z:\n"
		"    for i in range(70000):\n"
		"        z.writestr(f'some/folder/with/a/name/f{i}', str(i))\n",
		path, NULL};
	ws_test_run(a, argv, NULL);
	struct crumbs crumbs;
	struct ws_zip zip;
	open_crumbs(path, SIZE_MAX, &crumbs);
	assert_ok(ws_zip_open(&crumbs.source, NULL, a, &zip, &err), err);
	assert_int_equal(zip.count, 70000);
	assert_int_equal(crumbs.calls, 2);
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(
		ws_zip_load(&zip, ws_zip_find(&zip, "some/folder/with/a/name/f69999"), 100, &out, &err),
		err);
	assert_string_equal(ws_buf_text(&out), "69999");
	ws_file_source_close(&crumbs.file);
}

static bool
refuse(struct ws_zip_sink *self WS_UNUSED, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_STOPPED, "enough");
}

WS_TEST_ERR(a_sink_can_stop)
{
	struct crumbs crumbs;
	struct ws_zip zip;
	open_zip("two.zip", a, &crumbs, &zip);
	AUTO_TAKER struct taker t = taker();
	t.sink.end = refuse;
	assert_fails(
		ws_zip_read(&zip, all_of(&zip, a), zip.count, 0, &t.sink, &err), err, WS_ERR_STOPPED);
	assert_false(zip.is_malformed);
	ws_file_source_close(&crumbs.file);
}

WS_TEST_ERR(a_file_that_changes_is_noticed)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "x", NULL);
	assert_ok(ws_fs_write(path, "12345678", 8, 0644, &err), err);
	WS_AUTO_FILE_SOURCE struct ws_file_source file;
	assert_ok(ws_file_source_open(path, &file, &err), err);
	struct ws_zip zip;
	assert_ok(ws_fs_write(path, "1234", 4, 0644, &err), err);
	assert_fails(ws_zip_open(&file.source, NULL, a, &zip, &err), err, WS_ERR_IO);
	assert_contains(err.text, "became shorter");
	assert_fails(ws_file_source_open("/dev/null", &file, &err), err, WS_ERR_IO);
}
