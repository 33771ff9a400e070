/* test_config_lock.c - lock files: one text for the same pins, read strictly, written in one
 * step. */
#include "test.h"

#include "base/fs.h"
#include "config/lock.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static const char golden[] = "{\n"
							 "  \"schema\": \"wheelsmith.lock/1\",\n"
							 "  \"sources\": [\n"
							 "    {\n"
							 "      \"package\": \"alpha\",\n"
							 "      \"version\": \"2.0\",\n"
							 "      \"how\": \"git\",\n"
							 "      \"from\": \"https://git.example/alpha\",\n"
							 "      \"commit\": \"" COMMIT "\",\n"
							 "      \"tree\": \"" HEX "\",\n"
							 "      \"definition\": \"" HEX "\"\n"
							 "    },\n"
							 "    {\n"
							 "      \"package\": \"beta\",\n"
							 "      \"version\": \"1.0\",\n"
							 "      \"how\": \"sdist\",\n"
							 "      \"from\": \"beta-1.0.tar.gz\",\n"
							 "      \"sha256\": \"" HEX "\",\n"
							 "      \"tree\": \"" HEX "\"\n"
							 "    }\n"
							 "  ],\n"
							 "  \"cuda\": [\n"
							 "    {\n"
							 "      \"cuda\": \"12.4\",\n"
							 "      \"how\": \"archive\",\n"
							 "      \"name\": \"cuda-12.4\",\n"
							 "      \"digest\": \"" HEX "\",\n"
							 "      \"definition\": \"" HEX "\",\n"
							 "      \"debian\": \"mirror\"\n"
							 "    },\n"
							 "    {\n"
							 "      \"cuda\": \"13.0\",\n"
							 "      \"how\": \"host\",\n"
							 "      \"name\": \"/usr/local/cuda-13.0\",\n"
							 "      \"digest\": \"" HEX "\"\n"
							 "    }\n"
							 "  ],\n"
							 "  \"torch\": [\n"
							 "    {\n"
							 "      \"torch\": \"2.5.1\",\n"
							 "      \"wheel\": \"torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl\",\n"
							 "      \"record\": \"" HEX "\",\n"
							 "      \"tree\": \"" HEX "\",\n"
							 "      \"cuda\": \"12.4\",\n"
							 "      \"cxx11abi\": 0\n"
							 "    }\n"
							 "  ],\n"
							 "  \"exports\": [\n"
							 "    {\n"
							 "      \"torch\": \"2.5.1+cu118\",\n"
							 "      \"definition\": \"" HEX "\",\n"
							 "      \"tree\": \"" HEX "\"\n"
							 "    }\n"
							 "  ],\n"
							 "  \"prebuilt\": [\n"
							 "    {\n"
							 "      \"package\": \"alpha\",\n"
							 "      \"version\": \"2.0\",\n"
							 "      \"wheel\": \"alpha-2.0-cp311-cp311-linux_x86_64.whl\",\n"
							 "      \"from\": \"https://h.example/alpha-2.0.whl\",\n"
							 "      \"sha256\": \"" HEX "\"\n"
							 "    },\n"
							 "    {\n"
							 "      \"package\": \"beta\",\n"
							 "      \"version\": \"1.0\",\n"
							 "      \"wheel\": \"beta-1.0-py3-none-any.whl\",\n"
							 "      \"from\": \"/srv/wheels/beta-1.0-py3-none-any.whl\",\n"
							 "      \"sha256\": \"" HEX "\"\n"
							 "    }\n"
							 "  ]\n"
							 "}\n";

/* The pins of the golden text, put in another order. */
static struct ws_lock
make_lock(struct ws_arena *a)
{
	struct ws_lock lock = {0};
	const struct ws_pin_source sources[] = {
		{"beta", "1.0", "sdist", "beta-1.0.tar.gz", HEX, NULL, HEX, NULL},
		{"alpha", "2.0", "git", "https://git.example/alpha", NULL, COMMIT, HEX, HEX},
	};
	const struct ws_pin_cuda cudas[] = {
		{"13.0", "host", "/usr/local/cuda-13.0", HEX, NULL, NULL},
		{"12.4", "archive", "cuda-12.4", HEX, HEX, "mirror"},
	};
	const struct ws_pin_torch torch = {
		"2.5.1", "torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl", "", HEX, HEX, "12.4", 0};
	const struct ws_pin_exports exports = {"2.5.1+cu118", HEX, HEX};
	const struct ws_pin_prebuilt wheels[] = {
		{"beta", "1.0", "beta-1.0-py3-none-any.whl", "/srv/wheels/beta-1.0-py3-none-any.whl", HEX},
		{"alpha", "2.0", "alpha-2.0-cp311-cp311-linux_x86_64.whl",
			"https://h.example/alpha-2.0.whl", HEX},
	};
	for (size_t i = 0; i < 2; i++) {
		assert_true(ws_lock_put(&lock, WS_PIN_PREBUILT, &wheels[i], a));
		assert_true(ws_lock_put(&lock, WS_PIN_SOURCE, &sources[i], a));
		assert_true(ws_lock_put(&lock, WS_PIN_CUDA, &cudas[i], a));
	}
	assert_true(ws_lock_put(&lock, WS_PIN_TORCH, &torch, a));
	assert_true(ws_lock_put(&lock, WS_PIN_EXPORTS, &exports, a));
	return lock;
}

static bool
parse(const char *text, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err)
{
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	return ws_json_parse("x.lock.json", text, strlen(text), WS_JSON_STRICT, a, doc, err)
		&& ws_lock_parse(doc, a, lock, err);
}

WS_TEST(the_text_is_sorted_and_stable)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_lock lock = make_lock(a);
	ws_lock_write(&lock, &text);
	assert_string_equal(ws_buf_text(&text), golden);
}

WS_TEST(a_written_lock_is_read_back)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err err = {0};
	struct ws_lock lock;
	assert_ok(parse(golden, a, &lock, &err), err);
	assert_string_equal(ws_lock_torch(&lock, "2.5.1")->sha256, "");
	assert_null(ws_lock_source(&lock, "alpha", "2.0")->sha256);
	assert_null(ws_lock_cuda(&lock, "13.0")->debian);
	ws_lock_write(&lock, &text);
	assert_string_equal(ws_buf_text(&text), golden);
}

WS_TEST(a_lock_that_was_read_can_grow)
{
	struct ws_err err = {0};
	struct ws_lock lock;
	assert_ok(parse(golden, a, &lock, &err), err);
	for (int i = 0; i < 20; i++) {
		const char *version = ws_arena_printf(a, "%d.0", i);
		struct ws_pin_source pin = {"gamma", version, "folder", "src", NULL, NULL, HEX, NULL};
		assert_true(ws_lock_put(&lock, WS_PIN_SOURCE, &pin, a));
		assert_false(ws_lock_put(&lock, WS_PIN_SOURCE, &pin, a));
	}
	assert_int_equal(lock.sources.len, 22);
	assert_non_null(ws_lock_source(&lock, "alpha", "2.0"));
}

WS_TEST(a_package_is_forgotten_with_its_prebuilt_wheels)
{
	struct ws_lock lock = make_lock(a);
	assert_int_equal(ws_lock_forget(&lock, "alpha"), 2);
	assert_null(
		ws_lock_prebuilt(&lock, "alpha", "alpha-2.0-cp311-cp311-linux_x86_64.whl", HEX, NULL));
	assert_non_null(ws_lock_prebuilt(&lock, "beta", "beta-1.0-py3-none-any.whl", HEX, NULL));
	assert_int_equal(ws_lock_forget(&lock, "torch"), 2);
	assert_int_equal(ws_lock_forget(&lock, "all"), 4);
}

WS_TEST(an_empty_lock_has_no_lists)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_lock lock = {0};
	struct ws_err err = {0};
	ws_lock_write(&lock, &text);
	assert_string_equal(ws_buf_text(&text), "{\n  \"schema\": \"wheelsmith.lock/1\"\n}\n");
	assert_ok(parse(ws_buf_text(&text), a, &lock, &err), err);
	assert_int_equal(lock.sources.len, 0);
}

WS_TEST(mistakes_are_reported_with_their_place)
{
#define START "{\"schema\": \"wheelsmith.lock/1\", "
#define CUDA(how, digest) \
	"{\"cuda\": \"12.4\", \"how\": \"" how "\", \"name\": \"x\", \"digest\": \"" digest "\"}"
	static const struct {
		const char *text, *place, *says;
	} rows[] = {
		{"{}", "x.lock.json:1:1", "a lock needs 'schema'"},
		{"{\"schema\": \"wheelsmith.lock/2\"}", "x.lock.json:1:12",
			"'wheelsmith.lock/2' is not a lock that this program reads"},
		{START "\"wheels\": []}", "x.lock.json:1:33", "unknown key 'wheels' in a lock"},
		{START "\"cuda\": [" CUDA("host", "abc") "]}", "x.lock.json:1:97",
			"'digest' takes a sha256"},
		{START "\"cuda\": [" CUDA("built", HEX) "]}", "x.lock.json:1:66",
			"'built' is not a kind of kit"},
		{START "\"cuda\": [" CUDA("host", HEX) ", " CUDA("archive", HEX) "]}", "x.lock.json:1:166",
			"a second pin of the same thing"},
#define NAMED(file) \
	"{\"package\": \"p\", \"version\": \"1\", \"wheel\": \"" file "\", \"from\": \"f\", " \
	"\"sha256\": \"" HEX "\"}"
#define WHEEL NAMED("p.whl")
		{START "\"prebuilt\": [" NAMED("p/../../x.whl") "]}", "x.lock.json:1:88",
			"'p/../../x.whl' is not a wheel's file name"},
		{START "\"prebuilt\": [" WHEEL ", " WHEEL "]}", "x.lock.json:1:189",
			"a second pin of the same thing"},
		{START "\"torch\": [{\"torch\": \"2.5.1\"}]}", "x.lock.json:1:43",
			"the pin of a torch release needs 'wheel'"},
		{START "\"sources\": [{\"package\": 1}]}", "x.lock.json:1:57",
			"expected a package name for 'package', got a number"},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_err err = {0};
		struct ws_lock lock;
		assert_fails(parse(rows[i].text, a, &lock, &err), err, WS_ERR_CONFIG);
		assert_contains(err.text, rows[i].says);
		assert_string_equal(err.place, rows[i].place);
	}
}

WS_TEST(files_are_named_after_their_matrix)
{
	assert_string_equal(ws_lock_path("matrix/fleet.json", a), "matrix/fleet.lock.json");
	assert_string_equal(ws_lock_path("fleet", a), "fleet.lock.json");
	assert_string_equal(ws_lock_path("a.b.json", a), "a.b.lock.json");
}

WS_TEST(a_lock_is_saved_in_one_step)
{
	struct ws_err err = {0};
	struct ws_lock lock = make_lock(a), again;
	const char *dir = ws_test_dir(a);
	const char *path = ws_lock_path(ws_path_join(a, dir, "fleet.json", NULL), a);
	assert_ok(ws_lock_read(path, a, &again, &err), err);
	assert_int_equal(again.sources.len + again.cuda.len + again.torch.len, 0);
	assert_ok(ws_lock_save(path, &lock, &err), err);
	assert_ok(ws_lock_read(path, a, &again, &err), err);
	assert_int_equal(again.sources.len, 2);
	const char *nowhere = ws_path_join(a, dir, "none", "fleet.lock.json", NULL);
	assert_fails(ws_lock_save(nowhere, &lock, &err), err, WS_ERR_IO);
}
