/* test_base_fs.c - reading files, and refusing files without a known end. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"

#include <fcntl.h>

/* A pipe without a writer: opening it would block forever, and the alarm would end the program. */
WS_TEST_ERR(a_pipe_is_not_waited_for)
{
	const char *pipe = ws_path_join(a, ws_test_dir(a), "pipe", NULL);
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest digest;
	assert_int_equal(mkfifo(pipe, 0600), 0);
	alarm(10);
	assert_fails(ws_fs_read(pipe, &text, &err), err, WS_ERR_IO);
	assert_contains(err.text, "pipe' is not a regular file");
	assert_fails(ws_fs_read_at_most(pipe, 10, &text, &err), err, WS_ERR_IO);
	assert_fails(ws_digest_file(pipe, &digest, NULL, &err), err, WS_ERR_IO);
	assert_contains(err.text, "pipe' is not a regular file");
	assert_fails(ws_fs_copy(pipe, ws_arena_printf(a, "%s.copy", pipe), 0600, &err), err, WS_ERR_IO);
	assert_fails(ws_fs_read("/dev/zero", &text, &err), err, WS_ERR_IO);
	assert_fails(ws_fs_read(ws_path_dir(a, pipe), &text, &err), err, WS_ERR_IO);
	assert_contains(err.text, "is a folder");
	alarm(0);
}

/* A named file may be <(a command). */
WS_TEST_ERR(a_stream_is_read_to_its_end)
{
	int ends[2];
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "{}", 2), 2);
	close(ends[1]);
	const char *path = ws_arena_printf(a, "/dev/fd/%d", ends[0]);
	assert_ok(ws_fs_read_stream(path, 10, &text, &err), err);
	assert_string_equal(ws_buf_text(&text), "{}");
	close(ends[0]);
	assert_fails(ws_fs_read_stream("/dev/zero", 10, &text, &err), err, WS_ERR_IO);
	assert_contains(err.text, "10 bytes");
}
