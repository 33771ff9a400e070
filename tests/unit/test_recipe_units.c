/* test_recipe_units.c - a recipe's paths, patterns and flags against a listing and a point. */
#include "test.h"

#include "recipe/command_rules.h"
#include "recipe/recipe_view.h"

static const struct ws_tree_entry entries[] = {
	{"csrc/a.cu", WS_TREE_FILE, "", 0},
	{"csrc/b.cu", WS_TREE_FILE, "", 0},
	{"csrc/bind.cpp", WS_TREE_FILE, "", 0},
	{"csrc/deep/c.cu", WS_TREE_FILE, "", 0},
	{"csrc/linked.cu", WS_TREE_LINK, "a.cu", 0},
	{"csrc/odd/$(id).cu", WS_TREE_FILE, "", 0},
	{"csrc/old.c", WS_TREE_FILE, "", 0},
	{"csrc/readme.txt", WS_TREE_FILE, "", 0},
	{"demo/__init__.py", WS_TREE_FILE, "", 0},
};
static const struct ws_listing listing = {entries, WS_LEN(entries)};

/* A recipe of one extension. */
static const struct ws_recipe *
recipe_of(struct ws_extension *extension, struct ws_arena *a)
{
	struct ws_recipe *recipe = WS_NEW(a, struct ws_recipe);
	*recipe = (struct ws_recipe){.name = "demo",
		.version = {.text = "1.0"},
		.path = "demo/1.0.json",
		.extensions = extension,
		.extension_count = 1};
	return recipe;
}

static void
see(const struct ws_source_list *sources, size_t count, struct ws_arena *a,
	struct ws_recipe_view *view)
{
	static const struct ws_point_view nothing = {.cxx11abi = -1};
	struct ws_extension *extension = WS_NEW(a, struct ws_extension);
	*extension =
		(struct ws_extension){.module = "demo._C", .sources = sources, .source_list_count = count};
	ws_recipe_see(recipe_of(extension, a), &listing, &nothing, a, view);
}

static void
assert_problem(const struct ws_recipe_view *view, size_t index, const char *where, const char *text)
{
	assert_true(view->problems.list.len > index);
	assert_string_equal(view->problems.list.at[index].where, where);
	assert_string_equal(view->problems.list.at[index].text, text);
}

WS_TEST(images_have_a_symbol_each)
{
	static const char *const host[] = {"csrc/old.c"}, *const a_cu[] = {"csrc/a.cu"};
	static const char *const text[] = {"csrc/bind.cpp"};
	static const struct ws_source_list sources[] = {{.paths = host, .path_count = 1}};
	static const struct ws_source_list device[] = {{.paths = a_cu, .path_count = 1},
		{.glob = "csrc/deep/*.cu", .expected = 1}, {.paths = text, .path_count = 1}};
	static struct ws_extension extension = {.module = "demo._C",
		.sources = sources,
		.source_list_count = 1,
		.device = device,
		.device_list_count = WS_LEN(device)};
	static const struct ws_point_view nothing = {.cxx11abi = -1};
	struct ws_recipe_view view;
	ws_recipe_see(recipe_of(&extension, a), &listing, &nothing, a, &view);
	assert_int_equal(view.problems.list.len, 1);
	assert_problem(
		&view, 0, "extensions/0/device/2", "'csrc/bind.cpp' has no image (.cu files have)");
	assert_int_equal(view.modules[0].unit_count, 3);
	assert_int_equal(view.modules[0].units[1].kind, WS_UNIT_DEVICE);
	assert_true(view.modules[0].cuda && !view.modules[0].runtime && !view.modules[0].cxx);
	assert_string_equal(ws_unit_symbol("gpu/7 b-c.cu", a), "__b_c");
	assert_string_equal(ws_unit_symbol("gpu/attn_80.cu", a), "attn_80");
}

WS_TEST(every_ending_that_a_recipe_may_name_is_compiled)
{
	static const struct {
		const char *path;
		enum ws_unit_kind kind;
	} files[] = {{"a.cu", WS_UNIT_CUDA}, {"a.cpp", WS_UNIT_CXX}, {"a.cc", WS_UNIT_CXX},
		{"a.cxx", WS_UNIT_CXX}, {"a.c", WS_UNIT_C}};
	enum ws_unit_kind kind;
	for (size_t i = 0; i < WS_LEN(files); i++) {
		assert_true(ws_unit_kind_of(files[i].path, &kind));
		assert_int_equal(kind, files[i].kind);
	}
	assert_false(ws_unit_kind_of("a.cuh", &kind));
	assert_false(ws_unit_kind_of("cu", &kind));
}

WS_TEST(paths_are_units)
{
	static const char *const paths[] = {"csrc/bind.cpp", "csrc/old.c", "csrc/a.cu"};
	static const char *const wrong[] = {"csrc/none.cu", "csrc/readme.txt", "csrc/a.cu"};
	static const struct ws_source_list lists[] = {
		{.paths = paths, .path_count = 3}, {.paths = wrong, .path_count = 3}};
	struct ws_recipe_view view;
	see(lists, 1, a, &view);
	assert_int_equal(view.problems.list.len, 0);
	const struct ws_recipe_module *module = &view.modules[0];
	assert_int_equal(module->unit_count, 3);
	assert_string_equal(module->units[1].path, "csrc/old.c");
	assert_int_equal(module->units[1].kind, WS_UNIT_C);
	assert_int_equal(module->units[2].kind, WS_UNIT_CUDA);
	assert_true(module->cuda);
	see(lists, 2, a, &view);
	assert_int_equal(view.problems.list.len, 3);
	assert_problem(&view, 0, "extensions/0/sources/1", "the sources have no file 'csrc/none.cu'");
	assert_problem(&view, 1, "extensions/0/sources/1",
		"'csrc/readme.txt' is not compiled (.c .cc .cpp .cxx .cu are)");
	assert_problem(
		&view, 2, "extensions/0/sources/1", "'csrc/a.cu' is listed twice as a source of 'demo._C'");
}

WS_TEST(patterns_stay_in_their_folder_and_are_counted)
{
	static const char *const path[] = {"csrc/b.cu"};
	struct ws_source_list lists[] = {
		{.glob = "csrc/*.cu", .expected = 2}, {.paths = path, .path_count = 1}};
	struct ws_recipe_view view;
	see(lists, 1, a, &view);
	assert_int_equal(view.problems.list.len, 0);
	assert_int_equal(view.modules[0].unit_count, 2);
	assert_string_equal(view.modules[0].units[1].path, "csrc/b.cu");
	lists[0].expected = 3;
	see(lists, 2, a, &view);
	assert_int_equal(view.problems.list.len, 2);
	assert_problem(&view, 0, "extensions/0/sources/0",
		"'csrc/*.cu' matches 2 files where the recipe expects 3");
	assert_problem(
		&view, 1, "extensions/0/sources/1", "'csrc/b.cu' is listed twice as a source of 'demo._C'");
}

WS_TEST(a_flag_for_a_different_machine_is_a_problem_on_this_one)
{
	static const char *const avx[] = {"-O2", "-mavx2"},
							 *const handed[] = {"-Xcompiler", "-O1,-msse4.1"};
	struct ws_extension extension = {.module = "demo._C",
		.flags = {.cxx = avx, .cxx_count = 2, .nvcc = handed, .nvcc_count = 2}};
	struct ws_recipe_view view = {.problems = {.a = a}};
	struct ws_point_view point = {.cxx11abi = -1, .machine = ws_machine_named("x86_64")};
	ws_recipe_module(recipe_of(&extension, a), 0, NULL, &point, a, &view.problems);
	assert_int_equal(view.problems.list.len, 0);
	point.machine = ws_machine_named("aarch64");
	ws_recipe_module(recipe_of(&extension, a), 0, NULL, &point, a, &view.problems);
	assert_int_equal(view.problems.list.len, 2);
	assert_problem(&view, 0, "extensions/0/cxx_flags/1", "'-mavx2' is not for aarch64");
	assert_problem(&view, 1, "extensions/0/nvcc_flags/1", "'-O1,-msse4.1' is not for aarch64");
	static const char *const wrong[] = {"-march=armv9-a", "-mcpu=neoverse-v2"};
	for (size_t i = 0; i < WS_LEN(wrong); i++) {
		assert_non_null(ws_flag_foreign(wrong, i, WS_FLAG_CXX, ws_machine_named("x86_64")));
		assert_null(ws_flag_foreign(wrong, i, WS_FLAG_CXX, ws_machine_named("aarch64")));
	}
}

WS_TEST(a_name_that_a_shell_would_read_is_a_problem)
{
	static const struct ws_source_list glob = {.glob = "csrc/odd/*.cu", .expected = 1};
	struct ws_recipe_view view;
	see(&glob, 1, a, &view);
	assert_problem(&view, 0, "extensions/0/sources/0",
		"the name 'csrc/odd/$(id).cu' holds more than " WS_PLAIN_LETTERS);
	static const char *const odd[] = {
		"a b", "a,b", "a\"b", "a$b", "a`b", "a;b", "a\\b", "-a", "a{b}", "a\nb", "\xc3\xa9"};
	for (size_t i = 0; i < WS_LEN(odd); i++) {
		assert_false(ws_name_is_plain(odd[i]));
	}
	assert_true(ws_name_is_plain("csrc/sm90/fwd_128x64+x.cu"));
	assert_true(ws_name_is_plain("."));
	assert_true(ws_path_suits_nvcc("/home/j\xc3\xb6rg x/store"));
	assert_false(ws_path_suits_nvcc("/home/a,b"));
	assert_false(ws_path_suits_nvcc("/home/$a"));
}

static const char *
problem_of(const char *first, const char *second, enum ws_flag_tool tool)
{
	const char *const words[] = {first, second};
	const char *problem = ws_flag_problem(words, 0, tool);
	return problem || !second ? problem : ws_flag_problem(words, 1, tool);
}

WS_TEST(words_that_cannot_be_flags)
{
	static const struct {
		enum ws_flag_tool tool;
		const char *first, *second;
	} cases[] = {
		/* replaced: by the engine, or by a shell */
		{WS_FLAG_CXX, "-DX={work}", NULL},
		{WS_FLAG_NVCC, "-DX=\"$HOME\"", NULL},
		{WS_FLAG_NVCC, "-DX=`id`", NULL},
		/* makes a tool read a file outside of the key, or write an unexpected file */
		{WS_FLAG_CXX, "@words", NULL},
		{WS_FLAG_CXX, "-specs=x.specs", NULL},
		{WS_FLAG_CXX, "--specs=x.specs", NULL},
		{WS_FLAG_CXX, "-Wa,@words", NULL},
		{WS_FLAG_CXX, "-Wa,--noexecstack,-I/opt", NULL},
		{WS_FLAG_CXX, "-Wa,-adhln=/tmp/list", NULL},
		{WS_FLAG_CXX, "-Xassembler", "@words"},
		{WS_FLAG_CXX, "-Wp,-MD,/tmp/deps", NULL},
		{WS_FLAG_CXX, "-MF/tmp/deps", NULL},
		{WS_FLAG_CXX, "-B/opt/bin", NULL},
		{WS_FLAG_CXX, "-fplugin=x.so", NULL},
		{WS_FLAG_CXX, "-fprofile-use=x", NULL},
		{WS_FLAG_CXX, "-w", NULL},
		{WS_FLAG_CXX, "-o/tmp/x", NULL},
		{WS_FLAG_CXX, "-finput-charset=UTF-16", NULL},
		{WS_FLAG_NVCC, "-optf", "words"},
		{WS_FLAG_NVCC, "-optf=words", NULL},
		{WS_FLAG_NVCC, "--options-file", "words"},
		{WS_FLAG_NVCC, "-Xcompiler", "@words"},
		{WS_FLAG_NVCC, "-Xcompiler=-fPIC,@words", NULL},
		{WS_FLAG_NVCC, "--compiler-options", "-fPIC,-specs=x"},
		{WS_FLAG_NVCC, "-Xcompiler", "-isystem,/opt"},
		{WS_FLAG_NVCC, "-Xcompiler", "-w"},
		{WS_FLAG_NVCC, "-w", NULL},
		{WS_FLAG_NVCC, "--keep-dir=/tmp", NULL},
		{WS_FLAG_NVCC, "-Xptxas", "@words"},
		{WS_FLAG_LINK, "-fuse-ld=gold", NULL},
		{WS_FLAG_LINK, "-Wl,@words", NULL},
		{WS_FLAG_LINK, "-Wl,-Map=/tmp/map", NULL},
		{WS_FLAG_LINK, "-Wl,-z,now,--Map=/tmp/map", NULL},
		{WS_FLAG_LINK, "-Xlinker", "-Map=/tmp/map"},
		{WS_FLAG_LINK, "-Wl,--dependency-file=/tmp/d", NULL},
		{WS_FLAG_LINK, "-Wl,-L/opt", NULL},
		{WS_FLAG_LINK, "-Wl,-plugin,x.so", NULL},
		/* for the CPU of the build host */
		{WS_FLAG_CXX, "-march=native", NULL},
		{WS_FLAG_CXX, "-mtune=native", NULL},
		{WS_FLAG_CXX, "-mcpu=native", NULL},
		{WS_FLAG_CXX, "-xHost", NULL},
		{WS_FLAG_LINK, "-march=native", NULL},
		{WS_FLAG_NVCC, "-Xcompiler", "-O3,-march=native"},
		{WS_FLAG_NVCC, "-Xcompiler=-march=native", NULL},
		/* nvcc 13.0: PTX and machine code name the source by its whole path, whatever maps
		 * prefixes */
		{WS_FLAG_NVCC, "-G", NULL},
		{WS_FLAG_NVCC, "--device-debug", NULL},
		/* its objects ask for symbols that a device link makes (nvlink), which no module has */
		{WS_FLAG_NVCC, "-rdc=true", NULL},
		{WS_FLAG_NVCC, "-rdc", "true"},
		{WS_FLAG_NVCC, "--relocatable-device-code=true", NULL},
		{WS_FLAG_NVCC, "-dc", NULL},
		{WS_FLAG_NVCC, "--device-c", NULL},
		{WS_FLAG_NVCC, "-dlto", NULL},
		{WS_FLAG_NVCC, "--lto", NULL},
		{WS_FLAG_NVCC, "-dlink=true", NULL},
		{WS_FLAG_NVCC, "-ewp", NULL},
		{WS_FLAG_NVCC, "--extensible-whole-program", NULL},
		/* nvcc 13.0 -run starts what it made, with -c as well; it shall make an object */
		{WS_FLAG_NVCC, "-run", NULL},
		{WS_FLAG_NVCC, "--run", NULL},
		{WS_FLAG_NVCC, "-lib", NULL},
		{WS_FLAG_NVCC, "-ptx", NULL},
		{WS_FLAG_NVCC, "--ptx", NULL},
		{WS_FLAG_NVCC, "-cubin", NULL},
		{WS_FLAG_NVCC, "--fatbin", NULL},
		{WS_FLAG_NVCC, "-c", NULL},
		{WS_FLAG_NVCC, "-E", NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		if (!problem_of(cases[i].first, cases[i].second, cases[i].tool)) {
			fail_msg("%s %s", cases[i].first, cases[i].second ? cases[i].second : "");
		}
	}
}

/* Flags that setup.py files of real packages pass. */
WS_TEST(usual_words_are_flags)
{
	static const char *const cxx[] = {"-O3", "-DNDEBUG", "-D", "X=@1", "-Wno-strict-aliasing",
		"-fopenmp", "-fvisibility=hidden", "-march=x86-64-v3", "-flto", "-flto=auto", "-g0",
		"-Werror", "-mavx2", "-Wa,--noexecstack", "-iquote", "src/x", "-idirafter/opt/x",
		"-include", "/dev/null", "-pthread", "-x", "c++", "-fPIC", "-U_FORTIFY_SOURCE",
		"-std=c++20"};
	static const char *const nvcc[] = {"-O3", "--use_fast_math", "--ptxas-options=-v", "-lineinfo",
		"-Xptxas", "-v,-O3", "-Xcompiler", "-fPIC,-fopenmp", "-Xcompiler=-Wno-psabi",
		"--expt-relaxed-constexpr", "-Xfatbin", "-compress-all", "--compress-mode=size",
		"-diag-suppress=20012", "-rdc=false", "--relocatable-device-code=false", "--fatbin-options",
		"-compress-all", "-ltorch", "-DX={1, 2}", "-DX=\"a\"", "-U__CUDA_NO_HALF_OPERATORS__",
		"-Xcudafe", "--diag_suppress=1", "-maxrregcount=64", "-include", "src/x.h", "-t", "4",
		"-MD"};
	static const char *const links[] = {"-lcublas", "-L/opt/lib", "-L", "src/lib", "-l:libx.a",
		"-Wl,-rpath,$ORIGIN", "-Wl,--version-script=src/x.map", "-static-libstdc++", "-fopenmp",
		"-Wl,--as-needed", "-Wl,-z,now", "-s", "-flto", "-Wl,--exclude-libs,ALL"};
	static const struct {
		enum ws_flag_tool tool;
		const char *const *words;
		size_t count;
	} lists[] = {{WS_FLAG_CXX, cxx, WS_LEN(cxx)}, {WS_FLAG_NVCC, nvcc, WS_LEN(nvcc)},
		{WS_FLAG_LINK, links, WS_LEN(links)}};
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		for (size_t k = 0; k < lists[i].count; k++) {
			assert_null(ws_flag_problem(lists[i].words, k, lists[i].tool));
		}
	}
}

WS_TEST(a_package_that_takes_no_file_is_a_problem)
{
	static const char *const packages[] = {"demo", "other"};
	static const struct ws_point_view nothing = {.cxx11abi = -1};
	const struct ws_recipe recipe = {
		.name = "demo", .python = {.packages = packages, .package_count = 2}};
	struct ws_recipe_view view;
	ws_recipe_see(&recipe, &listing, &nothing, a, &view);
	assert_int_equal(view.files.len, 1);
	assert_problem(&view, 0, "python/packages/1", "the sources have no Python package 'other'");
}
