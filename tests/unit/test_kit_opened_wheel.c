/* test_kit_opened_wheel.c - wheels of a server that gives no parts of files: several processes may
 * have the same one open. */
#include "test.h"

#include "base/fs.h"
#include "kit/opened_wheel.h"
#include "kit_scene.h"

#define TAIL_BYTES 4096 /* less than the wheel: it comes whole */

static bool
get(struct ws_scene *s, const char *name, struct ws_opened_wheel *w)
{
	const char *path = ws_path_join(s->a, s->served.dir, "files", name, NULL);
	struct ws_digest digest;
	struct ws_index_file file = {.name = name};
	assert_ok(ws_digest_file(path, &digest, &file.size_bytes, &s->err), s->err);
	file.sha256 = ws_arena_strdup(s->a, digest.hex);
	file.url = ws_served_url(&s->served, ws_arena_printf(s->a, "/~norange/files/%s", name));
	return ws_opened_wheel_get(&s->fetch, &file, TAIL_BYTES, s->a, w, &s->err);
}

WS_TEST(who_is_done_takes_nothing_from_another)
{
	WS_AUTO_SCENE struct ws_scene s;
	ws_scene_begin(&s, a);
	const char *files = ws_path_join(a, s.served.dir, "files", NULL);
	const char *name = ws_scene_run(&s, "make_torch.py", files, NULL);
	struct ws_opened_wheel first, second;
	assert_ok(get(&s, name, &first), s.err);
	assert_ok(get(&s, name, &second), s.err);
	ws_opened_wheel_close(&first);
	/* Between its download and its opening, the second must find its own. */
	assert_true(ws_fs_exists(second.scratch));
	ws_opened_wheel_close(&second);
	assert_int_equal(ws_scene_partials(&s), 0);
}
