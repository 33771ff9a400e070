/* test_draft_setup_py.c - what reading tells of a setup.py: tests/cases/setup_py. */
#include "test.h"

#include "base/fs.h"
#include "case.h"
#include "sys/child.h"

/* The sections are files; the draft of setup.py is lines, or the error. */
static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	static unsigned number;
	const char *folder = ws_path_join(a, ws_test_dir(a), ws_arena_printf(a, "s%u", number++), NULL);
	struct ws_err err;
	for (size_t i = 0; i < c->count; i++) {
		const char *path = ws_path_join(a, folder, c->names[i], NULL);
		const char *text = ws_arena_printf(a, "%s\n", c->texts[i]);
		assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
		assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	}
	const char *const argv[] = {"/usr/bin/env", "python3",
		WS_SOURCE_DATA_DIR "/tests/support/setup_lines.py", folder, NULL};
	assert_ok(ws_child_ask(&(struct ws_child_order){.argv = argv}, got, &err), err);
}

WS_TEST(cases)
{
	ws_cases_check(WS_TESTS_DIR "/cases/setup_py", run_case);
}

static void
read_alone(const char *text, struct ws_arena *a)
{
	const struct ws_case c = {.names = {"setup.py"}, .texts = {text}, .count = 1};
	WS_AUTO_BUF struct ws_buf got = {0};
	run_case(&c, a, &got);
}

WS_TEST(tricks_end)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (int i = 0; i < 100000; i++) {
		ws_buf_puts(&b, "([");
	}
	ws_buf_puts(&b, "\n");
	read_alone(ws_arena_printf(a, "CUDAExtension('m', %s", ws_buf_text(&b)), a);
	ws_buf_clear(&b);
	ws_buf_puts(&b, "x0 = ['a', 'b']\n");
	for (int i = 0; i < 200; i++) {
		ws_buf_printf(&b, "x%d = x%d + x%d\n", i + 1, i, i);
	}
	ws_buf_puts(&b, "CUDAExtension('m', x200)\n");
	read_alone(ws_buf_text(&b), a);
	ws_buf_clear(&b);
	for (int i = 0; i < 20000; i++) {
		ws_buf_puts(&b, "xExtension(");
	}
	read_alone(ws_buf_text(&b), a);
	static const char *const odd[] = {"CUDAExtension(", "CUDAExtension()", "CUDAExtension(,=,)",
		"CUDAExtension(name=)", "CUDAExtension('m', sources=[", "x = \nCUDAExtension(x, x[",
		"CUDAExtension(f'{', f'{}', include_dirs=[f'{x', '}'])", "CUDAExtension('m',{}['a'],dict(",
		"CUDAExtension(a/b/, +, *)", "if :\n x=\nelse:\n CUDAExtension(x if)",
		"CUDAExtension(x for x in)", "CUDAExtension('m', define_macros=[(],[)])",
		".Extension(.glob(", "Extension(x.glob)"};
	for (size_t i = 0; i < WS_LEN(odd); i++) {
		read_alone(odd[i], a);
	}
}
