/* test_bundle_head.c - a bundle's list: every part is checked before use. cli/bundle.bats tests
 * members that the list does not name. */
#include "test.h"

#include "bundle/bundle.h"

#define ONE "1111111111111111111111111111111111111111111111111111111111111111"
#define TWO "abababababababababababababababababababababababababababababababab"

static bool
read_head(const char *text, struct ws_arena *a, struct ws_bundle_head *head, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	ws_buf_puts(&bytes, text);
	*err = (struct ws_err){0};
	return ws_bundle_head_read("x.bundle", &bytes, a, head, err);
}

/* A list with these members of "asked", this tree beside the matrix, and this file. */
static const char *
make_text(
	const char *asked, const char *tree, const char *digest, const char *blob, struct ws_arena *a)
{
	return ws_arena_printf(a,
		"{\"schema\": \"wheelsmith.bundle/1\", \"folder\": \"" ONE "\", \"asked\": {%s},"
		" \"trees\": [{\"name\": \"bundle\", \"digest\": \"" ONE
		"\"}, {\"name\": \"%s\", \"digest\": \"%s\"}],"
		" \"blobs\": [\"%s\"]}",
		asked, tree, digest, blob);
}

WS_TEST(a_written_list_is_read_back)
{
	static const char *const blobs[] = {TWO};
	struct ws_tree trees[] = {{.name = "torch-2.5.1"}, {.name = WS_BUNDLE_TREE}};
	struct ws_bundle_head head = {
		.asked = {.only = "*cp311*", .policy = "prebuilt-only", .torch_window = true},
		.trees = trees,
		.tree_count = WS_LEN(trees),
		.blobs = blobs,
		.blob_count = 1};
	struct ws_bundle_head back;
	struct ws_err err;
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_true(ws_digest_parse(ONE, &trees[1].digest));
	assert_true(ws_digest_parse(TWO, &trees[0].digest));
	head.folder = trees[1].digest;
	ws_bundle_head_write(&head, &text);
	assert_ok(read_head(ws_buf_text(&text), a, &back, &err), err);
	assert_string_equal(back.asked.only, "*cp311*");
	assert_string_equal(back.asked.policy, "prebuilt-only");
	assert_null(back.asked.shard);
	assert_true(back.asked.torch_window);
	assert_int_equal(back.tree_count, 2);
	assert_string_equal(ws_bundle_tree_name(&back.trees[0], a), "torch-2.5.1-abababababababab");
	assert_string_equal(back.blobs[0], TWO);
	assert_string_equal(back.folder.hex, ONE);
}

WS_TEST(a_name_or_digest_that_could_lead_elsewhere_is_refused)
{
	static const char upper[] = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";
	static const char *const names[] = {
		"..", "", ".hidden", "a/b", "../x", "a b", "a\\u0000b", "a\\nb"};
	struct ws_bundle_head head;
	struct ws_err err;
	assert_ok(read_head(make_text("", "src-x-1!2.0+cu", TWO, TWO, a), a, &head, &err), err);
	for (size_t i = 0; i < WS_LEN(names); i++) {
		assert_fails(
			read_head(make_text("", names[i], TWO, TWO, a), a, &head, &err), err, WS_ERR_FETCH);
	}
	const char *many = ws_arena_printf(a, "%0201d", 1);
	assert_fails(read_head(make_text("", many, TWO, TWO, a), a, &head, &err), err, WS_ERR_FETCH);
	/* Paths of the store have digits in lower case. */
	assert_fails(read_head(make_text("", "t", upper, TWO, a), a, &head, &err), err, WS_ERR_FETCH);
	assert_fails(read_head(make_text("", "t", TWO, upper, a), a, &head, &err), err, WS_ERR_FETCH);
	assert_fails(read_head(make_text("", "t", TWO, "../x", a), a, &head, &err), err, WS_ERR_FETCH);
}

WS_TEST(a_list_without_its_matrix_or_with_a_wrong_kind_is_refused)
{
	static const char *const texts[] = {"", "[]", "{}", "null",
		"{\"schema\": \"wheelsmith.bundle/2\"}",
		"{\"schema\": \"wheelsmith.bundle/1\", \"folder\": \"" ONE
		"\", \"asked\": {}, \"trees\": [], \"blobs\": []}",
		"{\"schema\": \"wheelsmith.bundle/1\", \"folder\": \"" ONE "\", \"asked\": {},"
		" \"trees\": [{\"name\": \"bundle\", \"digest\": \"" TWO "\"}], \"blobs\": []}",
		"{\"schema\": \"wheelsmith.bundle/1\", \"folder\": \"" ONE "\", \"asked\": {},"
		" \"trees\": {\"name\": \"bundle\", \"digest\": \"" ONE "\"}, \"blobs\": []}",
		"{\"schema\": \"wheelsmith.bundle/1\", \"folder\": \"" ONE "\", \"asked\": {},"
		" \"trees\": [{\"name\": \"bundle\", \"digest\": \"" ONE "\"}], \"blobs\": [1]}"};
	struct ws_bundle_head head;
	struct ws_err err;
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		assert_fails(read_head(texts[i], a, &head, &err), err, WS_ERR_FETCH);
		assert_contains(err.text, "x.bundle");
	}
}

WS_TEST(its_selection_is_one_that_a_person_could_type)
{
	static const struct {
		const char *asked, *says;
	} refused[] = {
		{"\"only\": \"\"", "asked.only is not a list of cells"},
		{"\"shard\": \"3/2\"", "asked.shard is not I/N with I from 1 to N"},
		{"\"policy\": \"any\"", "asked.policy is not prefer-prebuilt"},
		{"\"debug_info\": true", "asked.debug_info is not one of none, lines, full"},
		{"\"kits\": \"/etc\"", "asked.kits is not host or archive"},
		{"\"torch_window\": \"yes\"", "asked.torch_window is not true or false"},
	};
	struct ws_bundle_head head;
	struct ws_err err;
	assert_ok(read_head(make_text("\"only\": null, \"shard\": \"2/3\", \"kits\": \"host\"", "t",
							TWO, TWO, a),
				  a, &head, &err),
		err);
	for (size_t i = 0; i < WS_LEN(refused); i++) {
		assert_fails(read_head(make_text(refused[i].asked, "t", TWO, TWO, a), a, &head, &err), err,
			WS_ERR_FETCH);
		assert_contains(err.text, refused[i].says);
	}
}
