/* test_wheelfile_opened_wheel.c - a wheel that several processes have open, and one whose server
 * breaks off. test_kit_torch.c tests reading files of a wheel. */
#include "test.h"

#include "base/fs.h"
#include "kit_scene.h"
#include "wheelfile/opened_wheel.h"

#define TAIL_BYTES 8192 /* less than the wheel */

static bool
get(struct ws_scene *s, const char *faults, const char *name, struct ws_opened_wheel *w)
{
	const char *path = ws_path_join(s->a, s->served.dir, "files", name, NULL);
	struct ws_digest digest;
	struct ws_index_file file = {.name = name};
	assert_ok(ws_digest_file(path, &digest, &file.size_bytes, &s->err), s->err);
	file.sha256 = ws_arena_strdup(s->a, digest.hex);
	file.url = ws_served_url(&s->served, ws_arena_printf(s->a, "/%s/files/%s", faults, name));
	return ws_opened_wheel_get(&s->fetch, &file, TAIL_BYTES, s->a, w, &s->err);
}

WS_TEST(a_finished_reader_does_not_affect_a_second_one)
{
	WS_SCENE(s, a);
	const char *files = ws_path_join(a, s.served.dir, "files", NULL);
	const char *name = ws_scene_run(&s, "make_torch.py", files, NULL);
	struct ws_opened_wheel first, second;
	assert_ok(get(&s, "~norange", name, &first), s.err);
	assert_ok(get(&s, "~norange", name, &second), s.err);
	ws_opened_wheel_close(&first);
	/* Between its download and its opening, the second must find its own. */
	assert_true(ws_fs_exists(second.scratch.path));
	ws_opened_wheel_close(&second);
	assert_int_equal(ws_scene_partials(&s), 0);
}

/* A server that breaks off every 200000 bytes is given up after four times; a member has 2.3 MB. */
WS_TEST(a_read_that_was_broken_off_leaves_nothing_and_starts_anew)
{
	WS_SCENE(s, a);
	const char *files = ws_path_join(a, s.served.dir, "files", NULL);
	const char *name = ws_scene_run(&s, "make_torch.py", files, NULL);
	const char *path = ws_path_join(a, ws_test_dir(a), "member", NULL);
	static const char *const faults[] = {"~cut=200000", "~late=1"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		struct ws_opened_wheel w;
		assert_ok(get(&s, faults[i], name, &w), s.err);
		struct ws_pick pick = {ws_zip_find(&w.zip, "torch/lib/libgomp.so.1"), path};
		struct ws_member_sink sink = ws_member_sink_make(NULL, name, NULL);
		assert_int_equal(ws_opened_wheel_take(&w, &pick, 1, &sink, &s.err), i == 1);
		ws_opened_wheel_close(&w);
		assert_int_equal(ws_scene_partials(&s), 0);
	}
	struct ws_buf got = {0};
	assert_ok(ws_fs_read(path, &got, &s.err), s.err);
	assert_int_equal(got.len, 2300000);
	ws_buf_release(&got);
}

WS_TEST(a_stop_is_heard_between_pieces_of_a_member)
{
	WS_SCENE(s, a);
	const char *files = ws_path_join(a, s.served.dir, "files", NULL);
	const char *name = ws_scene_run(&s, "make_torch.py", files, NULL);
	const char *path = ws_path_join(a, ws_test_dir(a), "member", NULL);
	struct ws_stop stop = {.fd = -1, .deadline_ms = 1};
	struct ws_opened_wheel w;
	assert_ok(get(&s, "~norange", name, &w), s.err);
	struct ws_pick pick = {ws_zip_find(&w.zip, "torch/lib/libgomp.so.1"), path};
	struct ws_member_sink sink = ws_member_sink_make(NULL, name, &stop);
	assert_fails(ws_opened_wheel_take(&w, &pick, 1, &sink, &s.err), s.err, WS_ERR_STOPPED);
	ws_opened_wheel_close(&w);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 0);
}
