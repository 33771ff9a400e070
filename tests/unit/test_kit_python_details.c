/* test_kit_python_details.c - build-details.json (PEP 739), read where nothing is run. */
#include "test.h"

#include "base/fs.h"
#include "kit/python/python.h"

/* As CPython 3.14 writes it with relative paths; FLAGS, and the line of the suffix. */
#define DETAILS(flags, suffix, libpython) \
	"{\"schema_version\": \"1.0\", \"base_prefix\": \"../..\"," \
	" \"base_interpreter\": \"./bin/python3.14\", \"platform\": \"linux-x86_64\"," \
	" \"language\": {\"version\": \"3.14\"}," \
	" \"implementation\": {\"name\": \"cpython\", \"cache_tag\": \"cpython-314\"," \
	"  \"version\": {\"major\": 3, \"minor\": 14, \"micro\": 2, \"releaselevel\": \"candidate\"," \
	"   \"serial\": 3}, \"_multiarch\": \"x86_64-linux-gnu\"}," \
	" \"abi\": {\"flags\": [" flags "]" suffix "}," \
	" \"suffixes\": {\"extensions\": [\".cpython-314-x86_64-linux-gnu.so\", \".abi3.so\", " \
	"\".so\"]}," \
	" \"libpython\": {" libpython "}," \
	" \"c_api\": {\"headers\": \"./include/python3.14\"}}"

WS_TEST(build_details_are_read_without_running_anything)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const char *path = ws_test_file(a, root, "usr/lib/python3.14/build-details.json",
		DETAILS("\"t\"", ", \"extension_suffix\": \".cpython-314t-x86_64-linux-gnu.so\"",
			"\"dynamic\": \"./lib/libpython3.14t.so\""),
		0644);
	ws_test_file(a, root, "usr/include/x86_64-linux-gnu/python3.14/pyconfig.h", "", 0644);
	assert_ok(ws_python_ask(ws_test_env(), path, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.14.2rc3");
	assert_true(kit.tag.free_threaded);
	assert_null(kit.interpreter);
	assert_null(kit.library);
	assert_null(kit.purelib);
	assert_string_equal(kit.ext_suffix, ".cpython-314t-x86_64-linux-gnu.so");
	assert_string_equal(kit.include, ws_path_join(a, root, "usr/include/python3.14", NULL));
	assert_string_equal(kit.platform_include,
		ws_path_join(a, root, "usr/include/x86_64-linux-gnu/python3.14", NULL));
	const char *interpreter = ws_test_file(a, root, "usr/bin/python3.14", "", 0644);
	assert_ok(ws_python_ask(ws_test_env(), path, a, &kit, &err), err);
	assert_string_equal(kit.library, interpreter);
	const char *library = ws_test_file(a, root, "usr/lib/libpython3.14t.so", "", 0644);
	assert_ok(ws_python_ask(ws_test_env(), path, a, &kit, &err), err);
	assert_string_equal(kit.library, library);
}

/* Debian's python3.14 writes no abi.extension_suffix and calls the file by flags and machine. */
WS_TEST(an_interpreter_that_cannot_run_has_its_build_details_read)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const char *python = ws_test_file(a, root, "usr/bin/python3.14",
		"\x7f"
		"ELF for a different machine",
		0755);
	ws_test_file(a, root, "usr/lib/python3.14/build-details.d.x86_64-linux-gnu.json",
		DETAILS("\"d\"", "", ""), 0644);
	ws_test_file(a, root, "usr/lib/python3.14/build-details..x86_64-linux-gnu.json",
		DETAILS("", "", "\"static\": \"x.a\""), 0644);
	assert_ok(ws_python_ask(ws_test_env(), python, a, &kit, &err), err);
	assert_false(kit.tag.free_threaded);
	assert_string_equal(kit.ext_suffix, ".cpython-314-x86_64-linux-gnu.so");
	assert_null(kit.platform_include);
	assert_string_equal(kit.library, python);
}

#define DETAILS_OF(name, major) \
	("{\"schema_version\": \"1.0\", \"implementation\": {\"name\": \"" name \
	 "\", \"version\": {\"major\": " major ", \"minor\": 14, \"micro\": 0}}}")

WS_TEST(build_details_that_are_none_are_refused)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"schema_version\": \"2.0\"}",
		"{\"schema_version\": \"1.0\"}",
		DETAILS_OF("cpython", "3"),
		DETAILS_OF("graalpy", "24"),
	};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_err err;
		struct ws_python_kit kit;
		const char *path = ws_test_file(a, ws_test_dir(a), "build-details.json", texts[i], 0644);
		assert_fails(ws_python_ask(ws_test_env(), path, a, &kit, &err), err, WS_ERR_CONFIG);
		assert_contains(err.text, path);
	}
}
