/* test_wheel_zip_writer.c - the bytes of a wheel, read by hand (APPNOTE.TXT 4.3), and the names and
 * descriptions that are refused. Installing one: cli/wheel_pack.bats. */
#include "test.h"

#include "archive/zip.h"
#include "base/fs.h"
#include "wheel/wheel.h"
#include "wheel/zip_writer.h"

#define EPOCH INT64_C(1700000001) /* 2023-11-14 22:13:21 UTC */

static unsigned
u16(const struct ws_buf *b, size_t at)
{
	assert_true(at + 2 <= b->len);
	const unsigned char *bytes = (const unsigned char *)b->data + at;
	return bytes[0] | (unsigned)bytes[1] << 8;
}

static unsigned
u32(const struct ws_buf *b, size_t at)
{
	return u16(b, at) | u16(b, at + 2) << 16;
}

/* The common fields of the central directory and the local header. */
struct member {
	const char *name;
	unsigned made_by, needed, flags, method, time, date, crc, packed, size, attributes;
};

static struct member
read_member(const struct ws_buf *b, size_t at, size_t local, struct ws_arena *a)
{
	struct member m = {
		.made_by = u16(b, at + 4),
		.needed = u16(b, at + 6),
		.flags = u16(b, at + 8),
		.method = u16(b, at + 10),
		.time = u16(b, at + 12),
		.date = u16(b, at + 14),
		.crc = u32(b, at + 16),
		.packed = u32(b, at + 20),
		.size = u32(b, at + 24),
		.attributes = u32(b, at + 38),
		.name = ws_arena_copy(a, b->data + at + 46, u16(b, at + 28)),
	};
	assert_int_equal(u32(b, at), 0x02014b50);
	assert_int_equal(u16(b, at + 30), 0); /* extra */
	assert_int_equal(u16(b, at + 32), 0); /* comment */
	assert_int_equal(u16(b, at + 34), 0); /* disk */
	assert_int_equal(u16(b, at + 36), 0); /* internal attributes */
	assert_int_equal(u32(b, at + 42), local);
	assert_int_equal(u32(b, local), 0x04034b50);
	assert_int_equal(u16(b, local + 28), 0); /* extra */
	assert_memory_equal(b->data + local + 4, b->data + at + 6, 24);
	assert_memory_equal(b->data + local + 30, m.name, strlen(m.name));
	return m;
}

/* Every member; the file must hold them one after the other, the directory, and nothing else. */
static size_t
read_zip(const struct ws_buf *b, struct member members[16], struct ws_arena *a)
{
	size_t end = b->len - 22;
	assert_int_equal(u32(b, end), 0x06054b50);
	assert_int_equal(u16(b, end + 20), 0); /* comment */
	size_t count = u16(b, end + 10);
	assert_true(count <= 16);
	size_t at = u32(b, end + 16);
	size_t local = 0;
	for (size_t i = 0; i < count; i++) {
		members[i] = read_member(b, at, local, a);
		local += 30 + strlen(members[i].name) + members[i].packed;
		at += 46 + strlen(members[i].name);
	}
	assert_int_equal(local, u32(b, end + 16));
	assert_int_equal(at, end);
	return count;
}

static size_t
pack(const struct ws_wheel_entry *entries, size_t count, int64_t epoch, struct member members[16],
	struct ws_arena *a)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "x.whl", NULL);
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err;
	assert_ok(ws_pack_write(path, NULL, entries, count, epoch, &err), err);
	assert_ok(ws_fs_read(path, &b, &err), err);
	return read_zip(&b, members, a);
}

WS_TEST(members_carry_nothing_but_what_they_must)
{
	char large[20000] = {0};
	const struct ws_wheel_entry entries[] = {
		{.name = "z/first.py", .bytes = large, .len = sizeof(large)},
		{.name = "a/second.so",
			.bytes = "\x7f"
					 "ELF",
			.len = 4,
			.executable = true},
		{.name = "a/__init__.py", .bytes = "", .len = 0},
	};
	struct member m[16];
	assert_int_equal(pack(entries, 3, EPOCH, m, a), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(m[i].name, entries[i].name);
		assert_int_equal(m[i].size, entries[i].len);
		assert_int_equal(m[i].flags, 0);
		assert_int_equal(m[i].made_by >> 8, 3); /* Unix */
		assert_true(m[i].needed <= 20);
		assert_int_equal(m[i].date, (2023 - 1980) << 9 | 11 << 5 | 14);
		assert_int_equal(m[i].time, 22 << 11 | 13 << 5 | 20 / 2);
	}
	assert_int_equal(m[0].method, 8);
	assert_true(m[0].packed < 100);
	assert_int_equal(m[0].attributes, 0100644U << 16);
	assert_int_equal(m[1].attributes, 0100755U << 16);
	assert_int_equal(m[2].method, 0);
	assert_int_equal(m[2].packed, 0);
}

WS_TEST(times_stay_within_what_zip_knows)
{
	static const struct {
		int64_t epoch;
		unsigned date, time;
	} rows[] = {
		{0, 1 << 5 | 1, 0},
		{-5, 1 << 5 | 1, 0},
		{315532800, 1 << 5 | 1, 0},
		{315532803, 1 << 5 | 1, 1},
		{INT64_C(4354819199), 127U << 9 | 12 << 5 | 31, 23 << 11 | 59 << 5 | 29},
		{INT64_MAX, 127U << 9 | 12 << 5 | 31, 23 << 11 | 59 << 5 | 29},
	};
	const struct ws_wheel_entry entry = {.name = "x", .bytes = "x", .len = 1};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct member m[16];
		pack(&entry, 1, rows[i].epoch, m, a);
		assert_int_equal(m[0].date, rows[i].date);
		assert_int_equal(m[0].time, rows[i].time);
	}
}

WS_TEST_ERR(bytes_from_a_file_and_from_memory_are_the_same)
{
	const char *dir = ws_test_dir(a);
	const char *file = ws_path_join(a, dir, "large", NULL);
	const char *one = ws_path_join(a, dir, "one.whl", NULL);
	const char *two = ws_path_join(a, dir, "two.whl", NULL);
	WS_AUTO_BUF struct ws_buf large = {0};
	for (unsigned i = 0; i < 200000; i++) {
		ws_buf_printf(&large, "%u,", i * 2654435761U >> (i % 29));
	}
	assert_ok(ws_fs_write(file, large.data, large.len, 0600, &err), err);
	struct ws_wheel_entry entry = {.name = "large", .file = file};
	assert_ok(ws_pack_write(one, NULL, &entry, 1, EPOCH, &err), err);
	entry = (struct ws_wheel_entry){.name = "large", .bytes = large.data, .len = large.len};
	assert_ok(ws_pack_write(two, NULL, &entry, 1, EPOCH, &err), err);
	assert_ok(ws_pack_write(two, NULL, &entry, 1, EPOCH, &err), err); /* replaces */
	struct ws_digest x, y;
	assert_ok(ws_digest_file(one, &x, NULL, &err), err);
	assert_ok(ws_digest_file(two, &y, NULL, &err), err);
	assert_string_equal(x.hex, y.hex);
}

WS_TEST_ERR(a_failure_leaves_nothing_behind)
{
	const char *dir = ws_test_dir(a);
	const char *path = ws_path_join(a, dir, "x.whl", NULL);
	const struct ws_wheel_entry entries[] = {
		{.name = "x", .bytes = "x", .len = 1}, {.name = "y", .file = "/does/not/exist"}};
	assert_fails(ws_pack_write(path, NULL, entries, 2, EPOCH, &err), err, WS_ERR_IO);
	assert_contains(err.text, "'/does/not/exist'");
	assert_false(ws_fs_exists(path));
	assert_fails(
		ws_pack_write("/does/not/exist.whl", NULL, entries, 1, EPOCH, &err), err, WS_ERR_IO);
	assert_contains(err.text, "/does/not/exist.whl");
	const struct ws_wheel_entry folder = {.name = "x", .file = dir};
	assert_fails(ws_pack_write(path, NULL, &folder, 1, EPOCH, &err), err, WS_ERR_IO);
	assert_false(ws_fs_exists(path));
}

WS_TEST(the_zlib_has_a_version)
{
	assert_int_equal(ws_zlib_version()[0], '1');
}

WS_TEST_ERR(entries_are_ordered_by_bytes_with_dist_info_last)
{
	struct ws_wheel_entry entries[] = {{.name = "x-1.dist-info/WHEEL"}, {.name = "zz/a.py"},
		{.name = "x-1.dist-info/METADATA"}, {.name = "a/b.py"}, {.name = "a.py"}, {.name = "B.py"}};
	static const char *const expected[] = {
		"B.py", "a.py", "a/b.py", "zz/a.py", "x-1.dist-info/METADATA", "x-1.dist-info/WHEEL"};
	assert_ok(ws_wheel_entries_order(entries, WS_LEN(entries), "x-1.dist-info", &err), err);
	for (size_t i = 0; i < WS_LEN(expected); i++) {
		assert_string_equal(entries[i].name, expected[i]);
	}
}

WS_TEST(names_that_readers_disagree_on_are_refused)
{
	static const struct {
		const char *first, *second, *why;
	} bad[] = {
		{"a", "../b", "'../b'"},
		{"a", "/b", "'/b'"},
		{"a", "b/", "'b/'"},
		{"a", "b c", "no spaces"},
		{"a", "b\\c", "printable"},
		{"a", "b\xc3\xa4", "printable ASCII"},
		{"a", "b\nc", "printable"},
		{"a", "a", "named 'a'"},
		{"pkg/Ops.py", "pkg/ops.py", "letter case"},
		{"a", "a/b", "both a file and a folder"},
		{"A/b/c", "a/B", "both a file and a folder"},
	};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		struct ws_wheel_entry entries[] = {
			{.name = bad[i].first}, {.name = "a.b"}, {.name = bad[i].second}};
		struct ws_err err;
		assert_fails(ws_wheel_entries_order(entries, 3, "x-1.dist-info", &err), err, WS_ERR_CONFIG);
		assert_contains(err.text, bad[i].why);
	}
}

/* A wheel with one Python file and one module, in a folder of its own. */
static struct ws_wheel_spec
demo(struct ws_metadata *metadata, struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	struct ws_err err;
	static const char *const sources[] = {"demo.py", "demo.so", "LICENSE", "README.md"};
	for (size_t i = 0; i < WS_LEN(sources); i++) {
		const char *path = ws_path_join(a, dir, sources[i], NULL);
		assert_ok(ws_fs_write(path, sources[i], strlen(sources[i]), 0644, &err), err);
	}
	struct ws_wheel_file *file = WS_NEW(a, struct ws_wheel_file);
	*file =
		(struct ws_wheel_file){"demo/__init__.py", ws_path_join(a, dir, "demo.py", NULL), false};
	struct ws_wheel_module *module = WS_NEW(a, struct ws_wheel_module);
	*module = (struct ws_wheel_module){
		.module = "demo._C", .file = ws_path_join(a, dir, "demo.so", NULL)};
	static const char *const licenses[] = {"LICENSE"};
	metadata->license_files = licenses;
	metadata->license_file_count = 1;
	metadata->description_file = "README.md";
	return (struct ws_wheel_spec){
		.distribution = "Demo-Kernels",
		.version = "1.0+cu.12.4",
		.tags = {"cp311", "cp311", "manylinux_2_17_x86_64.manylinux2014_x86_64"},
		.torch = "torch==2.5.*",
		.metadata = metadata,
		.source_dir = dir,
		.files = file,
		.file_count = 1,
		.modules = module,
		.module_count = 1,
		.facts_json = "{}",
		.sbom_json = "{}",
		.epoch = EPOCH,
	};
}

WS_TEST_ERR(a_wheel_has_every_part_in_its_place)
{
	struct ws_metadata metadata = {0};
	struct ws_wheel_spec spec = demo(&metadata, a);
	assert_string_equal(ws_wheel_file_name(&spec, a),
		"demo_kernels-1.0+cu.12.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl");
	const char *path = ws_path_join(a, ws_test_dir(a), "demo.whl", NULL);
	WS_AUTO_BUF struct ws_buf b = {0};
	assert_ok(ws_wheel_write(&spec, path, &err), err);
	assert_ok(ws_fs_read(path, &b, &err), err);
	struct member members[16];
	static const char *const expected[] = {
		"demo/_C.cpython-311-x86_64-linux-gnu.so",
		"demo/__init__.py",
		"demo_kernels-1.0+cu.12.4.dist-info/METADATA",
		"demo_kernels-1.0+cu.12.4.dist-info/WHEEL",
		"demo_kernels-1.0+cu.12.4.dist-info/licenses/LICENSE",
		"demo_kernels-1.0+cu.12.4.dist-info/sboms/wheelsmith.cdx.json",
		"demo_kernels-1.0+cu.12.4.dist-info/wheelsmith.json",
		"demo_kernels-1.0+cu.12.4.dist-info/RECORD",
	};
	assert_int_equal(read_zip(&b, members, a), WS_LEN(expected));
	for (size_t i = 0; i < WS_LEN(expected); i++) {
		assert_string_equal(members[i].name, expected[i]);
		assert_int_equal(members[i].attributes >> 16, i == 0 ? 0100755 : 0100644);
	}
}

WS_TEST(suffixes_follow_the_abi_or_the_recipe)
{
	static const struct {
		const char *abi, *suffix, *path;
	} rows[] = {
		{"cp311", NULL, "pkg/_C.cpython-311-x86_64-linux-gnu.so"},
		{"cp313t", NULL, "pkg/_C.cpython-313t-x86_64-linux-gnu.so"},
		{"abi3", NULL, "pkg/_C.abi3.so"},
		{"abi3.abi3t", NULL, "pkg/_C.abi3t.so"},
		{"none", NULL, "pkg/_C.so"},
		{"cp311", ".so", "pkg/_C.so"},
		{"none", ".abi3.so", "pkg/_C.abi3.so"},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_wheel_tags tags = {"cp311", rows[i].abi, "linux_x86_64"};
		assert_string_equal(ws_wheel_module_path("pkg._C", rows[i].suffix, &tags, a), rows[i].path);
	}
}

WS_TEST(descriptions_that_make_no_wheel_are_refused)
{
	struct ws_metadata metadata = {0};
	const struct ws_wheel_spec good = demo(&metadata, a);
	const char *path = ws_path_join(a, ws_test_dir(a), "x.whl", NULL);
	static const char *const absent[] = {"COPYING"};
	static const char *const outside[] = {"../LICENSE"};
	static const struct ws_wheel_file own = {
		"demo_kernels-1.0+cu.12.4.dist-info/RECORD", "/dev/null", false};
	static const struct ws_wheel_file stray = {"lib.so", "/dev/null", false};
	struct ws_metadata copying = metadata, parent = metadata, unread = metadata;
	copying.license_files = absent;
	parent.license_files = outside;
	unread.description_file = "README.rst";
	struct ws_wheel_spec specs[9];
	for (size_t i = 0; i < WS_LEN(specs); i++) {
		specs[i] = good;
	}
	specs[0].version = "1.0+CU-12.4";
	specs[1].version = "one";
	specs[2].metadata = &copying;
	specs[3].metadata = &parent;
	specs[4].metadata = &unread;
	specs[5].files = &own;
	specs[6].tags = (struct ws_wheel_tags){"py3", "none", "any"};
	specs[7] = specs[6];
	specs[7].module_count = 0;
	specs[7].files = &stray;
	specs[8].tags.python = "3.11";
	static const char *const why[] = {"must be written '1.0+cu.12.4'", "'one' is not a version",
		"no licence file 'COPYING'", "'../LICENSE' is not inside", "reading the description",
		"is in a dist-info folder", "'demo/_C.so' is a shared object",
		"'lib.so' is a shared object", "is not a wheel's name: its python tag"};
	for (size_t i = 0; i < WS_LEN(specs); i++) {
		struct ws_err err = {0};
		if (ws_wheel_write(&specs[i], path, &err)) {
			fail_msg("taken: %s", why[i]);
		}
		assert_contains(err.text, why[i]);
		assert_false(ws_fs_exists(path));
	}
}
