/* test_wheelfile_modules.c - libraries of an installed package: names, suffixes, and where RPATH leads. What
 * comes out of a wheel: cli.verify. */
#include "test.h"

#include "base/fs.h"
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

static const struct ws_module *
named(const struct ws_modules *modules, const char *name)
{
	for (size_t i = 0; i < modules->count; i++) {
		if (ws_same(modules->modules[i].name, name)) {
			return &modules->modules[i];
		}
	}
	fail_msg("no module '%s'", name);
	return NULL;
}

WS_TEST(a_library_is_known_by_its_name)
{
	static const char *const libraries[] = {"a.so", "p/_C.cpython-311-x86_64-linux-gnu.so",
		"x.libs/libpng16.7f72a3c5.so.16", "libz.so.1.2.13", "a.sox.so"};
	static const char *const others[] = {".so", "a.so.txt", "a.sox", "soname", "a/b", "a.so.1a"};
	for (size_t i = 0; i < WS_LEN(libraries); i++) {
		assert_true(ws_module_is_named(libraries[i]));
	}
	for (size_t i = 0; i < WS_LEN(others); i++) {
		assert_false(ws_module_is_named(others[i]));
	}
}

WS_TEST(rpath_leads_to_what_lies_in_the_package_and_nowhere_else)
{
	const char *root = ws_test_dir(a);
	const char *names[] = {
		"p/_C.abi3.so", "p/lost.so", "p.libs/libone.so", "p.libs/libtwo.so", "gone.so"};
	struct ws_modules m;
	const char *libs = ws_arena_printf(a, "-L%s/p.libs", root);
	const char *const two[] = {
		"-Wl,--no-as-needed", libs, "-ltwo", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags", NULL};
	const char *const one_near[] = {"-Wl,--no-as-needed", libs, "-lone",
		"-Wl,-rpath,/lib:$ORIGIN/../p.libs", "-Wl,--allow-shlib-undefined", NULL};
	const char *const one_far[] = {"-Wl,--no-as-needed", libs, "-lone",
		"-Wl,-rpath,$ORIGIN/../../../p.libs", "-Wl,--allow-shlib-undefined", NULL};
	make(a, root, "p.libs/libtwo.so", "int two(void) { return 2; }", NULL);
	make(a, root, "p.libs/libone.so", "int one(void) { return 1; }", two);
	make(a, root, "p/_C.abi3.so", "int c(void) { return 3; }", one_near);
	make(a, root, "p/lost.so", "void *PyInit_lost(void) { return 0; }", one_far);
	ws_modules_open(root, names, WS_LEN(names), a, &m);
	assert_int_equal(m.count, 5);
	const struct ws_module *c = named(&m, "p/_C.abi3.so"), *lost = named(&m, "p/lost.so");
	assert_string_equal(c->python, "abi3");
	assert_string_equal(c->init, "PyInit__C");
	assert_string_equal(c->elf->needed[0], "libone.so");
	assert_string_equal(m.modules[c->leads_to[0]].name, "p.libs/libone.so");
	assert_null(lost->python);
	assert_string_equal(lost->init, "PyInit_lost");
	assert_true(lost->exports_init);
	assert_false(c->exports_init);
	assert_true(lost->leads_to[0] == WS_MODULE_NONE);
	const struct ws_module *one = named(&m, "p.libs/libone.so");
	assert_string_equal(m.modules[one->leads_to[0]].name, "p.libs/libtwo.so");
	assert_false(one->exports_init);
	assert_null(named(&m, "gone.so")->elf);
	assert_non_null(strstr(named(&m, "gone.so")->refused, "gone.so"));
	ws_modules_close(&m);
}
