/* test_verify_judge.c - modules that the loader or Python would refuse, each made here, and what
 * the judge says of them. If the same module without the fault gives "loads", the fault decided. */
#include "judge/verdict.h"
#include "verify_world.h"

/* Judges one file as the module "pkg.m"; its findings as people read them. */
static const char *
judge_file(struct world *w, const char *path, bool imported)
{
	struct ws_subject_module module = {.name = "pkg.m",
		.elf = open_elf(w, path),
		.required = true,
		.init = imported ? "PyInit_m" : NULL};
	struct ws_subject subject = {.modules = &module, .count = 1};
	struct ws_verdict verdict;
	struct ws_err err = {0};
	w->place.libraries = w->libraries;
	w->place.globals = w->globals;
	assert_ok(ws_judge(&subject, &w->place, w->a, &verdict, &err), err);
	const struct ws_module_verdict *m = &verdict.modules[0];
	WS_AUTO_BUF struct ws_buf text = {0};
	for (size_t i = 0; i < m->finding_count; i++) {
		ws_buf_printf(
			&text, "%s %s\n", ws_finding_words[m->findings[i].verdict], m->findings[i].text);
		for (size_t k = 0; k < m->findings[i].evidence_count; k++) {
			ws_buf_printf(&text, "  %s\n", m->findings[i].evidence[k]);
		}
	}
	assert_int_equal(verdict.verdict, m->verdict);
	return ws_buf_copy(&text, w->a);
}

/* The findings are all good. */
static void
assert_loads(const char *findings)
{
	assert_contains(findings, "ok pkg.m finds all");
	assert_null(strstr(findings, "fails "));
	assert_null(strstr(findings, "unknown "));
}

static const char *
judge(struct world *w, const char *source, bool imported, const char *const *flags)
{
	return judge_file(w, ws_test_library(w->a, w->dir, "m.so", source, flags), imported);
}

#define CREATE "void *PyModule_Create2(void); "
#define BODY "void *PyInit_m(void) { return PyModule_Create2(); }"
#define INIT CREATE BODY
#define NO_INIT "fails pkg.m exports no function 'PyInit_m', by which Python starts it"

WS_TEST(python_finds_the_function_that_starts_a_module)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	assert_string_equal(judge(&w, INIT, true, NULL), "ok pkg.m finds all of its 1 symbol\n");
	static const char map[] = "{ global: f; local: *; };";
	write_text(w.dir, "map", map, a);
	static const char *const hide[] = {"-Wl,--version-script,map", NULL};
	static const char *const zero[] = {"-Wl,--defsym,PyInit_m=0", NULL};
	assert_contains(judge(&w, "int f(void) { return 1; }", true, NULL), NO_INIT);
	assert_contains(judge(&w, "void *PyInit_pkg(void) { return 0; }", true, NULL), NO_INIT);
	assert_contains(
		judge(&w, CREATE "__attribute__((visibility(\"hidden\"))) " BODY, true, NULL), NO_INIT);
	assert_contains(judge(&w, INIT, true, hide), NO_INIT);
	assert_contains(judge(&w, "int f(void) { return 1; }", true, zero), NO_INIT);
	assert_contains(judge(&w, "int PyInit_m = 1;", true, NULL), NO_INIT);
	assert_contains(
		judge(&w, CREATE "static " BODY " void *g(void) { return PyInit_m(); }", true, NULL),
		NO_INIT);
	/* Asked for, not defined; and defined at a version that is not the default, which dlsym passes
	 * over. */
	assert_contains(
		judge(&w, "void *PyInit_m(void); void *f(void) { return PyInit_m(); }", true, NULL),
		NO_INIT);
	static const char versions[] = "V1 { global: PyInit_m; };";
	write_text(w.dir, "map", versions, a);
	assert_contains(
		judge(&w, "void *init(void) { return 0; } __asm__(\".symver init,PyInit_m@V1\");", true,
			hide),
		NO_INIT);
	assert_string_equal(
		judge(&w, "void *init(void) { return 0; } __asm__(\".symver init,PyInit_m@@V1\");", true,
			hide),
		"ok pkg.m finds all of its 0 symbols\n");
	/* Modules for torch or ctypes have none. */
	assert_string_equal(judge(&w, "int f(void) { return 1; }", false, NULL),
		"ok pkg.m finds all of its 0 symbols\n");
}

WS_TEST(modules_that_the_loader_refuses)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char *const never[] = {"-Wl,-z,nodlopen", NULL};
	assert_contains(
		judge(&w, "int x;", false, never), "fails pkg.m says that it must not be loaded");
	static const char main_c[] = "int main(void) { return 0; }";
	struct ws_err err = {0};
	const char *source = ws_path_join(a, w.dir, "main.c", NULL);
	assert_ok(ws_fs_write(source, main_c, strlen(main_c), 0644, &err), err);
	static const char *const kinds[] = {"-pie", "-no-pie"};
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		const char *path = ws_path_join(a, w.dir, "program", NULL);
		const char *const argv[] = {"gcc", "-fPIC", kinds[i], "-o", path, source, NULL};
		ws_test_run(a, argv, w.dir);
		assert_contains(judge_file(&w, path, false), "fails pkg.m is a program");
	}
}

WS_TEST(static_thread_local_variables_have_little_room)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char source[] =
		"__thread char a[SIZE] __attribute__((tls_model(\"initial-exec\")));\n"
		"char *f(int i) { return &a[i]; }";
	static const char *const few[] = {"-DSIZE=1664", NULL};
	static const char *const more[] = {"-DSIZE=1665", NULL};
	static const char *const many[] = {"-DSIZE=65536", NULL};
	assert_loads(judge(&w, source, false, few));
	assert_contains(judge(&w, source, false, more), "fails pkg.m has 1665 bytes of static");
	assert_contains(judge(&w, source, false, many),
		"fails pkg.m has 65536 bytes of static thread-local variables");
	/* Any number of ordinary ones is allowed. */
	static const char ordinary[] = "__thread char a[65536]; char *f(int i) { return &a[i]; }";
	assert_loads(judge(&w, ordinary, false, NULL));
}

/* Links against a library of a system's name whose symbol has a version of our choice. */
static const char *
ask_version(struct world *w, const char *library, const char *symbol, const char *version)
{
	const char *dir = ws_test_dir(w->a);
	const char *map = ws_arena_printf(w->a, "%s { global: *; };", version);
	write_text(dir, "map", map, w->a);
	static const char *const with_map[] = {"-nostdlib", "-Wl,--version-script,map", NULL};
	ws_test_library(
		w->a, dir, library, ws_arena_printf(w->a, "int %s(void) { return 1; }", symbol), with_map);
	const char *flags[] = {
		"-nostdlib", "-fno-builtin", "-L.", ws_arena_printf(w->a, "-l:%s", library), NULL};
	const char *source =
		ws_arena_printf(w->a, "int %s(void); int f(void) { return %s(); }", symbol, symbol);
	return judge_file(w, ws_test_library(w->a, dir, "m.so", source, flags), false);
}

WS_TEST(a_name_and_its_version_count_as_a_pair)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	assert_loads(ask_version(&w, "libc.so.6", "memcpy", "GLIBC_2.14"));
	/* The name is there, the version is there; the name at that version is not. */
	assert_string_equal(ask_version(&w, "libc.so.6", "memcpy", "GLIBC_2.34"),
		"fails pkg.m needs 1 symbol version that 'libc.so.6' here does not have\n"
		"  memcpy@GLIBC_2.34\n");
	assert_string_equal(ask_version(&w, "libc.so.6", "memcpy", "GLIBC_9.9"),
		"fails pkg.m needs 1 symbol version that 'libc.so.6' here does not have\n"
		"  GLIBC_9.9\n");
	assert_contains(ask_version(&w, "libz.so.1", "made_up", "ZLIB_1.2.9"),
		"unknown pkg.m needs 1 symbol that 'libz.so.1' may have, which was not read");
}

/* A library of two versions, V1 and V2, whose only function has one of them and is not the
 * default. */
static const char *
make_versioned(struct world *w, const char *dir, const char *name, const char *version)
{
	static const char map[] = "V1 { global: f; g; }; V2 { global: f; h; } V1;";
	static const char *const flags[] = {"-nostdlib", "-Wl,--version-script,map", NULL};
	write_text(dir, "map", map, w->a);
	const char *source = ws_arena_printf(w->a,
		"int g(void) { return 1; } int h(void) { return 2; } int impl(void) { return 3; }\n"
		"__asm__(\".symver impl,f@%s\");",
		version);
	return ws_test_library(w->a, dir, name, source, flags);
}

/* A module that needs f of libv.so without a version: it was linked with a different library. */
static const char *
want_f(struct world *w, const char *dir)
{
	static const char *const bare[] = {"-nostdlib", NULL};
	static const char *const flags[] = {"-nostdlib", "-L.", "-l:libv.so", NULL};
	ws_test_library(w->a, dir, "libv.so", "int f(void) { return 1; }", bare);
	return ws_test_library(w->a, dir, "m.so", "int f(void); int k(void) { return f(); }", flags);
}

WS_TEST(without_a_version_the_first_or_the_default_is_found)
{
	static const char *const versions[] = {"V1", "V2"};
	for (size_t i = 0; i < WS_LEN(versions); i++) {
		WS_AUTO_WORLD struct world w = make_host(a);
		const char *dir = ws_test_dir(a);
		const char *module = want_f(&w, dir);
		const char *library = make_versioned(&w, dir, "libv.so", versions[i]);
		add_library(&w, library);
		const char *findings = judge_file(&w, module, false);
		if (i == 0) {
			assert_loads(findings);
		} else {
			assert_contains(findings, "fails pkg.m needs 1 symbol");
		}
	}
}

/* A module that needs f@V9 of libv.so, and a place where libv.so has V1 and V2. */
static const char *
want_v9(struct world *w)
{
	const char *dir = ws_test_dir(w->a);
	static const char map[] = "V9 { global: *; };";
	static const char *const with_map[] = {"-nostdlib", "-Wl,--version-script,map", NULL};
	static const char *const flags[] = {"-nostdlib", "-L.", "-l:libv.so", NULL};
	write_text(dir, "map", map, w->a);
	ws_test_library(w->a, dir, "libv.so", "int f(void) { return 1; }", with_map);
	const char *path =
		ws_test_library(w->a, dir, "m.so", "int f(void); int k(void) { return f(); }", flags);
	add_library(w, make_versioned(w, ws_test_dir(w->a), "libv.so", "V1"));
	return path;
}

/* Puts @a new in the place of @a old, which is in the file. */
static void
patch_file(const char *path, const void *old, const void *new, size_t len)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err = {0};
	assert_ok(ws_fs_read(path, &b, &err), err);
	char *place = memmem(b.data, b.len, old, len);
	assert_non_null(place);
	memcpy(place, new, len);
	assert_ok(ws_fs_write(path, b.data, b.len, 0644, &err), err);
}

WS_TEST(a_version_that_is_not_required_may_be_missing)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	const char *module = want_v9(&w);
	assert_contains(judge_file(&w, module, false), "fails pkg.m needs 1 symbol version");
	/* st_info of the only symbol that is not defined: STB_GLOBAL becomes STB_WEAK. */
	static const char global[20] = {0x12}, weak[20] = {0x22};
	patch_file(module, global, weak, sizeof(global));
	assert_contains(judge_file(&w, module, false), "fails pkg.m needs 1 symbol version");
	/* vna_hash of "V9" (0x599), vna_flags: VER_FLG_WEAK */
	patch_file(module, "\x99\x05\0\0\0\0", "\x99\x05\0\0\2\0", 6);
	assert_loads(judge_file(&w, module, false));
}

WS_TEST(a_version_of_a_library_that_is_not_needed)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	const char *dir = ws_test_dir(a);
	const char *module = want_f(&w, dir);
	/* Needed under another name than its version says. */
	make_versioned(&w, dir, "libv.so", "V1");
	static const char *const flags[] = {"-nostdlib", "-L.", "-l:libv.so", NULL};
	module = ws_test_library(a, dir, "m.so", "int g(void); int k(void) { return g(); }", flags);
	add_library(&w, make_versioned(&w, ws_test_dir(a), "libv.so", "V1"));
	assert_loads(judge_file(&w, module, false));
	/* DT_NEEDED becomes DT_DEBUG. */
	static const char debug[8] = {21};
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err = {0};
	assert_ok(ws_fs_read(module, &b, &err), err);
	const ElfW(Ehdr) *header = (const void *)b.data;
	const ElfW(Phdr) *segment = (const void *)(b.data + header->e_phoff);
	for (; segment->p_type != PT_DYNAMIC; segment++) {
	}
	assert_int_equal(b.data[segment->p_offset], DT_NEEDED);
	memcpy(b.data + segment->p_offset, debug, sizeof(debug));
	assert_ok(ws_fs_write(module, b.data, b.len, 0644, &err), err);
	assert_contains(judge_file(&w, module, false),
		"fails pkg.m needs 1 symbol of 'libv.so' but does not name that library");
}

/* Links against a library of that name. */
static const char *
name_library(struct world *w, const char *library)
{
	const char *dir = ws_test_dir(w->a);
	static const char *const bare[] = {"-nostdlib", NULL};
	ws_test_library(w->a, dir, library, "int x;", bare);
	const char *flags[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", ws_arena_printf(w->a, "-l:%s", library), NULL};
	return judge_file(w, ws_test_library(w->a, dir, "m.so", "int y;", flags), false);
}

WS_TEST(a_library_is_brought_under_its_own_name_only)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char *const absent[] = {"libpython3.99.so.1.0", "libcuda.so.99", "libcuda.so",
		"libpython3.11.so.1.0", "ld-linux-of-mine.so"};
	for (size_t i = 0; i < WS_LEN(absent); i++) {
		assert_contains(name_library(&w, absent[i]),
			ws_arena_printf(a, "unknown pkg.m needs the library '%s'", absent[i]));
	}
	assert_loads(name_library(&w, "libcuda.so.1"));
	assert_loads(name_library(&w, "libnvidia-ml.so.1"));
	/* With an unreadable interpreter the symbol may exist, if its name is one of that Python. */
	w.place.global_count = 0;
	assert_loads(name_library(&w, "libpython3.11.so.1.0"));
	assert_contains(name_library(&w, "libpython3.12.so.1.0"), "unknown pkg.m");
}

WS_TEST(a_library_of_torch_is_available_under_that_name_only)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char *const lists[] = {
		WS_SOURCE_DATA_DIR "/matrix/facts/exports/torch-2.11.0.zst"};
	w.place.lists = lists;
	w.place.list_count = 1;
	assert_loads(name_library(&w, "libcudart.so.13"));
	assert_contains(name_library(&w, "libcudart.so"),
		"fails pkg.m needs 'libcudart.so'; torch 2.11.0 brings 'libcudart.so.13'");
}

WS_TEST(a_torch_that_was_not_read_excuses_its_own_names_only)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	const char *dir = ws_test_dir(a);
	static const char *const bare[] = {"-nostdlib", NULL};
	static const char *const flags[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", "-l:libtorch.so", NULL};
	ws_test_library(a, dir, "libtorch.so", "int x;", bare);
	static const char source[] = "int WANTED(void); int f(void) { return WANTED(); }";
	static const char *const names[] = {"_ZN2at5emptyEv", "made_up"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *module = ws_test_library(
			a, dir, "m.so", ws_arena_printf(a, "#define WANTED %s\n%s", names[i], source), flags);
		const char *findings = judge_file(&w, module, false);
		assert_int_equal(strstr(findings, "  made_up") != NULL, i == 1);
		assert_int_equal(strstr(findings, "fails ") != NULL, i == 1);
	}
}

WS_TEST(the_abi_and_the_floor_of_all_modules_are_those_of_the_wheel)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	struct ws_err err = {0};
	static const char *const sources[] = {"int x;",
		("int _ZN2at1fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void);\n"
		 "int f(void) { return _ZN2at1fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(); }"),
		"#include <stdlib.h>\nint g(void) { return (int)(long)malloc(1); }"};
	struct ws_subject_module modules[3];
	for (size_t i = 0; i < 3; i++) {
		const char *path = ws_test_library(a, ws_test_dir(a), "m.so", sources[i], NULL);
		modules[i] = (struct ws_subject_module){.name = "m", .elf = open_elf(&w, path)};
	}
	struct ws_verdict verdict;
	w.place.libraries = w.libraries;
	w.place.globals = w.globals;
	struct ws_subject subject = {.modules = modules, .count = 3};
	assert_ok(ws_judge(&subject, &w.place, a, &verdict, &err), err);
	assert_int_equal(verdict.cxx11abi, WS_CXX11ABI_1);
	assert_string_equal(verdict.floor.asked[WS_FLOOR_GLIBC].text, "2.2.5");
}

/* The tag of a module that names @library, beside a release of torch. */
static const char *
tag_of(struct ws_arena *a, const char *release, const char *library)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	const char *lists[] = {
		ws_arena_printf(a, WS_SOURCE_DATA_DIR "/matrix/facts/exports/torch-%s.zst", release)};
	static const char *const bare[] = {"-nostdlib", NULL};
	const char *flags[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", ws_arena_printf(a, "-l:%s", library), NULL};
	ws_test_library(a, w.dir, library, "int x;", bare);
	struct ws_subject_module module = {
		.name = "m", .elf = open_elf(&w, ws_test_library(a, w.dir, "m.so", "int y;", flags))};
	struct ws_subject subject = {.modules = &module, .count = 1};
	struct ws_verdict verdict;
	struct ws_err err = {0};
	w.place.libraries = w.libraries;
	w.place.globals = w.globals;
	w.place.lists = lists;
	w.place.list_count = 1;
	assert_ok(ws_judge(&subject, &w.place, a, &verdict, &err), err);
	return ws_floor_tag(&verdict.floor);
}

WS_TEST(a_library_that_torch_has_loaded_under_that_name_does_not_count_for_the_system)
{
	/* import torch 2.11.0 loads its own libgomp.so.1; 2.5.1's is called libgomp-a34b3233.so.1. */
	assert_string_equal(tag_of(a, "2.11.0", "libgomp.so.1"), tag_of(a, "2.11.0", "libtorch.so"));
	assert_string_equal(tag_of(a, "2.5.1", "libgomp.so.1"), "linux_x86_64");
	assert_string_equal(tag_of(a, "2.11.0", "libgomp.so.2"), "linux_x86_64");
	/* The policies have a version of these, and torch loads the system's. */
	assert_string_equal(tag_of(a, "2.11.0", "libmvec.so.1"), "manylinux_2_24_x86_64");
}

WS_TEST(modules_of_two_abis_are_mixed)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	struct ws_err err = {0};
	static const char *const sources[] = {
		("int _ZN2at1fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void);\n"
		 "int f(void) { return _ZN2at1fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(); }"),
		"int x;", "int _ZN2at1fESs(void); int f(void) { return _ZN2at1fESs(); }"};
	struct ws_subject_module modules[3];
	for (size_t i = 0; i < 3; i++) {
		const char *path = ws_test_library(a, ws_test_dir(a), "m.so", sources[i], NULL);
		modules[i] = (struct ws_subject_module){.name = "m", .elf = open_elf(&w, path)};
	}
	struct ws_verdict verdict;
	struct ws_subject subject = {.modules = modules, .count = 3};
	w.place.libraries = w.libraries;
	w.place.globals = w.globals;
	assert_ok(ws_judge(&subject, &w.place, a, &verdict, &err), err);
	assert_int_equal(verdict.cxx11abi, WS_CXX11ABI_MIXED);
}

WS_TEST(glibc_gives_no_executable_stack_since_2_41)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char *const flags[] = {"-Wl,-z,execstack", NULL};
	w.place.glibc = "2.40";
	assert_loads(judge(&w, INIT, true, flags));
	w.place.glibc = "2.41";
	assert_contains(judge(&w, INIT, true, flags), "fails pkg.m asks for an executable stack");
	assert_loads(judge(&w, INIT, true, NULL));
}

WS_TEST(a_driver_too_old_for_compressed_code_fails)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	static const char source[] =
		"__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
		".incbin \\\"" WS_TESTS_DIR "/fuzz/corpus/fatbin/zstd_90aptx_100f\\\"\\n.previous\\n\");";
	w.place.driver = "550.54.14";
	assert_null(strstr(judge(&w, source, false, NULL), "fails "));
	w.place.driver = "535.104.05";
	assert_contains(judge(&w, source, false, NULL), "fails pkg.m has GPU code that needs driver");
}

WS_TEST(needs_of_needed_libraries_are_seen)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	const char *inner =
		ws_test_library(a, w.dir, "libinner.so", "int inner(void) { return 1; }", NULL);
	static const char *const on_inner[] = {"-L.", "-Wl,--no-as-needed", "-linner", NULL};
	const char *outer = ws_test_library(a, w.dir, "libouter.so", "int outer;", on_inner);
	static const char *const on_outer[] = {"-L.", "-Wl,--no-as-needed", "-louter", NULL};
	static const char source[] = "int inner(void); int f(void) { return inner(); }";
	add_library(&w, inner);
	const char *alone = judge(&w, source, false, NULL);
	assert_contains(alone, "needs 1 symbol of 'libinner.so' but does not name that library");
	add_library(&w, outer);
	assert_string_equal(judge(&w, source, false, on_outer), "ok pkg.m finds all of its 1 symbol\n");
}

WS_TEST(only_required_modules_decide)
{
	WS_AUTO_WORLD struct world w = make_host(a);
	struct ws_err err = {0};
	const char *good = ws_test_library(a, w.dir, "good.so", "int x;", NULL);
	const char *bad =
		ws_test_library(a, w.dir, "bad.so", "int no(void); int f(void) { return no(); }", NULL);
	struct ws_subject_module modules[] = {
		{.name = "good", .elf = open_elf(&w, good), .required = true},
		{.name = "bad", .elf = open_elf(&w, bad)}};
	struct ws_subject subject = {.modules = modules, .count = 2};
	struct ws_verdict verdict;
	w.place.libraries = w.libraries;
	w.place.globals = w.globals;
	assert_ok(ws_judge(&subject, &w.place, a, &verdict, &err), err);
	assert_int_equal(verdict.verdict, WS_VERDICT_OK);
	assert_int_equal(verdict.modules[1].verdict, WS_VERDICT_FAILS);
	modules[1].required = true;
	assert_ok(ws_judge(&subject, &w.place, a, &verdict, &err), err);
	assert_int_equal(verdict.verdict, WS_VERDICT_FAILS);
}
