/* test_base_schemas.c - schemas/ is generated from the tables of the records. WS_UPDATE_GOLDEN=1
 * writes the files again: read the difference before you keep it. */
#include "test.h"

#include "base/fs.h"
#include "cli/session.h"
#include "judge/verdict.h"
#include "judge/wheel_facts.h"
#include "publish/catalog.h"
#include "publish/folder/index_folder.h"
#include "report/json_lines.h"
#include "report/plan_text.h"
#include "schema.h"

/* ---- the generator ---- */

static const char *const mood_words[] = {"", "good", "bad", NULL};

struct part {
	const char *name, *why;
	const char *const *tags;
	size_t tag_count;
	unsigned mood;
	uint64_t bytes;
	int shift;
	bool done;
	struct ws_digest digest;
	const struct part *parts, *best;
	size_t part_count;
	const struct ws_json *extra;
};

static const struct ws_table part_table;

static const struct ws_field inner_fields[] = {
	WS_VALUE("bytes", struct part, bytes, WS_ALWAYS, "of all together"),
};
static const struct ws_table inner_table = {NULL, inner_fields, WS_LEN(inner_fields)};

static const struct ws_type type_short = {.name = "a tag",
	.plural = "tags",
	.size = sizeof(const char *),
	.kind = WS_KIND_TEXT,
	.schema = "{\"type\": \"string\", \"maxLength\": 3}"};

static const struct ws_field part_fields[] = {
	WS_FIXED("schema", "wheelsmith.part/1"),
	WS_VALUE("name", struct part, name, WS_ALWAYS, "the name"),
	WS_VALUE("why", struct part, why, WS_OR_NULL, NULL),
	WS_WORD("mood", struct part, mood, mood_words, WS_OR_NULL, NULL),
	WS_VALUE("shift", struct part, shift, WS_IF_ANY, NULL),
	WS_VALUE("done", struct part, done, WS_IF_ANY, NULL),
	WS_VALUE("sha256", struct part, digest, WS_IF_ANY, NULL),
	WS_LIST_AS("tags", struct part, tags, tag_count, type_short, WS_FIELD_UNIQUE, NULL),
	WS_PART("inner", inner_table, WS_ALWAYS, NULL),
	WS_LIST_OF("parts", struct part, parts, part_count, part_table, WS_IF_ANY, "those within"),
	WS_POINTED("best", struct part, best, part_table, WS_OR_NULL, NULL),
	WS_MAP("sizes", struct part, parts, part_count, part_table, WS_IF_ANY, NULL),
	WS_VALUE("extra", struct part, extra, WS_IF_ANY, NULL),
};
static const struct ws_table part_table = {"a small part", part_fields, WS_LEN(part_fields)};

WS_TEST(a_table_becomes_a_schema)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	const struct ws_schema schema = {"part-1", "a part", "How it is.", &part_table, false};
	ws_schema_write(&schema, a, &out);
	static const char properties[] =
		"  \"type\": \"object\",\n"
		"  \"required\": [\"schema\", \"name\", \"why\", \"mood\", \"inner\", \"best\"],\n"
		"  \"properties\": {\n"
		"    \"schema\": {\"const\": \"wheelsmith.part/1\"},\n"
		"    \"name\": {\"description\": \"the name\", \"type\": \"string\"},\n"
		"    \"why\": {\"type\": [\"string\", \"null\"]},\n"
		"    \"mood\": {\"enum\": [\"good\", \"bad\", null]},\n"
		"    \"shift\": {\"type\": \"integer\"},\n"
		"    \"done\": {\"type\": \"boolean\"},\n"
		"    \"sha256\": {\"type\": \"string\", \"pattern\": \"^[0-9a-f]{64}$\"},\n"
		"    \"tags\": {\"type\": \"array\", \"uniqueItems\": true, \"items\": {\"type\": "
		"\"string\", "
		"\"maxLength\": 3}},\n"
		"    \"inner\": {\n"
		"      \"type\": \"object\",\n"
		"      \"required\": [\"bytes\"],\n"
		"      \"properties\": {\"bytes\": {\"description\": \"of all together\", \"type\": "
		"\"integer\", \"minimum\": 0}}\n"
		"    },\n"
		"    \"parts\": {\"description\": \"those within\", \"type\": \"array\", \"items\": "
		"{\"$ref\": \"#/$defs/small_part\"}},\n"
		"    \"best\": {\"anyOf\": [{\"$ref\": \"#/$defs/small_part\"}, {\"type\": \"null\"}]},\n"
		"    \"sizes\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}},\n"
		"    \"extra\": {}\n"
		"  }";
	assert_contains(ws_buf_text(&out), "{\n  \"$schema\": \"https://json-schema.org/");
	assert_contains(ws_buf_text(&out),
		"  \"$id\": \"part-1.json\",\n  \"title\": \"a part\",\n"
		"  \"description\": \"How it is.\",\n");
	const char *first = strstr(ws_buf_text(&out), properties);
	assert_non_null(first);
	assert_contains(first + 1, "\"$defs\": {\n    \"small_part\": {\n      \"type\": \"object\",");
}

WS_TEST(the_schema_of_a_file_that_people_write_is_closed)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	const struct ws_schema schema = {"part-1", "a part", NULL, &part_table, true};
	ws_schema_write(&schema, a, &out);
	assert_contains(ws_buf_text(&out), "  \"additionalProperties\": false,\n  \"required\": [");
	assert_contains(ws_buf_text(&out), "\"tags\": {\"type\": \"array\", \"minItems\": 1,");
}

/* ---- the files ---- */

/* Each schema whose record has a table: add yours here, beside the include of its header. */
static const struct ws_schema schemas[] = {
	{"verify-1", "wheelsmith: the output of `wheelsmith verify --json`",
		"The verdict comes first, here and in each part. Members are only added.",
		&ws_verify_result_table, false},
	{"inspect-1", "wheelsmith: the output of `wheelsmith inspect --json`",
		"Facts about a wheel, an installed package or a library. Unknown members are null or "
		"absent. "
		"Members are only added.",
		&ws_wheel_facts_table, false},
	{"plan-1", "wheelsmith: a plan, `plan --json`",
		"Unknown values are null. Members are only added.", &ws_plan_table, false},
	{"event-1", "wheelsmith: a line of `wheelsmith build --json`",
		"Members that an event does not have are left out. Members and events are only added.",
		&ws_event_table, false},
	{"cache-1", "wheelsmith: the output of `wheelsmith cache --json`",
		"The members of the part that ran follow the first two. Members are only added.",
		&ws_cache_result_table, false},
	{"explain-1", "wheelsmith: the output of `wheelsmith explain --json`",
		"Members are only added.", &ws_explain_result_table, false},
	{"recipe-check-1", "wheelsmith: the output of `wheelsmith recipe check --json`",
		"Members are only added.", &ws_recipe_check_table, false},
	{"recipe-list-1", "wheelsmith: the output of `wheelsmith recipe list --json`",
		"Members are only added.", &ws_recipe_list_table, false},
	{"index-1", "wheelsmith: the wheels of an index and the facts about each, index.json",
		"Members are only added.", &ws_index_catalog_table, false},
	{"manifest-1", "wheelsmith: the files of a snapshot of an index, manifest.json",
		"manifest.json.sig, 64 bytes, is the Ed25519 signature over the bytes of this file.",
		&ws_index_manifest_table, false},
	{"publish-1", "wheelsmith: the output of `wheelsmith publish --json`",
		"Members are only added.", &ws_publish_report_table, false},
};

WS_TEST(the_files_in_schemas_are_what_the_tables_say)
{
	for (size_t i = 0; i < WS_LEN(schemas); i++) {
		WS_AUTO_BUF struct ws_buf made = {0};
		WS_AUTO_BUF struct ws_buf kept = {0};
		struct ws_err err = {0};
		const char *path =
			ws_arena_printf(a, "%s/schemas/%s.json", WS_SOURCE_DATA_DIR, schemas[i].name);
		ws_schema_write(&schemas[i], a, &made);
		if (getenv("WS_UPDATE_GOLDEN")) {
			assert_ok(ws_fs_write_atomic(path, made.data, made.len, 0644, &err), err);
		}
		assert_ok(ws_fs_read(path, &kept, &err), err);
		assert_string_equal(ws_buf_text(&kept), ws_buf_text(&made));
	}
}
