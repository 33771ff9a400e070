/**
 * compile.h - real libraries for tests
 *
 * Makes a shared library of a few lines of C or C++ with the host's g++, in a test's own folder.
 */
#ifndef WS_TESTS_SUPPORT_COMPILE_H
#define WS_TESTS_SUPPORT_COMPILE_H

#include "test.h"

#include "base/fs.h"
#include "sys/child.h"

/** Runs a program of PATH, which must succeed; what it printed, stderr included. */
static inline const char *
ws_test_run(struct ws_arena *a, const char *const *argv, const char *dir)
{
	const char *whole[64] = {"/usr/bin/env"};
	size_t count = 1;
	for (; *argv && count < 63; argv++) {
		whole[count++] = *argv;
	}
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_err err;
	struct ws_child_order command = {
		.argv = whole, .dir = dir, .limits.timeout_ms = 100000, .with_stderr = true};
	command.env = ws_test_env()->vars;
	if (!ws_child_ask(&command, &out, &err)) {
		fail_msg("%s: %s\n%s", whole[1], err.text, ws_buf_text(&out));
	}
	return ws_buf_copy(&out, a);
}

/** The folder that tests/support/SCRIPT filled, once for the program; its only script. */
static inline const char *
ws_test_made(const char *script, struct ws_arena *a)
{
	static char made[200];
	if (!made[0]) {
		const char *dir = ws_test_dir(a);
		const char *const argv[] = {
			"python3", ws_path_join(a, WS_TESTS_DIR, "support", script, NULL), dir, NULL};
		ws_test_run(a, argv, NULL);
		snprintf(made, sizeof(made), "%s", dir);
	}
	return made;
}

/**
 * Compiles @a source (C++ when @a file ends in ".cc.so") to @a dir/@a file, with that file name
 * as SONAME. @a flags are up to a NULL and follow the source. Returns the path.
 */
static inline const char *
ws_test_library(struct ws_arena *a, const char *dir, const char *file, const char *source,
	const char *const *flags)
{
	struct ws_err err;
	const char *path = ws_path_join(a, dir, file, NULL);
	const char *text = ws_arena_printf(a, "%s.%s", path, ws_ends_with(file, ".cc.so") ? "cc" : "c");
	assert_ok(ws_fs_write(text, source, strlen(source), 0644, &err), err);
	const char *argv[48] = {ws_ends_with(file, ".cc.so") ? "g++" : "gcc", "-shared", "-fPIC", "-o",
		path, text, ws_arena_printf(a, "-Wl,-soname,%s", file)};
	size_t count = 7;
	for (; flags && *flags && count < 47; flags++) {
		argv[count++] = *flags;
	}
	ws_test_run(a, argv, dir);
	return path;
}

#endif
