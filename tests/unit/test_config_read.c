/* test_config_read.c - what right files mean: values, defaults, places, which recipe is found. */
#include "test.h"

#include "base/fs.h"
#include "config/matrix.h"
#include "config/recipe.h"
#include "config/recipes.h"
#include "config/user.h"

static struct ws_matrix
matrix_of(const char *text, struct ws_arena *a)
{
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	struct ws_matrix matrix;
	struct ws_err err = {0};
	assert_ok(ws_json_parse("m.json", text, strlen(text), WS_JSON_RELAXED, a, doc, &err), err);
	assert_ok(ws_matrix_parse(doc, "/home/me/fleet", "/home/me", a, &matrix, &err), err);
	return matrix;
}

static struct ws_recipe
recipe_of(const char *text, struct ws_arena *a)
{
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	struct ws_recipe recipe;
	struct ws_err err = {0};
	assert_ok(ws_json_parse("r.json", text, strlen(text), WS_JSON_RELAXED, a, doc, &err), err);
	assert_ok(ws_recipe_parse(doc, "/home/me/recipes/demo", a, &recipe, &err), err);
	return recipe;
}

WS_TEST(a_matrix_has_defaults)
{
	struct ws_matrix matrix = matrix_of("{\"packages\": [\"demo==1.0\"]}", a);
	assert_int_equal(matrix.torch_count, 0);
	assert_int_equal(matrix.cuda_count, 1);
	assert_true(matrix.cuda[0].automatic);
	assert_true(matrix.python[0].host);
	assert_true(matrix.arch[0].host);
	assert_int_equal(matrix.cxx11abi_count, 1);
	assert_int_equal(matrix.cxx11abi[0], -1);
	assert_int_equal(matrix.policy, WS_POLICY_PREFER_PREBUILT);
	assert_false(matrix.policy_given);
	assert_true(matrix.fallback_on_no_candidate && !matrix.fallback_on_build_failed);
	assert_null(matrix.recipes);
	assert_null(matrix.label);
}

WS_TEST(axes)
{
	const char *text =
		"{\"packages\": [\"Causal_Conv1d==1.5.3.post1\"], \"torch\": [\"2.5.1+cu121\", "
		"\"installed\"],"
		" \"cuda\": [\"12.4\", \"auto\"], \"python\": [\"3.13t\", \"bin/python3\", \"host\"],"
		" \"arch\": [\"8.0;9.0+PTX\", \"hopper\", \"host\"], \"cxx11abi\": [1, \"auto\"]}";
	struct ws_matrix matrix = matrix_of(text, a);
	assert_string_equal(matrix.packages[0].name, "causal-conv1d");
	assert_string_equal(matrix.packages[0].version.text, "1.5.3.post1");
	assert_memory_equal(text + matrix.packages[0].place.offset, "\"Causal_Conv1d==1.5.3.post1\"",
		matrix.packages[0].place.len);
	assert_string_equal(matrix.torch[0].version.local, "cu121");
	assert_true(matrix.torch[1].installed);
	assert_memory_equal(text + matrix.torch[1].place.offset, "\"installed\"", 11);
	assert_string_equal(matrix.cuda[0].version.text, "12.4");
	assert_true(matrix.cuda[1].automatic);
	assert_true(matrix.python[0].tag.free_threaded);
	assert_int_equal(matrix.python[0].tag.minor, 13);
	assert_string_equal(matrix.python[1].path, "/home/me/fleet/bin/python3");
	assert_true(matrix.python[2].host);
	assert_string_equal(matrix.arch[0].text, "8.0;9.0+PTX");
	assert_string_equal(matrix.arch[1].text, "hopper");
	assert_true(matrix.arch[2].host && !matrix.arch[1].host);
	assert_int_equal(matrix.cxx11abi[0], 1);
	assert_int_equal(matrix.cxx11abi[1], -1);
}

WS_TEST(one_word_is_a_list_of_one)
{
	struct ws_matrix matrix = matrix_of("{\"packages\": [\"d==1\"], \"torch\": \"installed\", "
										"\"arch\": \"turing\", \"cxx11abi\": 0}",
		a);
	assert_true(matrix.torch_count == 1 && matrix.torch[0].installed);
	assert_string_equal(matrix.arch[0].text, "turing");
	assert_int_equal(matrix.cxx11abi[0], 0);
}

static bool
excluded(const struct ws_matrix *matrix, const char *torch, const char *python, bool free_threaded,
	struct ws_arena *a)
{
	struct ws_version torch_version, python_version;
	assert_true(ws_version_parse(torch, a, &torch_version));
	assert_true(ws_version_parse(python, a, &python_version));
	struct ws_point_view point = {.torch = &torch_version,
		.python = &python_version,
		.free_threaded = free_threaded,
		.cxx11abi = 0};
	return ws_condition_holds(&matrix->excludes[0].when, &point);
}

WS_TEST(exclusions)
{
	struct ws_matrix matrix = matrix_of(
		"{\"packages\": [\"d==1\"], \"exclude\": [{\"torch\": \"2.5\", \"python\": \">=3.13\","
		" \"why\": \"not needed\", \"package\": \"D\"}]}",
		a);
	assert_string_equal(matrix.excludes[0].package, "d");
	assert_string_equal(matrix.excludes[0].why, "not needed");
	/* A bare "2.5" is the series, and an axis that is not named does not matter. */
	assert_true(excluded(&matrix, "2.5.1", "3.13", false, a));
	assert_true(excluded(&matrix, "2.5.1+cu121", "3.13", true, a));
	assert_false(excluded(&matrix, "2.5.1", "3.12", false, a));
	assert_false(excluded(&matrix, "2.6.0", "3.13", false, a));
}

WS_TEST(extra_points_take_the_defaults)
{
	struct ws_matrix matrix = matrix_of(
		"{\"packages\": [\"d==1\"],"
		" \"include\": [{\"torch\": \"2.6.0\", \"arch\": \"9.0\"}, {\"cuda\": \"12.6\"}]}",
		a);
	const struct ws_include *include = matrix.includes;
	assert_int_equal(matrix.include_count, 2);
	assert_string_equal(include[0].torch.version.text, "2.6.0");
	assert_true(include[0].cuda.automatic && include[0].python.host && !include[0].arch.host);
	assert_string_equal(include[0].arch.text, "9.0");
	assert_int_equal(include[0].cxx11abi, -1);
	assert_null(include[1].torch.version.text);
	assert_true(!include[1].cuda.automatic && include[1].arch.host);
}

WS_TEST(the_rest_of_a_matrix)
{
	struct ws_matrix matrix =
		matrix_of("{\"packages\": [\"flash-attn==2.8.3\"], \"policy\": \"build-only\","
				  " \"fallback\": {\"flash_attn\": \"sdpa\"}, \"fallback_on\": [\"build-failed\"],"
				  " \"indexes\": {\"torch\": \"https://x.example/1\", \"default\": "
				  "[\"https://x.example/2\"]},"
				  " \"recipes\": \"../recipes\", \"label\": \"acme\"}",
			a);
	assert_int_equal(matrix.policy, WS_POLICY_BUILD_ONLY);
	assert_true(matrix.policy_given);
	assert_string_equal(matrix.fallbacks[0].package, "flash-attn");
	assert_string_equal(matrix.fallbacks[0].to, "sdpa");
	assert_true(!matrix.fallback_on_no_candidate && matrix.fallback_on_build_failed);
	assert_string_equal(matrix.indexes.at[0].role, "default");
	assert_string_equal(matrix.indexes.at[1].urls[0], "https://x.example/1");
	assert_string_equal(matrix.recipes, "/home/me/recipes");
	assert_string_equal(matrix.label, "acme");
}

WS_TEST(a_recipe_in_values)
{
	struct ws_recipe recipe = recipe_of(
		"{\"name\": \"Demo_Pkg\", \"version\": \"1.0\", \"source\": [{\"folder\": \"../../src\"}],"
		" \"extensions\": [{\"module\": \"demo._C\", \"binding\": \"stable-abi\", \"include\": "
		"[\".\"],"
		" \"sources\": [\"a.cpp\", {\"glob\": \"k/*.cu\", \"count\": 3}], \"link_flags\": "
		"[\"-lx\"]}],"
		" \"python\": {\"root\": \".\", \"packages\": [\"demo\"], \"data\": [\"demo/*.h\"]},"
		" \"requires\": {\"python\": \">=3.9\"}, \"archs\": \"8.0;9.0a\"}",
		a);
	assert_string_equal(recipe.name, "demo-pkg");
	assert_string_equal(recipe.distribution, "Demo_Pkg");
	assert_string_equal(recipe.sources[0].path, "/home/me/src");
	const struct ws_extension *extension = &recipe.extensions[0];
	assert_int_equal(extension->binding, WS_BINDING_STABLE_ABI);
	assert_string_equal(extension->include[0], ".");
	assert_string_equal(extension->sources[0].paths[0], "a.cpp");
	assert_null(extension->sources[0].glob);
	assert_string_equal(extension->sources[1].glob, "k/*.cu");
	assert_int_equal(extension->sources[1].path_count, 0);
	assert_string_equal(extension->flags.link[0], "-lx");
	assert_string_equal(recipe.python.root, "");
	assert_string_equal(recipe.python.data[0], "demo/*.h");
	assert_string_equal(recipe.metadata.requires_python, ">=3.9");
	assert_string_equal(ws_arch_set_text(&recipe.archs, a), "8.0;9.0a");
}

WS_TEST(members_of_every_extension)
{
	static const char text[] =
		"{\"name\": \"demo\", \"version\": \"1.0\", \"source\": [{\"folder\": \"src\"}],\n"
		" \"extensions\": [{\"module\": \"a\", \"sources\": [\"a.cu\"]}, {\"module\": \"b\",\n"
		"  \"binding\": \"c-abi\", \"suffix\": \".abi3.so\", \"include\": [\"b\"], \"cxx_flags\": "
		"[\"-DB\"],\n"
		"  \"sources\": [\"b.c\"]}],\n"
		" \"every_extension\": {\"binding\": \"stable-abi\", \"suffix\": \".so\", \"include\": "
		"[\".\", \"x\"],\n"
		"  \"cxx_flags\": [\"-O3\"]}}";
	struct ws_recipe recipe = recipe_of(text, a);
	const struct ws_extension *one = &recipe.extensions[0], *two = &recipe.extensions[1];
	assert_int_equal(one->binding, WS_BINDING_STABLE_ABI);
	assert_int_equal(two->binding, WS_BINDING_C_ABI);
	assert_string_equal(one->suffix, ".so");
	assert_string_equal(two->suffix, ".abi3.so");
	assert_int_equal(one->include_count, 2);
	assert_int_equal(two->include_count, 3);
	assert_string_equal(two->include[1], "x");
	assert_string_equal(two->include[2], "b");
	assert_string_equal(two->flags.cxx[0], "-O3");
	assert_string_equal(two->flags.cxx[1], "-DB");
	assert_int_equal(one->flags.nvcc_count, 0);
	struct ws_json_doc doc;
	struct ws_err err;
	assert_ok(ws_json_parse("r", text, sizeof(text) - 1, WS_JSON_RELAXED, a, &doc, &err), err);
	assert_string_equal(ws_recipe_value_at(doc.root, "extensions/1/include/1", a)->text, "x");
	assert_string_equal(ws_recipe_value_at(doc.root, "extensions/1/include/2", a)->text, "b");
	assert_string_equal(ws_recipe_value_at(doc.root, "extensions/1/sources/0", a)->text, "b.c");
}

WS_TEST(a_changed_patch_is_a_changed_recipe)
{
	struct ws_err err = {0};
	const char *dir = ws_test_dir(a);
	const char *texts[] = {"one", "two"};
	struct ws_digest digests[3];
	for (size_t i = 0; i < 3; i++) {
		const char *text = texts[i % 2];
		struct ws_digest patch = ws_digest_bytes(text, 3);
		const char *file = ws_path_join(a, dir, "x.patch", NULL);
		const char *recipe_file = ws_path_join(a, dir, "1.0.json", NULL);
		const char *json = ws_arena_printf(a,
			"{\"name\": \"d\", \"version\": \"1.0\", \"source\": [{\"folder\": \".\"}], "
			"\"python\": "
			"{\"modules\": [\"d.py\"]}, \"patches\": [{\"file\": \"x.patch\", \"sha256\": "
			"\"%s\"}]}",
			patch.hex);
		assert_ok(ws_fs_write(file, text, 3, 0644, &err), err);
		assert_ok(ws_fs_write(recipe_file, json, strlen(json), 0644, &err), err);
		struct ws_recipe recipe;
		assert_ok(ws_recipe_read(recipe_file, a, &recipe, &err), err);
		assert_string_equal(recipe.patches[0].file, file);
		digests[i] = recipe.digest;
	}
	assert_true(ws_digest_eq(&digests[0], &digests[2]));
	assert_false(ws_digest_eq(&digests[0], &digests[1]));
}

/* Writes a recipe as <folder>/<package>/<file>.json. */
static void
put_recipe(const char *folder, const char *package, const char *file, const char *name,
	const char *version, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *dir = ws_path_join(a, folder, package, NULL);
	const char *text = ws_arena_printf(a,
		"{\"name\": \"%s\", \"version\": \"%s\", \"source\": [{\"folder\": \".\"}],"
		" \"python\": {\"modules\": [\"x.py\"]}}",
		name, version);
	assert_ok(ws_fs_mkdirs(dir, &err), err);
	const char *path = ws_path_join(a, dir, ws_arena_printf(a, "%s.json", file), NULL);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
}

static bool
find(const struct ws_recipe_catalog *catalog, const char *name, const char *text,
	struct ws_recipe *recipe, struct ws_err *err, struct ws_arena *a)
{
	struct ws_version version;
	assert_true(ws_version_parse(text, a, &version));
	return ws_recipe_find(catalog, name, &version, a, recipe, err);
}

WS_TEST(recipes_are_found)
{
	const char *mine = ws_path_join(a, ws_test_dir(a), "mine", NULL);
	const char *shipped = ws_path_join(a, ws_test_dir(a), "shipped", NULL);
	put_recipe(shipped, "flash-attn", "2.8.3", "flash_attn", "2.8.3", a);
	put_recipe(shipped, "flash-attn", "2.10.0", "flash_attn", "2.10.0", a);
	put_recipe(shipped, "flash-attn", "notes", "flash_attn", "0", a);
	put_recipe(shipped, "mamba-ssm", "2.2.6", "mamba_ssm", "2.2.5", a);
	put_recipe(shipped, "xformers", "1.0", "other", "1.0", a);
	put_recipe(mine, "Flash_Attn", "2.8.3.0", "flash-attn", "2.8.3", a);

	const char *const folders[] = {mine, shipped};
	struct ws_recipe_catalog catalog;
	struct ws_recipe recipe;
	struct ws_err err = {0};
	assert_ok(ws_recipes_list(folders, 2, a, &catalog, &err), err);
	assert_int_equal(catalog.count, 4);
	assert_string_equal(catalog.files[0].version.text, "2.8.3.0");
	assert_string_equal(catalog.files[1].version.text, "2.10.0");
	assert_ok(find(&catalog, "flash-attn", "2.8.3", &recipe, &err, a), err);
	assert_true(ws_starts_with(recipe.path, mine));

	assert_fails(find(&catalog, "flash-atn", "2.8.3", &recipe, &err, a), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "no recipe for 'flash-atn'");
	assert_contains(err.cure, "did you mean \"flash-attn\"?");
	assert_contains(err.cure, "available: flash-attn, mamba-ssm, xformers");
	assert_contains(err.cure, shipped);
	assert_fails(find(&catalog, "flash-attn", "2.8.2", &recipe, &err, a), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "no recipe for 'flash-attn' 2.8.2");
	assert_string_equal(err.cure, "available: 2.8.3.0, 2.10.0\n");
	assert_fails(find(&catalog, "mamba-ssm", "2.2.6", &recipe, &err, a), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "this recipe's file is named for version 2.2.6");
	assert_fails(find(&catalog, "xformers", "1.0", &recipe, &err, a), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "the recipe is in the folder of 'xformers'");

	const char *const nowhere[] = {"/nowhere"};
	assert_fails(ws_recipes_list(nowhere, 1, a, &catalog, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "cannot look for recipes in '/nowhere'");
}

WS_TEST(a_missing_file_names_a_near_one)
{
	const char *dir = ws_test_dir(a);
	struct ws_matrix matrix;
	struct ws_err err = {0};
	assert_ok(ws_fs_write(ws_path_join(a, dir, "fleet.json", NULL), "{}", 2, 0644, &err), err);
	const char *path = ws_path_join(a, dir, "flet.json", NULL);
	assert_fails(ws_matrix_read(path, NULL, a, &matrix, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "the matrix '");
	assert_contains(err.text, "does not exist");
	assert_contains(err.cure, ws_arena_printf(a, "did you mean '%s/fleet.json'?", dir));
	assert_fails(ws_matrix_read(dir, NULL, a, &matrix, &err), err, WS_ERR_IO);
}

WS_TEST(the_configuration)
{
	const char *dir = ws_test_dir(a);
	struct ws_user_config config;
	struct ws_err err = {0};
	const char *vars[] = {"HOME=/home/me", ws_arena_printf(a, "XDG_CONFIG_HOME=%s", dir), NULL};
	const struct ws_user_env env = {vars, "", NULL};
	const char *path = ws_user_config_path(&env, a);
	assert_string_equal(path, ws_path_join(a, dir, "wheelsmith/config.json", NULL));
	assert_ok(ws_user_config_read(path, "/home/me", a, &config, &err), err);
	assert_null(config.path);
	assert_int_equal(config.policy, WS_POLICY_PREFER_PREBUILT);

	const char *text =
		"{\"store\": \"~/big\", \"recipes\": [\"mine\", \"/all\"],"
		" \"indexes\": {\"default\": \"https://x.example\"}, \"policy\": \"prefer-build\"}";
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	assert_ok(ws_user_config_read(path, "/home/me", a, &config, &err), err);
	assert_string_equal(config.path, path);
	assert_string_equal(config.store, "/home/me/big");
	assert_string_equal(config.recipes[0], ws_path_join(a, dir, "wheelsmith/mine", NULL));
	assert_string_equal(config.recipes[1], "/all");
	assert_string_equal(config.indexes.at[0].urls[0], "https://x.example");
	assert_int_equal(config.policy, WS_POLICY_PREFER_BUILD);

	vars[1] = "XDG_CONFIG_HOME=relative";
	assert_string_equal(ws_user_config_path(&env, a), "/home/me/.config/wheelsmith/config.json");
	assert_ok(ws_user_config_read(NULL, NULL, a, &config, &err), err);
}

/* Keys of cells have the recipe's digest: what others published must not change them. */
WS_TEST(published_wheels_are_not_part_of_a_recipes_digest)
{
#define PREBUILT \
	"\"prebuilt\": [{\"from\": \"x\", \"url\": " \
	"\"https://e.org/demo-{version}-py3-none-any.whl\"}]"
#define NAME "\"name\": \"demo\", \"version\": \"1.0\""
#define REST "\"source\": [{\"folder\": \"src\"}], \"python\": {\"packages\": [\"demo\"]}"
	static const char *const texts[] = {
		"{" NAME ",\n " REST "\n}",
		"{" NAME ",\n " PREBUILT ",\n " REST "\n}",
		"{" PREBUILT ", " NAME ",\n " REST "\n}",
		"{" NAME ",\n " REST ",\n " PREBUILT "\n}",
		"{" NAME ",\n " REST ", \"archs\": [\"8.0\"]\n}",
	};
	struct ws_digest digests[WS_LEN(texts)];
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_json_doc doc;
		struct ws_recipe recipe;
		struct ws_err err = {0};
		assert_ok(
			ws_json_parse("r.json", texts[i], strlen(texts[i]), WS_JSON_RELAXED, a, &doc, &err),
			err);
		assert_ok(ws_recipe_parse(&doc, "/", a, &recipe, &err), err);
		digests[i] = recipe.digest;
	}
	for (size_t i = 1; i < 4; i++) {
		assert_true(ws_digest_eq(&digests[0], &digests[i]));
	}
	assert_false(ws_digest_eq(&digests[0], &digests[4]));
}
