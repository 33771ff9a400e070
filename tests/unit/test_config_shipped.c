/* test_config_shipped.c - the files that come with the program: each is read, and says what was
 * measured. */
#include "test.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/facts.h"
#include "config/kit_def.h"
#include "config/matrix.h"
#include "config/recipe.h"
#include "config/recipes.h"

#define ROOT WS_SOURCE_DATA_DIR

static struct ws_facts
read_facts(struct ws_arena *a)
{
	struct ws_facts facts;
	struct ws_err err = {0};
	assert_ok(ws_facts_read(ROOT "/matrix/facts", a, &facts, &err), err);
	return facts;
}

static const struct ws_version *
version_of(const char *text, struct ws_arena *a)
{
	struct ws_version *version = WS_NEW(a, struct ws_version);
	assert_true(ws_version_parse(text, a, version));
	return version;
}

static const struct ws_torch_release *
torch(const struct ws_facts *facts, const char *text, struct ws_arena *a)
{
	const struct ws_torch_release *release = ws_facts_torch(facts, version_of(text, a));
	assert_non_null(release);
	return release;
}

static const struct ws_cuda_toolkit *
cuda(const struct ws_facts *facts, const char *text, struct ws_arena *a)
{
	const struct ws_cuda_toolkit *toolkit = ws_facts_cuda(facts, version_of(text, a));
	assert_non_null(toolkit);
	return toolkit;
}

WS_TEST(torch_releases)
{
	struct ws_facts facts = read_facts(a);
	assert_int_equal(facts.torch_count, 13);
	const struct ws_torch_release *r = torch(&facts, "2.5.1", a);
	assert_string_equal(r->standard.cuda, "12.4");
	assert_int_equal(r->standard.cxx11abi, 0);
	assert_int_equal(r->other_count, 2);
	assert_true(r->passes_abi && r->passes_pybind && r->has_thc);
	assert_string_equal(r->pybind_build_abi, "_cxxabi1011");
	assert_int_equal(r->gcc_min, 9);
	assert_int_equal(r->python_count, 5);
	assert_string_equal(ws_python_tag_text(&r->pythons[0], false, a), "cp39");

	r = torch(&facts, "2.6.0", a);
	assert_int_equal(r->standard.cxx11abi, 0);
	assert_string_equal(r->others[1].cuda, "12.6");
	assert_int_equal(r->others[1].cxx11abi, 1);

	r = torch(&facts, "2.7.1", a);
	assert_true(r->passes_abi && !r->has_thc);
	r = torch(&facts, "2.8.0", a);
	assert_true(!r->passes_abi && r->passes_pybind);
	assert_string_equal(r->pybind_build_abi, "_cxxabi1018");
	r = torch(&facts, "2.9.1", a);
	assert_true(!r->passes_pybind && !r->pybind_build_abi);
	r = torch(&facts, "2.13.0", a);
	assert_int_equal(r->cxx_std, 17);
	assert_int_equal(r->cxx_std_default, 20);
	assert_int_equal(torch(&facts, "2.14.1", a)->cxx_std, 20);
	r = torch(&facts, "2.15.0", a);
	assert_string_equal(r->standard.cuda, "13.2");
	assert_true(r->pythons[r->python_count - 1].free_threaded);
}

/* Only one release had both ABIs: for all others cxx11abi is not an axis. */
WS_TEST(both_abis_only_where_torch_had_both)
{
	struct ws_facts facts = read_facts(a);
	for (size_t i = 0; i < facts.torch_count; i++) {
		const struct ws_torch_release *r = &facts.torch[i];
		bool both = false;
		for (size_t j = 0; j < r->other_count; j++) {
			both |= r->others[j].cxx11abi != r->standard.cxx11abi;
		}
		assert_int_equal(both, strcmp(r->version.text, "2.6.0") == 0);
	}
}

WS_TEST(cuda_toolkits)
{
	static const struct {
		const char *cuda;
		unsigned gcc_max, clang_max;
		size_t archs;
	} rows[] = {
		{"11.7", 11, 13, 14},
		{"11.8", 11, 14, 16},
		{"12.0", 12, 14, 15},
		{"12.1", 12, 15, 15},
		{"12.2", 12, 16, 15},
		{"12.3", 12, 16, 15},
		{"12.4", 13, 17, 15},
		{"12.5", 13, 17, 15},
		{"12.6", 13, 18, 15},
		{"12.8", 14, 19, 21},
		{"12.9", 14, 19, 30},
		{"13.0", 15, 20, 23},
		{"13.1", 15, 21, 23},
		{"13.2", 15, 21, 23},
		{"13.3", 15, 21, 23},
		{"13.4", 16, 22, 26},
		{"13.5", 16, 22, 26},
	};
	struct ws_facts facts = read_facts(a);
	assert_int_equal(facts.cuda_count, WS_LEN(rows));
	assert_int_equal(facts.gcc_min, 9);
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		const struct ws_cuda_toolkit *toolkit = cuda(&facts, rows[i].cuda, a);
		assert_int_equal(toolkit->gcc_max, rows[i].gcc_max);
		assert_int_equal(toolkit->clang_max, rows[i].clang_max);
		assert_int_equal(toolkit->archs.count, rows[i].archs);
	}
	assert_string_equal(ws_arch_set_text(&cuda(&facts, "12.8", a)->archs, a),
		"5.0;5.2;5.3;6.0;6.1;6.2;7.0;7.2;7.5;8.0;8.6;8.7;8.9;9.0;9.0a;10.0;10.0a;10.1;10.1a;"
		"12.0;12.0a");
	assert_int_equal(cuda(&facts, "13.3", a)->cxx_std_max, 23);
	assert_int_equal(cuda(&facts, "12.6", a)->cxx_std_max, 0);
}

WS_TEST(aliases)
{
	struct ws_facts facts = read_facts(a);
	for (size_t i = 0; i < facts.alias_count; i++) {
		if (strcmp(facts.aliases[i].name, "hopper") == 0) {
			assert_string_equal(ws_arch_set_text(&facts.aliases[i].archs, a), "9.0");
			return;
		}
	}
	fail();
}

/* Each toolkit that names a kit has its definition, for the same CUDA. */
WS_TEST(kits)
{
	struct ws_facts facts = read_facts(a);
	size_t count = 0;
	for (size_t i = 0; i < facts.cuda_count; i++) {
		const struct ws_cuda_toolkit *toolkit = &facts.cuda[i];
		if (!toolkit->kit) {
			continue;
		}
		struct ws_kit_def def;
		struct ws_err err = {0};
		const char *path = ws_arena_printf(a, ROOT "/matrix/kits/%s.json", toolkit->kit);
		assert_ok(ws_kit_def_read(path, a, &def, &err), err);
		assert_string_equal(def.name, toolkit->kit);
		assert_string_equal(def.cuda, toolkit->version.text);
		assert_string_equal(def.executables[4], "bin/nvcc");
		assert_string_equal(def.links[1].path, "lib64/libcudart.so");
		assert_int_equal(def.files[0].mode, 0644);
		count++;
	}
	assert_int_equal(count, 11);
}

WS_TEST(a_kit_in_full)
{
	struct ws_kit_def def;
	struct ws_err err = {0};
	assert_ok(ws_kit_def_read(ROOT "/matrix/kits/cuda-12.4.json", a, &def, &err), err);
	assert_string_equal(def.nvcc, "12.4.131");
	assert_int_equal(def.archive_count, 8);
	const struct ws_kit_archive *deb = &def.archives[0];
	assert_int_equal(deb->origin, WS_ORIGIN_DEBIAN);
	assert_int_equal(deb->format, WS_FORMAT_DEB);
	assert_true(ws_starts_with(deb->pool, "pool/non-free/n/nvidia-cuda-toolkit/"));
	assert_int_equal(deb->size, 87240108);
	assert_int_equal(deb->map_count, 13);
	assert_string_equal(deb->map[1].from, "usr/lib/nvidia-cuda-toolkit/bin/crt/");
	const struct ws_kit_archive *headers = &def.archives[1];
	assert_int_equal(headers->origin, WS_ORIGIN_INDEX);
	assert_int_equal(headers->format, WS_FORMAT_WHEEL);
	assert_string_equal(headers->package, "nvidia-cuda-nvcc-cu12");
	assert_true(headers->by_range);
	assert_string_equal(headers->record, "nvidia_cuda_nvcc_cu12-12.4.131.dist-info/RECORD");
	assert_null(headers->pool);
	assert_false(def.archives[2].by_range);
	assert_int_equal(strlen(def.digest.hex), 64);
}

static struct ws_recipe
read_recipe(const char *name, const char *text, struct ws_arena *a)
{
	static const char *const folders[] = {ROOT "/recipes"};
	struct ws_recipe_catalog catalog;
	struct ws_recipe recipe;
	struct ws_err err = {0};
	assert_ok(ws_recipes_list(folders, 1, a, &catalog, &err), err);
	assert_ok(ws_recipe_find(&catalog, name, version_of(text, a), a, &recipe, &err), err);
	return recipe;
}

/* The workflows of these releases: 5 torches x 5 Pythons x 2 CUDAs x 2 ABIs less the
 * excluded ones, ... */
WS_TEST(as_many_wheels_as_were_published)
{
	static const struct {
		const char *package, *version;
		size_t names;
	} published[] = {{"flash-attn", "2.6.1", 84}, {"flash-attn", "2.8.3", 48},
		{"causal-conv1d", "1.5.3.post1", 76}, {"mamba-ssm", "2.2.6.post3", 76},
		{"mamba-ssm", "2.3.2.post1", 44}};
	for (size_t i = 0; i < WS_LEN(published); i++) {
		struct ws_recipe recipe = read_recipe(published[i].package, published[i].version, a);
		assert_int_equal(recipe.prebuilt_count, 1);
		assert_int_equal(ws_prebuilt_count(&recipe.prebuilt[0]), published[i].names);
	}
}

WS_TEST(causal_conv1d)
{
	struct ws_recipe recipe = read_recipe("causal-conv1d", "1.5.3.post1", a);
	assert_string_equal(recipe.distribution, "causal_conv1d");
	assert_int_equal(recipe.sources[0].kind, WS_SOURCE_SDIST);
	assert_string_equal(recipe.sources[0].package, "causal-conv1d");
	assert_string_equal(recipe.sources[1].tree, "58a8830c82046bc15ea19db1834d6b3e4cffa958");
	assert_int_equal(recipe.extensions[0].source_list_count, 4);
	assert_int_equal(recipe.extensions[0].flags.nvcc_count, 12);
	assert_int_equal(ws_recipe_binding(&recipe), WS_BINDING_PYBIND);
	assert_int_equal(recipe.cxx_std, 0);
	assert_string_equal(recipe.metadata.requires_python, ">=3.9");
	assert_int_equal(recipe.estimates[0].rss_mib, 1149);
	assert_int_equal(recipe.estimates[0].cpu_s, 112);

	struct ws_arch_set archs;
	const char *why;
	assert_true(ws_arch_set_parse("9.0;10.3+PTX", a, &archs, &why));
	struct ws_point_view point = {.cuda = version_of("13.0", a), .archs = archs, .cxx11abi = -1};
	assert_int_equal(recipe.known_bad_count, 1);
	assert_true(ws_condition_holds(&recipe.known_bad[0].when, &point));
	point.cuda = version_of("12.9", a);
	assert_false(ws_condition_holds(&recipe.known_bad[0].when, &point));
}

WS_TEST(mamba_ssm)
{
	struct ws_recipe recipe = read_recipe("mamba-ssm", "2.2.6.post3", a);
	assert_int_equal(recipe.extensions[0].source_list_count, 10);
	assert_string_equal(recipe.extensions[0].module, "selective_scan_cuda");
	assert_int_equal(recipe.metadata.extra_count, 4);
	assert_string_equal(recipe.metadata.extras[0], "causal-conv1d");
	assert_string_equal(recipe.metadata.extras[1], "causal-conv1d>=1.2.0");
	assert_string_equal(recipe.metadata.extras[2], "dev");
	assert_string_equal(recipe.metadata.project_urls[0].label, "Repository");
	assert_int_equal(recipe.cxx_std, 17);
}

/* Its Python calls triton.set_allocator while it is imported, and METADATA asks for triton>=3.5.0;
 * torch pins its triton: 2.8.0 has 3.4.0, 2.9.0 has 3.5.0. */
WS_TEST(mamba_ssm_needs_the_triton_of_torch_2_9)
{
	struct ws_recipe recipe = read_recipe("mamba-ssm", "2.3.2.post1", a);
	struct ws_point_view point = {.torch = version_of("2.8.0", a), .cxx11abi = -1};
	assert_int_equal(recipe.known_bad_count, 1);
	assert_true(ws_condition_holds(&recipe.known_bad[0].when, &point));
	point.torch = version_of("2.9.0", a);
	assert_false(ws_condition_holds(&recipe.known_bad[0].when, &point));
}

WS_TEST(flash_attn)
{
	struct ws_recipe old = read_recipe("flash-attn", "2.6.1", a);
	struct ws_recipe recipe = read_recipe("flash-attn", "2.8.3", a);
	assert_string_equal(old.extensions[0].sources[0].paths[0], "csrc/flash_attn/flash_api.cpp");
	assert_string_equal(old.extensions[0].sources[1].glob, "csrc/flash_attn/src/flash_bwd_*.cu");
	assert_int_equal(old.extensions[0].sources[1].expected, 16);
	assert_int_equal(recipe.extensions[0].sources[1].expected, 24);
	assert_string_equal(recipe.sources[1].submodules[0], "csrc/cutlass");
	assert_int_equal(recipe.sources[1].submodule_count, 1);
	assert_string_equal(recipe.python.packages[1], "hopper");
	assert_int_equal(old.python.package_count, 1);
	assert_string_equal(ws_arch_set_text(&recipe.archs, a),
		"8.0;8.6;8.7;8.8;8.9;9.0;10.0;10.1;10.3;11.0;12.0;12.1");
}

/* Puts digits where the page has "…64 digits…". */
static char *
fill_digits(const char *text, size_t len, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	static const char mark[] = " digits…", dots[] = "…";
	const char *rest = ws_arena_copy(a, text, len);
	for (const char *at; (at = strstr(rest, mark));) {
		const char *start = at - strlen("…64");
		ws_buf_printf(&b, "%.*s%0*d", (int)(start - rest), rest,
			(int)strtoul(start + strlen(dots), NULL, 10), 0);
		rest = at + strlen(mark);
	}
	ws_buf_puts(&b, rest);
	return ws_buf_copy(&b, a);
}

WS_TEST(the_example_of_the_manual_is_a_recipe)
{
	WS_AUTO_BUF struct ws_buf page = {0};
	struct ws_json_doc doc;
	struct ws_recipe recipe;
	struct ws_err err = {0};
	assert_ok(ws_fs_read(ROOT "/recipes/README.md", &page, &err), err);
	const char *start = strstr(ws_buf_text(&page), "```jsonc\n") + 9;
	const char *text = fill_digits(start, (size_t)(strstr(start, "```") - start), a);
	assert_ok(ws_json_parse("README.md", text, strlen(text), WS_JSON_RELAXED, a, &doc, &err), err);
	assert_ok(ws_recipe_parse(&doc, ROOT, a, &recipe, &err), err);
	assert_int_equal(recipe.source_count, 2);
}

WS_TEST(matrices)
{
	static const struct {
		const char *file, *torch, *cuda, *arch;
		size_t packages;
		unsigned python; /* minor; 0: the host's */
	} rows[] = {
		{"quickstart", "2.11.0", NULL, "9.0", 1, 0},
		{"ampere-a10", "2.5.1", "12.4", "8.6", 3, 11},
		{"hopper", "2.11.0", "13.0", "9.0", 3, 12},
		{"turing", "2.11.0", "13.0", "7.5", 3, 11},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_matrix matrix;
		struct ws_err err = {0};
		const char *path = ws_arena_printf(a, ROOT "/matrix/%s.json", rows[i].file);
		assert_ok(ws_matrix_read(path, NULL, a, &matrix, &err), err);
		assert_int_equal(matrix.package_count, rows[i].packages);
		assert_string_equal(matrix.torch[0].version.text, rows[i].torch);
		assert_int_equal(matrix.cuda[0].automatic, rows[i].cuda == NULL);
		assert_true(ws_same(matrix.cuda[0].version.text, rows[i].cuda));
		assert_string_equal(matrix.arch[0].text, rows[i].arch);
		assert_int_equal(matrix.python[0].tag.minor, rows[i].python);
		assert_int_equal(matrix.python[0].host, rows[i].python == 0);
		/* Whatever they name has a recipe. */
		for (size_t j = 0; j < matrix.package_count; j++) {
			read_recipe(matrix.packages[j].name, matrix.packages[j].version.text, a);
		}
	}
}

WS_TEST(the_data_is_found_from_the_build_tree)
{
	struct ws_data data;
	struct ws_err err = {0};
	assert_ok(ws_data_locate(NULL, a, &data, &err), err);
	assert_string_equal(data.root, ROOT);
	size_t count;
	static const char *const configured[] = {"/etc/recipes"};
	const char *const *folders =
		ws_data_recipe_folders(&data, "/option", NULL, configured, 1, a, &count);
	assert_int_equal(count, 3);
	assert_string_equal(folders[0], "/option");
	assert_string_equal(folders[1], "/etc/recipes");
	assert_string_equal(folders[2], ROOT "/recipes");
}

WS_TEST(the_data_is_found_beside_an_installation)
{
	const char *prefix = ws_test_dir(a);
	struct ws_data data;
	struct ws_err err = {0};
	const char *program = ws_path_join(a, prefix, "bin/wheelsmith", NULL);
	assert_ok(
		ws_fs_mkdirs(ws_path_join(a, prefix, "share/wheelsmith/matrix/facts", NULL), &err), err);
	assert_ok(ws_data_locate(program, a, &data, &err), err);
	assert_string_equal(data.root, ws_path_join(a, prefix, "share/wheelsmith", NULL));
	if (!ws_fs_is_dir(WS_DATA_DIR)) {
		assert_fails(ws_data_locate("/nowhere/bin/x", a, &data, &err), err, WS_ERR_CONFIG);
	}
}
