/* test_kit_redist.c - NVIDIA's manifests as text: what is taken of them, and what is none. Kits by
 * them: test_kit_archive.c. */
#include "test.h"

#include "kit/cuda/redist.h"

static bool
parse(const char *text, struct ws_arena *a, struct ws_redist *r, struct ws_err *err)
{
	return ws_redist_parse(ws_str_of(text), "13.3.1", a, r, err);
}

#define SHA "\"sha256\": \"2ff9f995aa00000000000000000000000000000000000000000000000000000f\""

WS_TEST(only_sound_components_for_here_are_taken)
{
	struct ws_redist r;
	struct ws_err err;
	const char *text =
		"{\"release_date\": \"x\", \"release_label\": \"13.3.1\", \"odd\": {\"version\": \"1\"},\n"
		"\"plain\": {\"name\": \"n\", \"version\": \"1\", \"linux-x86_64\":"
		" {\"relative_path\": \"a/b.tar.xz\", " SHA ", \"size\": \"31628824\"}},\n"
		"\"exact\": {\"name\": \"n\", \"version\": \"2\", \"linux-x86_64\": {\"cuda13\":"
		" {\"relative_path\": \"no\", " SHA "}, \"cuda13.3\": {\"relative_path\": \"e\", " SHA
		"}}},\n"
		"\"broad\": {\"name\": \"n\", \"version\": \"3\", \"linux-x86_64\": {\"cuda12\":"
		" {\"relative_path\": \"no\", " SHA "}, \"cuda13\": {\"relative_path\": \"b\", " SHA
		"}}},\n"
		"\"other\": {\"name\": \"n\", \"version\": \"4\", \"linux-x86_64\": {\"cuda12\":"
		" {\"relative_path\": \"no\", " SHA "}}},\n"
		"\"away\": {\"name\": \"n\", \"version\": \"5\", \"windows-x86_64\":"
		" {\"relative_path\": \"w\", " SHA "}},\n"
		"\"escapes\": {\"name\": \"n\", \"version\": \"6\", \"linux-x86_64\":"
		" {\"relative_path\": \"../x\", " SHA "}},\n"
		"\"unhashed\": {\"name\": \"n\", \"version\": \"7\", \"linux-x86_64\":"
		" {\"relative_path\": \"u\", \"sha256\": \"12\"}},\n"
		"\"sized\": {\"name\": \"n\", \"version\": \"8\", \"linux-x86_64\":"
		" {\"relative_path\": \"s\", " SHA ", \"size\": \"-3\"}}}";
	assert_ok(parse(text, a, &r, &err), err);
	assert_int_equal(r.count, 3);
	assert_int_equal(ws_redist_find(&r, "plain")->size, 31628824);
	assert_string_equal(ws_redist_find(&r, "exact")->path, "e");
	assert_string_equal(ws_redist_find(&r, "broad")->path, "b");
	assert_null(ws_redist_find(&r, "other"));
}

WS_TEST(a_malformed_manifest_is_the_server_s_fault)
{
	static const char *const texts[] = {"<html>", "[]", "{}", "{\"cuda_nvcc\": 3}", "\"x\""};
	struct ws_redist r;
	struct ws_err err;
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		assert_fails(parse(texts[i], a, &r, &err), err, WS_ERR_FETCH);
		assert_contains(err.place[0] ? err.place : err.text, "redistrib_13.3.1.json");
	}
}

WS_TEST(a_mirror_serves_what_definitions_name_at_nvidia)
{
	struct ws_fetch fetch = {0};
	const char *at = "https://developer.download.nvidia.com/compute/cuda/redist/cuda_nvcc/x.tar.xz";
	assert_string_equal(ws_redist_mirrored(&fetch, at, a), at);
	fetch.redist_url = "http://localhost/mirror/";
	assert_string_equal(
		ws_redist_mirrored(&fetch, at, a), "http://localhost/mirror/cuda_nvcc/x.tar.xz");
	assert_string_equal(ws_redist_mirrored(&fetch, "https://e/x.tar.xz", a), "https://e/x.tar.xz");
}
