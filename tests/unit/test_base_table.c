/* test_base_table.c - one table reads and writes a record. */
#include "test.h"

#include "base/table.h"

enum mood { MOOD_NONE, MOOD_GOOD, MOOD_BAD };
static const char *const mood_words[] = {"", "good", "bad", NULL};

struct size_pair {
	uint64_t packed, installed;
};

struct part {
	const char *name;
	bool cuda;
};

struct group {
	const char *name;
	unsigned count;
};

struct version {
	unsigned major, minor;
};

struct sample {
	const char *name, *why;
	enum mood mood;
	uint64_t bytes;
	int64_t shift;
	unsigned threads;
	int low;
	bool done;
	struct ws_digest digest;
	struct version version;
	struct size_pair now, before;
	const struct part *best;
	const struct part *parts;
	size_t part_count;
	const char *const *tags;
	size_t tag_count;
	const struct group *groups;
	size_t group_count;
	const struct ws_json *extra;
};

static bool
read_version(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct version *version = into;
	return ws_expect(r, value, WS_JSON_STRING, "a version")
		&& sscanf(value->text, "%u.%u", &version->major, &version->minor) == 2;
}

static const char *
version_text(const void *value, struct ws_arena *a)
{
	const struct version *version = value;
	return version->major ? ws_arena_printf(a, "%u.%u", version->major, version->minor) : NULL;
}

static const struct ws_type type_version = {.name = "a version",
	.plural = "versions",
	.size = sizeof(struct version),
	.read = read_version,
	.text = version_text};

static const struct ws_field size_fields[] = {
	WS_VALUE("size", struct size_pair, packed, WS_ALWAYS, "of the file, bytes"),
	WS_VALUE("installed", struct size_pair, installed, WS_ALWAYS, NULL),
};
static const struct ws_table size_table = {NULL, size_fields, WS_LEN(size_fields)};

static const struct ws_field part_fields[] = {
	WS_VALUE("name", struct part, name, WS_ALWAYS, NULL),
	WS_VALUE("cuda", struct part, cuda, WS_IF_ANY, NULL),
};
static const struct ws_table part_table = {"a part", part_fields, WS_LEN(part_fields)};

static const struct ws_field group_fields[] = {
	WS_VALUE("name", struct group, name, WS_ALWAYS, NULL),
	WS_VALUE("count", struct group, count, WS_ALWAYS, NULL),
};
static const struct ws_table group_table = {NULL, group_fields, WS_LEN(group_fields)};

static const struct ws_field fields[] = {
	WS_FIXED("schema", "wheelsmith.sample/1"),
	WS_VALUE("name", struct sample, name, WS_ALWAYS, "its name"),
	WS_VALUE("why", struct sample, why, WS_OR_NULL, "null: no reason"),
	WS_WORD("mood", struct sample, mood, mood_words, WS_OR_NULL, NULL),
	WS_VALUE("bytes", struct sample, bytes, WS_IF_ANY, NULL),
	WS_VALUE("shift", struct sample, shift, WS_IF_ANY, NULL),
	WS_VALUE("threads_at_most", struct sample, threads, WS_IF_ANY, NULL),
	WS_VALUE("low", struct sample, low, WS_IF_ANY, NULL),
	WS_VALUE("done", struct sample, done, WS_ALWAYS, NULL),
	WS_VALUE("sha256", struct sample, digest, WS_IF_ANY, NULL),
	WS_VALUE_AS("version", struct sample, version, type_version, WS_IF_ANY, NULL),
	WS_OBJECT("now", struct sample, now, size_table, WS_ALWAYS, NULL),
	WS_OBJECT("before", struct sample, before, size_table, WS_IF_ANY, NULL),
	WS_POINTED("best", struct sample, best, part_table, WS_OR_NULL, NULL),
	WS_LIST_OF("parts", struct sample, parts, part_count, part_table, WS_ALWAYS, NULL),
	WS_LIST("tags", struct sample, tags, tag_count, WS_IF_ANY, NULL),
	WS_MAP("groups", struct sample, groups, group_count, group_table, WS_IF_ANY, NULL),
	WS_VALUE("extra", struct sample, extra, WS_IF_ANY, NULL),
};
static const struct ws_table table = {"a sample", fields, WS_LEN(fields)};

#define X "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char whole[] =
	"{\"schema\":\"wheelsmith.sample/1\",\"name\":\"demo\",\"why\":null,\"mood\":\"bad\","
	"\"bytes\":18446744073709551615,\"shift\":-9223372036854775808,\"threads_at_most\":4294967295,"
	"\"low\":-2147483648,\"done\":true,\"sha256\":\"" X "\",\"version\":\"2.5\","
	"\"now\":{\"size\":1,\"installed\":2},\"before\":{\"size\":3,\"installed\":0},"
	"\"best\":{\"name\":\"x\",\"cuda\":true},\"parts\":[{\"name\":\"a\"},{\"name\":\"b\",\"cuda\":"
	"true}],"
	"\"tags\":[\"t\",\"u\"],\"groups\":{\"g\":1,\"h\":0},"
	"\"extra\":{\"k\":[1,null]}}";

static const char least[] = "{\"schema\":\"wheelsmith.sample/"
							"1\",\"name\":\"demo\",\"why\":null,\"mood\":null,\"done\":false,"
							"\"now\":{\"size\":0,\"installed\":0},\"best\":null,\"parts\":[]}";

static bool
parse(const char *text, struct sample *sample, struct ws_arena *a, struct ws_err *err)
{
	*sample = (struct sample){0};
	return ws_table_parse("sample.json", ws_str_of(text), &table, a, sample, err);
}

static void
assert_writes(const struct sample *sample, const char *expected)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	ws_table_text(&table, sample, WS_JSON_COMPACT, &out);
	assert_string_equal(ws_buf_text(&out), expected);
}

WS_TEST(a_record_that_was_written_is_read_unchanged)
{
	static const char *const texts[] = {whole, least};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_err err = {0};
		struct sample sample;
		assert_ok(parse(texts[i], &sample, a, &err), err);
		assert_writes(&sample, texts[i]);
	}
}

WS_TEST_ERR(every_member_is_read)
{
	struct sample s;
	assert_ok(parse(whole, &s, a, &err), err);
	assert_int_equal(s.mood, MOOD_BAD);
	assert_true(s.bytes == UINT64_MAX && s.shift == INT64_MIN);
	assert_true(s.threads == UINT32_MAX && s.low == INT32_MIN);
	assert_string_equal(s.digest.hex, X);
	assert_int_equal(s.version.minor, 5);
	assert_int_equal(s.before.packed, 3);
	assert_true(s.best->cuda);
	assert_int_equal(s.part_count, 2);
	assert_string_equal(s.tags[1], "u");
	assert_string_equal(s.groups[0].name, "g");
	assert_int_equal(s.groups[0].count, 1);
	assert_int_equal(s.extra->count, 1);
}

WS_TEST_ERR(keys_that_a_newer_program_adds_are_skipped)
{
	struct sample s;
	const char *text = ws_arena_printf(a, "{\"newer\":[{}],%s", least + 1);
	assert_ok(parse(text, &s, a, &err), err);
	assert_writes(&s, least);
}

WS_TEST(a_damaged_record_is_an_error_with_the_reason)
{
	static const char *const cases[][3] = {
		{"\"done\":false", "\"done\":0", "expected true or false for 'done', got a number"},
		{"\"done\":false,", "", "a sample needs 'done'"},
		{"\"mood\":null", "\"mood\":\"odd\"", "'odd' is not a value of 'mood'"},
		{"\"mood\":null", "\"mood\":\"\"", "'' is not a value of 'mood'"},
		{"\"name\":\"demo\"", "\"name\":null", "expected a string for 'name', got null"},
		{"\"parts\":[]", "\"parts\":[1]", "expected an object for 'parts', got a number"},
		{"sample/1", "sample/2", "'wheelsmith.sample/2' is not 'wheelsmith.sample/1'"},
		{"\"best\"", "\"bytes\":-1,\"best\"", "'-1' does not fit into 'bytes'"},
		{"\"best\"", "\"bytes\":18446744073709551616,\"best\"", "does not fit into 'bytes'"},
		{"\"best\"", "\"threads_at_most\":4294967296,\"best\"",
			"does not fit into 'threads_at_most'"},
		{"\"best\"", "\"low\":2147483648,\"best\"", "does not fit into 'low'"},
		{"\"best\"", "\"low\":1.5,\"best\"", "'1.5' does not fit into 'low'"},
		{"\"best\"", "\"shift\":9223372036854775808,\"best\"", "does not fit into 'shift'"},
		{"\"best\"", "\"sha256\":\"0\",\"best\"", "'0' is not a sha256"},
		{"\"best\"", "\"groups\":[],\"best\"", "expected an object for 'groups', got a list"},
		{"\"best\"", "\"groups\":{\"g\":\"1\"},\"best\"", "expected a number for 'g'"},
		{"\"best\"", "best", "sample.json"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_err err = {0};
		struct sample s;
		const char *at = strstr(least, cases[i][0]);
		const char *text = ws_arena_printf(
			a, "%.*s%s%s", (int)(at - least), least, cases[i][1], at + strlen(cases[i][0]));
		assert_fails(parse(text, &s, a, &err), err, WS_ERR_IO);
		assert_contains(err.text, "'sample.json' is damaged: ");
		assert_contains(err.text, cases[i][2]);
		assert_false(parse(text, &s, a, NULL));
	}
}
