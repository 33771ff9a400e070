/* test_compile_extension_target.c - what all actions of a target have in common, whatever they
 * compile. */
#include "test.h"

#include "compile/split.h"

static const struct ws_tree source = {.path = "/src"};
static const struct ws_recipe recipe = {.name = "demo", .version = {.text = "1.0"}};
static const struct ws_extension extension = {.module = "demo._C", .binding = WS_BINDING_C_ABI};
static const struct ws_unit unit = {.path = "a.cpp", .kind = WS_UNIT_CXX};
static const struct ws_recipe_module module = {.cxx = true};

static struct ws_target
target_with(const struct ws_hostcc *cxx)
{
	return (struct ws_target){.recipe = &recipe,
		.extension = &extension,
		.source = &source,
		.cxx = cxx,
		.linker = cxx,
		.group = "demo"};
}

WS_TEST(a_compiler_goes_by_its_own_name)
{
	static const struct {
		enum ws_hostcc_kind kind;
		const char *path, *name;
	} cases[] = {
		{WS_HOSTCC_GCC, "/opt/bin/g++-12", "g++"},
		{WS_HOSTCC_CLANG, "/opt/bin/clang++-14", "clang++"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_err err = {0};
		struct ws_hostcc cxx = {
			.kind = cases[i].kind, .path = cases[i].path, .fingerprint = "f00d"};
		struct ws_target target = target_with(&cxx);
		const struct ws_action *compile = ws_target_compile(&target, &unit, NULL, a);
		const struct ws_action *link = ws_target_link(&target, NULL, &module, NULL, a, &err);
		assert_string_equal(compile->tool.name, cases[i].name);
		assert_string_equal(link->tool.name, cases[i].name);
		assert_string_equal(compile->tool.program, "{cxx}");
		assert_string_equal(link->tool.program, "{cxx}");
	}
}

static const char *
joined(const char *const *words, struct ws_arena *a)
{
	const char *all = "";
	for (; *words; words++) {
		all = ws_arena_printf(a, "%s%s%s", all, all[0] ? " " : "", *words);
	}
	return all;
}

/* C has a driver, a standard and flags of its own; what g++ would add to the link is not in it. */
WS_TEST(c_goes_to_the_driver_for_c)
{
	static const struct ws_unit c = {.path = "a.c", .kind = WS_UNIT_C};
	static const struct ws_recipe_module plain = {.units = &c, .unit_count = 0};
	static const char *const flags[] = {"-DC_ONLY"};
	struct ws_err err = {0};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++",
		.fingerprint = "f00d",
		.c_path = "/usr/bin/gcc",
		.c_fingerprint = "cafe"};
	struct ws_target target = target_with(&cxx);
	target.flags = (struct ws_flags){.c = flags, .c_count = 1};
	const struct ws_action *compile = ws_target_compile(&target, &c, NULL, a);
	const struct ws_action *link = ws_target_link(&target, NULL, &plain, NULL, a, &err);
	const char *words = joined(compile->argv, a);
	assert_string_equal(compile->tool.name, "gcc");
	assert_string_equal(compile->tool.fingerprint, "cafe");
	assert_contains(words, " -std=c17 ");
	assert_contains(words, " -DC_ONLY ");
	assert_null(strstr(words, "c++"));
	assert_string_equal(link->argv[0], "{cc}");
	assert_string_equal(link->tokens[0].value, "/usr/bin/gcc");
	assert_null(strstr(joined(ws_target_cxx_flags(&target, a), a), "-DC_ONLY"));
}

/* Without torch nvcc gets none of its words; kernels alone get neither a host part nor a
 * runtime. */
WS_TEST(kernels_without_torch_have_no_word_of_it)
{
	static const struct ws_unit kernel = {.path = "gpu/b.cu", .kind = WS_UNIT_DEVICE};
	static const struct ws_version version = {.text = "13.0"};
	struct ws_cuda_kit cuda = {.version = version, .fingerprint = "f00d", .path = "/cuda"};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_target target = target_with(&cxx);
	target.cuda = &cuda;
	const struct ws_action *compile = ws_target_compile(&target, &kernel, NULL, a);
	const char *words = joined(compile->argv, a);
	assert_null(strstr(words, "__CUDA_NO_HALF"));
	assert_null(strstr(words, "--cudart"));
	assert_contains(words, " -fatbin src/gpu/b.cu -o unit.fatbin");
	assert_string_equal(compile->outputs[0], "unit.fatbin");
	struct ws_torch_kit torch = {.path = "/torch"};
	ws_version_parse("2.5.1", a, &torch.release.version);
	target.torch = &torch;
	assert_contains(joined(ws_target_nvcc_flags(&target, a), a), "__CUDA_NO_HALF2_OPERATORS__");
}

static void
assert_environment(const struct ws_action *action)
{
	static const char *const whole[] = {"HOME={work}/tmp", "LANG=C", "PATH=/usr/bin:/bin",
		"SOURCE_DATE_EPOCH=315532800", "TMPDIR={work}/tmp"};
	for (size_t i = 0; i < WS_LEN(whole); i++) {
		assert_string_equal(action->env[i], whole[i]);
	}
	assert_null(action->env[WS_LEN(whole)]);
}

WS_TEST(compiler_and_linker_see_the_same_environment)
{
	struct ws_err err = {0};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_target target = target_with(&cxx);
	assert_environment(ws_target_compile(&target, &unit, NULL, a));
	assert_environment(ws_target_link(&target, NULL, &module, NULL, a, &err));
}

/* No path of the store and no pid may end in an object. */
WS_TEST(made_up_names_come_from_the_unit)
{
	static const struct ws_unit kernel = {.path = "csrc/a.cu", .kind = WS_UNIT_CUDA};
	static const struct ws_version version = {.text = "13.0"};
	struct ws_cuda_kit cuda = {.version = version, .fingerprint = "f00d", .path = "/cuda"};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_target target = target_with(&cxx);
	target.cuda = &cuda;
	const char *words = joined(ws_target_compile(&target, &unit, NULL, a)->argv, a);
	assert_contains(words, " -frandom-seed=demo/a.cpp ");
	words = joined(ws_target_compile(&target, &kernel, NULL, a)->argv, a);
	assert_contains(words, " --keep --keep-dir tmp ");
	assert_contains(words, " -Xcudafe --orig_src_path_name=/wheelsmith/demo/csrc/a.cu ");
	assert_null(strstr(words, "--frandom-seed"));
	target.size.random_seed = true;
	words = joined(ws_target_compile(&target, &kernel, NULL, a)->argv, a);
	assert_contains(words, " --frandom-seed=demo/csrc/a.cu ");
}

/* pybind's names are needed only if both the facts and the headers of a release use them. */
WS_TEST(pybind_s_names_are_passed_where_release_and_headers_agree)
{
	static const struct {
		bool passes;
		const char *build_abi;
	} cases[] = {{true, "_abi1"}, {true, NULL}, {false, "_abi1"}};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_torch_kit torch = {.release = {.passes_pybind = cases[i].passes},
			.pybind_compiler = "_gcc",
			.pybind_stdlib = "_std",
			.pybind_build_abi = cases[i].build_abi};
		ws_version_parse("2.5.1", a, &torch.release.version);
		struct ws_target target = target_with(&cxx);
		target.torch = &torch;
		const char *words = joined(ws_target_cxx_flags(&target, a), a);
		assert_int_equal(strstr(words, "PYBIND11_BUILD_ABI") != NULL, i == 0);
	}
}

/* A part that stays here, for a torch that is installed here, has nothing that goes away. */
WS_TEST(units_of_several_architectures_travel_by_parts_where_all_of_it_can)
{
	static const struct ws_unit kernel = {.path = "b.cu", .kind = WS_UNIT_CUDA};
	static const struct ws_store store;
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_cuda_kit cuda = {.version = {.text = "13.0"}, .fingerprint = "f00d", .path = "/cuda"};
	struct ws_torch_kit torch = {.path = "/torch"};
	struct ws_target target = target_with(&cxx);
	ws_version_parse("2.5.1", a, &torch.release.version);
	target.cuda = &cuda;
	target.torch = &torch;
	target.travels = true;
	static const struct ws_arch archs[] = {{.number = 80}, {.number = 90}};
	target.archs.at = archs;
	for (int mask = 0; mask < 8; mask++) {
		torch.tree = mask & 1 ? &source : NULL;
		cuda.tree = mask & 2 ? &source : NULL;
		target.archs.count = mask & 4 ? 2 : 1;
		assert_int_equal(ws_target_compile(&target, &kernel, &store, a)->split != NULL, mask == 7);
	}
	target.travels = false;
	assert_non_null(ws_target_compile(&target, &kernel, &store, a)->split);
}

/* ---- debug info and compression ---- */

/* A recipe's arguments without the dropped ones. */
static const char *
dropped(const char *text, struct ws_size_options size, struct ws_arena *a)
{
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_target target = target_with(&cxx);
	ws_name_list words = {0};
	for (struct ws_str rest = ws_str_of(text); rest.s;) {
		*ws_vec_push(&words, a) = ws_str_copy(ws_str_cut(&rest, ' '), a);
	}
	target.size = size;
	target.flags = (struct ws_flags){.link = words.at, .link_count = words.len};
	const char *left = joined(ws_target_link_flags(&target, a), a);
	const char *own = strstr(left, " -Wl,--strip-all");
	return own ? ws_arena_copy(a, left, (size_t)(own - left)) : left;
}

WS_TEST(debug_info_is_asked_for)
{
	static const char words[] = "-O3 -g -lineinfo -Xcompiler -g --ptxas-options=-v -Xptxas -v "
								"--ptxas-options=-v,-O2 -Xcompiler -fno-x -gencode arch=a,code=b";
	assert_string_equal(dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_NONE}, a),
		"-O3 --ptxas-options=-v,-O2 -Xcompiler -fno-x -gencode arch=a,code=b");
	assert_string_equal(dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_LINES}, a),
		"-O3 -lineinfo --ptxas-options=-v -Xptxas -v --ptxas-options=-v,-O2 -Xcompiler -fno-x "
		"-gencode arch=a,code=b");
	assert_string_equal(
		dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_FULL}, a), words);
}

WS_TEST(how_to_compress_is_never_the_recipes_word)
{
	static const char words[] = "--compress-mode=size -compress-mode=balance --compress-mode speed "
								"-Xfatbin -compress-all -Xfatbin=--compress-all --no-compress -O3";
	for (int info = WS_DEBUG_NONE; info <= (int)WS_DEBUG_FULL; info++) {
		struct ws_size_options size = {.debug_info = (enum ws_debug_info)info};
		assert_string_equal(dropped(words, size, a), "-O3");
	}
	/* Other words for fatbinary stay. */
	assert_string_equal(
		dropped("-Xfatbin -cuda", (struct ws_size_options){0}, a), "-Xfatbin -cuda");
	assert_string_equal(dropped("-Xfatbin", (struct ws_size_options){0}, a), "-Xfatbin");
}

WS_TEST(nvcc_gets_the_flags_that_its_toolkit_supports)
{
	static const struct {
		enum ws_compress compress;
		const char *words;
	} cases[] = {
		{WS_COMPRESS_NONE, "-Wno-error=date-time"},
		{WS_COMPRESS_ALL, "-Wno-error=date-time -Xfatbin -compress-all"},
		{WS_COMPRESS_SIZE, "-Wno-error=date-time --compress-mode=size"},
	};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	struct ws_target target = target_with(&cxx);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		target.size.compress = cases[i].compress;
		const char *words = joined(ws_target_nvcc_flags(&target, a), a);
		assert_true(ws_ends_with(words, cases[i].words));
	}
}

/* ---- texts of compilers ---- */

WS_TEST(phrases_of_drivers_are_known)
{
	static const struct {
		const char *tail;
		enum ws_log_says says;
	} rows[] = {
		{"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
			WS_LOG_SAYS_KILLED},
		{"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n", WS_LOG_SAYS_KILLED},
		{"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n",
			WS_LOG_SAYS_CRASHED},
		{"a.cpp:1: internal compiler error: Segmentation fault\n", WS_LOG_SAYS_CRASHED},
		{"Killed\n", WS_LOG_SAYS_KILLED},
		{"x\nKilled\n", WS_LOG_SAYS_KILLED},
		{"a.cpp:1:1: error: 'Killed' was not declared\n", WS_LOG_SAYS_NOTHING},
		{"", WS_LOG_SAYS_NOTHING},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		assert_int_equal(ws_compile_log_says(rows[i].tail), rows[i].says);
	}
}

/* Line markers lose the folder in which text was preprocessed. */
WS_TEST(relative_names_of_markers_get_a_root)
{
	static const struct {
		const char *text, *anchored;
	} cases[] = {
		{"# 1 \"src/a.cu\"\nint a;\n", "# 1 \"/wheelsmith/src/a.cu\"\nint a;\n"},
		{"# 12 \"cuda/include/x.h\" 1 3 4", "# 12 \"/wheelsmith/cuda/include/x.h\" 1 3 4"},
		{"# 1 \"/usr/include/stdio.h\" 3\n", "# 1 \"/usr/include/stdio.h\" 3\n"},
		{"# 0 \"<built-in>\"\n", "# 0 \"<built-in>\"\n"},
		{"# 1 \"\"\n", "# 1 \"\"\n"},
		{"#pragma once \"a\"\n# pragma 1 \"a\"\n", "#pragma once \"a\"\n# pragma 1 \"a\"\n"},
		{" # 1 \"a\"\n# 1\n#\n\n", " # 1 \"a\"\n# 1\n#\n\n"},
		{"", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf out = {0};
		ws_markers_anchor(ws_str_of(cases[i].text), &out);
		assert_string_equal(ws_buf_text(&out), cases[i].anchored);
	}
}
