/* test_elf_object.c - what real objects leave to others, and objects that were cut or changed. */

#include "compile.h"
#include "elf/elf.h"

/* An object of @source by @compiler. */
static void
make_object(struct ws_arena *a, const char *compiler, const char *source, struct ws_buf *bytes)
{
	struct ws_err err = {0};
	const char *dir = ws_test_dir(a), *text = ws_path_join(a, dir, "o.c", NULL);
	assert_ok(ws_fs_write(text, source, strlen(source), 0644, &err), err);
	const char *argv[] = {compiler, "-c", "-O1", "-fPIC", text, NULL};
	ws_test_run(a, argv, dir);
	assert_ok(ws_fs_read(ws_path_join(a, dir, "o.o", NULL), bytes, &err), err);
}

static const char source[] = "extern int far(void), near(void), weak(void) __attribute__((weak));"
							 "int near(void) { return far() + (weak ? weak() : 0); }"
							 "static int own(void) { return far(); } int f(void) { return own(); }";

static const char *
wants_of(struct ws_str object, struct ws_arena *a)
{
	const char *const *names = NULL;
	size_t count = ws_elf_object_wants(object, a, &names);
	const char *text = "";
	for (size_t i = 0; i < count; i++) {
		text = ws_arena_printf(a, "%s%s;", text, names[i]);
	}
	return text;
}

WS_TEST(names_that_an_object_wants_and_does_not_define)
{
	static const char *const compilers[] = {"gcc", "aarch64-linux-gnu-gcc-12"};
	for (size_t i = 0; i < WS_LEN(compilers); i++) {
		WS_AUTO_BUF struct ws_buf bytes = {0};
		if (i > 0 && !ws_fs_exists(ws_arena_printf(a, "/usr/bin/%s", compilers[i]))) {
			continue;
		}
		make_object(a, compilers[i], source, &bytes);
		const char *wants = wants_of(ws_buf_str(&bytes), a);
		assert_contains(wants, "far;");
		assert_null(strstr(wants, "weak;"));
		assert_null(strstr(wants, "near;"));
	}
}

WS_TEST(an_object_that_is_cut_or_changed_is_read_within_its_bytes)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	make_object(a, "gcc", source, &bytes);
	for (size_t n = 0; n < bytes.len; n++) {
		char *cut = malloc(n + 1); /* of its own, so that a sanitizer sees the end */
		memcpy(cut, bytes.data, n);
		wants_of((struct ws_str){cut, n}, a);
		free(cut);
		unsigned char *one = (unsigned char *)&bytes.data[n];
		*one ^= 0xff;
		wants_of(ws_buf_str(&bytes), a);
		*one ^= 0xff;
	}
	assert_string_equal(wants_of(ws_str_of("#!/bin/sh"), a), "");
	assert_string_equal(wants_of((struct ws_str){0}, a), "");
}
