/* test_cli_matrix_options.c - options become the matrix that a file would be. */
#include "test.h"

#include "cli/matrix_options.h"

#include <sys/stat.h>

static void
add(ws_words *words, const char *text, struct ws_arena *a)
{
	*ws_vec_push(words, a) = text;
}

static struct ws_matrix_options
package(struct ws_arena *a)
{
	struct ws_matrix_options typed = {0};
	add(&typed.packages, "Flash_Attn==2.8.3", a);
	return typed;
}

WS_TEST(repeated_options_add_up)
{
	struct ws_matrix_options typed = package(a);
	struct ws_matrix m;
	struct ws_err err;
	const char *const values[][2] = {{"2.5.1", "2.11.0+cu130"}, {"3.11", "3.13t"},
		{"8.0;9.0+PTX", "hopper"}, {"12.4", "13"}, {"x86_64", "aarch64"}, {"0", "auto"}};
	for (size_t i = 0; i < WS_AXES; i++) {
		for (size_t j = 0; j < 2; j++) {
			add(&typed.axes[i], values[i][j], a);
		}
	}
	assert_ok(ws_matrix_options_read(&typed, &m, a, &err), err);
	assert_string_equal(m.packages[0].name, "flash-attn");
	assert_int_equal(m.torch_count, 2);
	assert_string_equal(m.torch[1].version.text, "2.11.0+cu130");
	assert_int_equal(m.python_count, 2);
	assert_true(m.python[1].tag.free_threaded);
	assert_int_equal(m.arch_count, 2);
	assert_string_equal(m.arch[0].text, "8.0;9.0+PTX");
	assert_int_equal(m.cuda_count, 2);
	assert_string_equal(m.cuda[1].version.text, "13.0"); /* one toolkit, one name */
	assert_int_equal(m.platform_count, 2);
	assert_string_equal(m.platforms[1]->name, "aarch64");
	assert_int_equal(m.cxx11abi_count, 2);
	assert_int_equal(m.cxx11abi[0], 0);
	assert_int_equal(m.cxx11abi[1], -1);
	assert_null(m.doc);
	assert_null(m.path);
}

WS_TEST(axes_have_defaults)
{
	struct ws_matrix_options typed = package(a);
	struct ws_matrix m;
	struct ws_err err;
	typed.here = true;
	assert_ok(ws_matrix_options_read(&typed, &m, a, &err), err);
	assert_true(m.torch[0].installed && m.cuda[0].automatic && m.python[0].host && m.arch[0].host);
	assert_int_equal(m.cxx11abi[0], -1);
	assert_true(m.fallback_on_no_candidate);
}

WS_TEST(a_toolkit_alone_selects_no_torch)
{
	struct ws_matrix_options typed = {0};
	struct ws_matrix m;
	struct ws_err err;
	add(&typed.packages, "p==1", a);
	add(&typed.axes[WS_AXIS_CUDA], "12.4", a);
	add(&typed.axes[WS_AXIS_ARCH], "8.6", a);
	assert_ok(ws_matrix_options_read(&typed, &m, a, &err), err);
	assert_int_equal(m.torch_count, 0);
	assert_string_equal(m.cuda[0].version.text, "12.4");
}

WS_TEST(mistakes_are_usage_and_have_no_place)
{
	static const struct {
		const char *package, *torch, *cuda, *arch, *text, *cure;
	} rows[] = {
		{NULL, "2.5.1", NULL, NULL, "no matrix and no package given", "--matrix FILE"},
		{"m.json", "2.5.1", NULL, NULL, "'m.json' is not a package", "--matrix m.json"},
		{"p", "2.5.1", NULL, NULL, "'p' is ", "p==VERSION"},
		{"p==1", NULL, NULL, NULL, "no torch selected: give --here or --torch V", "--torch 2.5.1"},
		{"p==1", NULL, NULL, "8.6", "no torch selected", "--cuda 12.4 --arch 8.6"},
		{"p==1", "two", NULL, NULL, "'two' is ", "2.5.1"},
		{"p==1", "2.5.1", "12.4.1", NULL, "'12.4.1' is ", "12.4"},
		{"p==1", "2.5.1", NULL, "sm_90", "'sm_90' is ", "write \"9.0\""},
		{"p==1", "2.5.1", NULL, "90", "'90' is ", "write \"9.0\""},
		{"p==1", "2.5.1", NULL, "9.0x", "'9.0x' is ", "\"8.6\""},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_matrix_options typed = {0};
		struct ws_matrix m;
		struct ws_err err = {0};
		if (rows[i].package) {
			add(&typed.packages, rows[i].package, a);
		}
		const char *const values[WS_AXES] = {[WS_AXIS_TORCH] = rows[i].torch,
			[WS_AXIS_CUDA] = rows[i].cuda,
			[WS_AXIS_ARCH] = rows[i].arch};
		for (size_t k = 0; k < WS_AXES; k++) {
			if (values[k]) {
				add(&typed.axes[k], values[k], a);
			}
		}
		assert_fails(ws_matrix_options_read(&typed, &m, a, &err), err, WS_ERR_USAGE);
		assert_contains(err.text, rows[i].text);
		assert_contains(err.cure, rows[i].cure);
		assert_string_equal(err.place, "");
		assert_string_equal(err.excerpt, "");
	}
}

WS_TEST(a_python_may_be_named_as_its_program)
{
	const char *dir = ws_test_dir(a);
	const char *program = ws_arena_printf(a, "%s/python3.77", dir);
	FILE *file = fopen(program, "w");
	assert_non_null(file);
	fclose(file);
	chmod(program, 0755);
	const char *const vars[] = {ws_arena_printf(a, "PATH=relative:%s:/bin", dir), NULL};
	const struct ws_user_env env = {.vars = vars, .root = ""};
	assert_string_equal(ws_matrix_options_python(&env, "python3.77", a), program);
	assert_string_equal(ws_matrix_options_python(&env, "python3.78", a), "python3.78");
	assert_string_equal(ws_matrix_options_python(&env, "3.12", a), "3.12");
	assert_string_equal(ws_matrix_options_python(&env, "./python3.77", a), "./python3.77");
}
