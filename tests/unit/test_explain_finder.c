/* test_explain_finder.c - patterns, and signs in texts of any length and origin. */
#include "test.h"

#include "base/fs.h"
#include "explain/explain.h"

#include <time.h>

static const char required[] =
	"x (required by /a/b.so)\nImportError: /a/b.so: undefined symbol: _Z1f, version V";

/* Blanks and line breaks are one. */
WS_TEST(a_pattern_captures_words)
{
	static const struct {
		const char *pattern, *text, *captures; /* NULL: no match */
	} rows[] = {
		{"{file}: undefined symbol: {symbol}", required, "file=/a/b.so symbol=_Z1f "},
		{"(required by {file})", required, "file=/a/b.so "},
		{"version {v}", "the version 1.2.", "v=1.2 "},
		{"to compile PyTorch ({v})", "to compile\n\t   PyTorch (12.4).", "v=12.4 "},
		{"tocompile", "to compile\n\t   PyTorch (12.4).", NULL},
		{"PyTorch ({v})", "PyTorch ()", NULL},
		{"PyTorch ({v})", "PyTorch (a b)", NULL},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_match match;
		WS_AUTO_BUF struct ws_buf captures = {0};
		bool found = ws_pattern_find(rows[i].pattern, ws_str_of(rows[i].text), 0, &match);
		for (size_t k = 0; found && k < match.count; k++) {
			ws_buf_printf(&captures, "%.*s=%.*s ", WS_STR_ARGS(match.captures[k].name),
				WS_STR_ARGS(match.captures[k].text));
		}
		assert_int_equal(found, rows[i].captures != NULL);
		assert_string_equal(ws_buf_text(&captures), found ? rows[i].captures : "");
	}
}

WS_TEST(a_text_that_is_not_a_pattern_is_reported)
{
	static const char *const bad[] = {
		"", "{b}", "{b} c", "a {b}{c}", "a {B}", "a }", "a {b", "a\nb", "a {b} {c} {d} {e} {f}"};
	assert_null(ws_pattern_fault("a {b} c"));
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		assert_non_null(ws_pattern_fault(bad[i]));
	}
}

static const char *const symbol_texts[] = {"{file}: undefined symbol: {symbol}"};
static const char *const killed_texts[] = {"died due to signal 9"};
static const struct ws_sign two[] = {
	{.name = "symbol", .texts = symbol_texts, .text_count = 1},
	{.name = "killed", .texts = killed_texts, .text_count = 1},
};
static const struct ws_signs signs = {two, 2};

/* Feeds @text in pieces of a random length. */
static size_t
find(struct ws_str text, unsigned *random, struct ws_arena *a, const struct ws_found_sign **found)
{
	struct ws_finder *finder = ws_finder_open(&signs, a);
	while (text.n > 0) {
		size_t piece = 1 + (size_t)rand_r(random) % 70000;
		piece = piece > text.n ? text.n : piece;
		ws_finder_add(finder, text.s, piece);
		text.s += piece;
		text.n -= piece;
	}
	return ws_finder_end(finder, found);
}

/* Wherever it stands, whatever the lines are like: with breaks, and all on one line. */
WS_TEST(a_sign_is_found_anywhere)
{
	static const char sign[] = "E: /a/b.so: undefined symbol: _ZN3c10";
	unsigned random = 20261122;
	for (int i = 0; i < 60; i++) {
		WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
		WS_AUTO_BUF struct ws_buf text = {0};
		bool one_line = i % 2;
		size_t before = (size_t)rand_r(&random) % 600000, after = (size_t)rand_r(&random) % 300000;
		size_t lines = 1;
		for (size_t j = 0; j < before; j++) {
			bool breaks = !one_line && j % 80 == 79;
			ws_buf_putc(&text, breaks ? '\n' : j % 7 ? 'x' : ' ');
			lines += breaks;
		}
		ws_buf_puts(&text, " ");
		ws_buf_puts(&text, sign);
		ws_buf_puts(&text, "\n");
		for (size_t j = 0; j < after; j++) {
			ws_buf_putc(&text, 'y');
		}
		const struct ws_found_sign *found;
		assert_int_equal(find(ws_buf_str(&text), &random, scratch, &found), 1);
		assert_int_equal(found->line, lines);
		assert_string_equal(found->captures[0].value, "/a/b.so");
		assert_string_equal(found->captures[1].value, "_ZN3c10");
		assert_contains(found->text, "undefined symbol");
		assert_true(strlen(found->text) <= 300);
	}
}

WS_TEST(the_table_orders_what_is_found_and_the_first_counts)
{
	const struct ws_found_sign *found;
	unsigned random = 1;
	const char *text =
		"'a' died due to signal 9\n'b' died due to signal 9\nx.so: undefined symbol: f\n";
	assert_int_equal(find(ws_str_of(text), &random, a, &found), 2);
	assert_string_equal(found[0].sign->name, "symbol");
	assert_string_equal(found[1].sign->name, "killed");
	assert_int_equal(found[1].line, 1);
}

WS_TEST(colours_and_control_characters_are_passed_over)
{
	const struct ws_found_sign *found;
	unsigned random = 1;
	static const char text[] =
		"\033]0;title\a\033[1;31mx.so\033[0m: undefined\0symbol:\r\n  \033[1m_Z1f\033[K";
	assert_int_equal(find((struct ws_str){text, sizeof(text) - 1}, &random, a, &found), 1);
	assert_string_equal(found->captures[0].value, "x.so");
	assert_string_equal(found->captures[1].value, "_Z1f");
	/* A sequence that does not end costs no more than its line. */
	assert_int_equal(
		find(ws_str_of("\033[12;\n\033]0;\nx.so: undefined symbol: f"), &random, a, &found), 1);
}

/* Text made to be slow: no position is tried twice. 20 MB of each take 0.3 s; a minute is a fault.
 * */
WS_TEST(hostile_text_takes_no_longer_than_other_text)
{
	static const char *const parts[] = {
		": undefined symbol: ", ":", "died due to signal ", "a: undefined"};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
		struct ws_finder *finder = ws_finder_open(&signs, scratch);
		const struct ws_found_sign *found;
		clock_t start = clock();
		size_t len = strlen(parts[i]);
		for (size_t fed = 0; fed < 20000000; fed += len) {
			ws_finder_add(finder, parts[i], len);
		}
		ws_finder_end(finder, &found);
		assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
	}
}

static void
put(const char *root, const char *name, const char *text, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *path = ws_path_join(a, root, name, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), 0755, &err), err);
}

WS_TEST(a_module_s_surroundings_are_read_where_they_are)
{
	const char *root = ws_test_dir(a);
	put(root, "bin/python3.11", "", a);
	put(root, "lib/python3.11/site-packages/torch-2.5.1+cu124.dist-info/RECORD", "torch/x.py,,\n",
		a);
	put(root, "lib/python3.11/site-packages/demo_ops-1.0+cu.12.4.dist-info/RECORD",
		"demo/__init__.py,,\ndemo/_C.cpython-311-x86_64-linux-gnu.so,sha256=x,1\n", a);
	struct ws_installed here = ws_installed_of(
		ws_path_join(
			a, root, "lib/python3.11/site-packages/demo/_C.cpython-311-x86_64-linux-gnu.so", NULL),
		a);
	assert_string_equal(here.module, "demo._C");
	assert_string_equal(here.python, "3.11");
	assert_string_equal(here.torch, "2.5.1+cu124");
	assert_string_equal(here.package, "demo-ops");
	assert_string_equal(here.version, "1.0");
	assert_string_equal(here.program, ws_path_join(a, root, "bin/python3.11", NULL));
	/* conda's way to say what is installed. */
	put(root, "conda/lib/python3.12/site-packages/torch-2.6.0-py3.12.egg-info/PKG-INFO", "", a);
	here =
		ws_installed_of(ws_path_join(a, root, "conda/lib/python3.12/site-packages/m.so", NULL), a);
	assert_string_equal(here.torch, "2.6.0");
	assert_string_equal(here.python, "3.12");
	assert_null(here.package);
	assert_null(here.program);
}

WS_TEST(a_path_that_is_nowhere_still_tells_something)
{
	struct ws_installed there =
		ws_installed_of("flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so", a);
	assert_string_equal(there.module, "flash_attn_2_cuda");
	assert_string_equal(there.python, "3.10");
	assert_null(there.torch);
	there = ws_installed_of("/nowhere/lib/python3.13t/site-packages/a/b.so", a);
	assert_string_equal(there.module, "a.b");
	assert_string_equal(there.python, "3.13t");
	assert_null(ws_installed_of("/", a).module);
}
