/* test_compile_asks.c - what texts ask for, and that what compilers and toolkits ship is
 * understood. */
#include "test.h"

#include "base/fs.h"
#include "compile/asks.h"

#include <ftw.h>

struct listener {
	struct ws_asks_taker taker;
	struct ws_buf text;
};

static void
take(struct ws_asks_taker *self, struct ws_ask ask)
{
	static const char *const kinds[] = {"", "next ", "?", "next ?"};
	struct listener *l = (struct listener *)self;
	ws_buf_printf(
		&l->text, ask.angle ? "%s<%.*s> " : "%s\"%.*s\" ", kinds[ask.kind], WS_STR_ARGS(ask.name));
}

static void
take_unknown(struct ws_asks_taker *self, enum ws_unknown kind, const char *file WS_UNUSED,
	const char *what WS_UNUSED)
{
	struct listener *l = (struct listener *)self;
	ws_buf_puts(&l->text, kind == WS_UNKNOWN_INCLUDE ? "include! " : "question! ");
}

static const char *
asked(const char *text, struct ws_arena *a)
{
	struct listener l = {.taker = {take, take_unknown}};
	struct ws_asks asks = {.taker = &l.taker, .a = a};
	ws_asks_scan(&asks, "a.h", ws_str_of(text));
	ws_asks_finish(&asks);
	const char *reported = ws_buf_copy(&l.text, a);
	ws_buf_release(&l.text);
	return reported;
}

WS_TEST(names_are_found_through_macros)
{
	static const struct {
		const char *text, *asked;
	} cases[] = {
		{"#include <a.h>\n#include_next \"b.h\"\n", "<a.h> next \"b.h\" "},
		{"#if __has_include(<a.h>) && __has_include ( \"b.h\" )\n", "?<a.h> ?\"b.h\" "},
		{"#if defined(__has_include) && defined __has_include\n#ifdef __has_include\n", ""},
		{"#if __has_include_next(<a.h>)\n", "next ?<a.h> "},
		{"#define HAS(x) __has_include(x)\n#elif HAS(<a.h>)\n", "?<a.h> "},
		{"#define HAS(x) __has_include(x)\n#define N \"a.h\"\n#if HAS(N)\n", "?\"a.h\" "},
		{"#define HAVE __has_include(<a.h>)\n", "?<a.h> "},
		{"#define HAS __has_include\n#if defined(HAS) && HAS(<a.h>)\n", "?<a.h> "},
		{"#define N <a.h>\n#if __has_include(N)\n#include N\n", "?<a.h> "},
		{"#define N \"a.h\"\n#define M N\n#include M\n", "\"a.h\" "},
		{"#define N \"a.h\"\n#define N \"b.h\"\n#include N\n", "\"b.h\" \"a.h\" "},
		{"#define N <ROOT/a.h>\n#define ROOT x\n#include N\n#define A(x) <x>\n#include A(b.h)\n",
			""},
		{"#include NOBODY_DEFINES_IT\n", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(asked(cases[i].text, a), cases[i].asked);
	}
}

WS_TEST(a_question_that_needs_a_preprocessor_is_unknown)
{
	static const struct {
		const char *text, *asked;
	} cases[] = {
		{"#define N STR(a.h)\n#include N\n", "include! "},
		{"#define N <a/../b.h>\n#include N\n", "include! "},
		{"#include __FILE__\n", "include! "},
		{"#if __has_include(STR(a.h))\n", "question! "},
		{"#define N <ROOT/a.h>\n#define ROOT x\n#if __has_include(N)\n", "question! "},
		{"#define HAVE __has_include(<linux/a.h>)\n", "question! "},
		{"#define HAS __has_include\n#define OPEN (\n#if HAS OPEN <a.h>)\n", "question! "},
		{"#define HAS __has_include\n#define ASK HAS\n#if ASK(<a.h>)\n", "?<a.h> question! "},
		{"#define HAS __has_include_next\n#if HAS(<a.h>)\n", "question! ?<a.h> "},
		{"#define HAS(x) __has_include(x)\n#define ASK(x) HAS(x)\n", "question! "},
		{"#define HAS(x) __has_include(x)\n#if HAS(STR(a))\n", "question! "},
		{"#define HAS(x) __has_##x\n#if HAS(include)(<a.h>)\n", "question! question! "},
		{"#if CAT(a, b)(<a.h>)\n", "question! "},
		{"#if __has_embed(\"a\")\n", "question! "},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(asked(cases[i].text, a), cases[i].asked);
	}
}

static struct ws_asks *all;
static unsigned files;

static int
scan(const char *path, const struct stat *status, int kind, struct FTW *at WS_UNUSED)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (kind == FTW_F && strstr(path, "/include/") && S_ISREG(status->st_mode)
		&& ws_fs_read(path, &text, NULL)) {
		ws_asks_scan(all, ws_arena_strdup(all->a, path), ws_buf_str(&text));
		files++;
	}
	return 0;
}

static void
ignore(struct ws_asks_taker *self WS_UNUSED, struct ws_ask ask WS_UNUSED)
{
}

/* An opaque unit compiles again with every change of its trees, so no unit of ours may be opaque.
 * torch's
 * headers: tests/cli/unlisted.bats. */
WS_TEST(headers_of_libstdcxx_and_cuda_are_understood)
{
	static const char *const folders[] = {"/usr/include/c++", "/usr/include/x86_64-linux-gnu",
		"/usr/lib/gcc/", "/usr/local/cuda/include/"};
	struct listener l = {.taker = {ignore, take_unknown}};
	struct ws_asks asks = {.taker = &l.taker, .a = a};
	all = &asks;
	for (size_t i = 0; i < WS_LEN(folders); i++) {
		if (ws_fs_is_dir(folders[i])) {
			nftw(folders[i], scan, 16, FTW_PHYS);
		}
	}
	ws_asks_finish(&asks);
	assert_string_equal(ws_buf_text(&l.text), "");
	assert_true(files > 500);
	ws_buf_release(&l.text);
}
