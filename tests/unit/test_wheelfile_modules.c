/* test_wheelfile_modules.c - libraries of an installed package: names and suffixes. cli.verify
 * tests whole wheels. */

#include "compile.h"
#include "wheelfile/modules.h"

/* Compiles @a name below @a root. */
static void
make(struct ws_arena *a, const char *root, const char *name, const char *source,
	const char *const *flags)
{
	struct ws_err err = {0};
	const char *path = ws_path_join(a, root, name, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	ws_test_library(a, ws_path_dir(a, path), ws_path_base(name), source, flags);
}

WS_TEST(a_library_is_known_by_its_name)
{
	static const char *const libraries[] = {"a.so", "p/_C.cpython-311-x86_64-linux-gnu.so",
		"x.libs/libpng16.7f72a3c5.so.16", "libz.so.1.2.13", "a.sox.so",
		"libaws-c-s3-1c5ac285.so.0unstable"};
	static const char *const others[] = {
		".so", "a.so.txt", "a.sox", "soname", "a/b", "a.so.1a", "a.so.1.debug", "a.sounstable"};
	for (size_t i = 0; i < WS_LEN(libraries); i++) {
		assert_true(ws_module_is_named(libraries[i]));
	}
	for (size_t i = 0; i < WS_LEN(others); i++) {
		assert_false(ws_module_is_named(others[i]));
	}
}

WS_TEST(a_python_opens_files_of_its_own_version_and_machine)
{
	const struct ws_machine *intel = ws_machine_named("x86_64"), *arm = ws_machine_named("aarch64");
	static const char here[] = "p/_C.cpython-311-x86_64-linux-gnu.so",
					  there[] = "p/_C.cpython-311-aarch64-linux-gnu.so";
	assert_true(ws_module_opens_in(here, "cp311", intel));
	assert_true(ws_module_opens_in(there, "cp311", arm));
	assert_true(ws_module_opens_in(there, NULL, arm));
	assert_true(ws_module_opens_in("_C.abi3.so", "cp311", arm));
	assert_false(ws_module_opens_in(here, "cp311", arm));
	assert_false(ws_module_opens_in(there, "cp311", intel));
	assert_false(ws_module_opens_in(there, "cp312", arm));
	assert_false(ws_module_opens_in("_C.cpython-311-aarch64-linux-musl.so", "cp311", arm));
	assert_false(ws_module_opens_in("_C.cpython-311-aarch64-linux-gnu.sox", "cp311", arm));
	assert_false(ws_module_opens_in("_C.cpython-311.so", "cp311", arm));
}

WS_TEST(suffix_function_and_files_that_are_not_libraries)
{
	const char *root = ws_test_dir(a);
	struct ws_module files[] = {
		{.name = "p/_C.abi3.so"}, {.name = "p/lost.so"}, {.name = "gone.so"}};
	struct ws_modules m;
	make(a, root, "p/_C.abi3.so", "int c(void) { return 3; }", NULL);
	make(a, root, "p/lost.so", "void *PyInit_lost(void) { return 0; }", NULL);
	for (size_t i = 0; i < WS_LEN(files); i++) {
		files[i].file = ws_path_join(a, root, files[i].name, NULL);
	}
	ws_modules_open(files, WS_LEN(files), a, &m);
	assert_int_equal(m.count, 3);
	/* By name. */
	const struct ws_module *gone = &files[0], *c = &files[1], *lost = &files[2];
	assert_string_equal(c->python, "abi3");
	assert_string_equal(c->init, "PyInit__C");
	assert_false(c->exports_init);
	assert_null(lost->python);
	assert_string_equal(lost->init, "PyInit_lost");
	assert_true(lost->exports_init);
	assert_null(gone->elf);
	assert_contains(gone->refused, "gone.so");
	ws_modules_close(&m);
}
