/* test_publish_audit.c - publishing to a folder, what is found in it that publishing did not put
 * there, and signatures. */
#include "test.h"

#include "base/fs.h"
#include "publish/folder/audit.h"
#include "publish_world.h"

struct scene {
	const char *idx;
	struct ws_index_order order;
	struct ws_index_outcome outcome;
	struct ws_arena *a;
};

static const char *
in(const struct scene *s, const char *name)
{
	return ws_path_join(s->a, s->idx, name, NULL);
}

static void
publish(struct scene *s)
{
	struct ws_err err = {0};
	assert_ok(ws_index_publish(&s->order, s->a, &s->outcome, &err), err);
}

/* An index of one wheel for sm_86 and one that is Python alone. */
static struct scene
published(struct ws_arena *a)
{
	static const char *const lines[] = {
		"demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*",
		"pure 1.0 py3-none-any", NULL};
	const char *dir = ws_test_dir(a);
	struct scene s = {.idx = ws_path_join(a, dir, "idx", NULL), .a = a};
	s.order = ws_world_order(s.idx, ws_world_wheels(ws_path_join(a, dir, "w", NULL), lines), a);
	publish(&s);
	return s;
}

/* Its message, or NULL if every check passes. */
static const char *
audit(const struct scene *s, const struct ws_sign_key *key)
{
	struct ws_index_audit found;
	struct ws_err err = {0};
	return ws_index_audit(s->idx, key, s->order.now_us, NULL, s->a, &found, &err)
		? NULL
		: ws_arena_strdup(s->a, err.text);
}

WS_TEST(an_index_is_published_once_and_then_there_is_nothing_to_do)
{
	struct scene s = published(a);
	assert_true(s.outcome.changed);
	assert_int_equal(s.outcome.added, 2);
	assert_string_equal(s.outcome.snapshot, "2026-11-22.1");
	assert_int_equal(s.outcome.path_count, 2);
	assert_string_equal(s.outcome.paths[0], "cu124-torch2.5");
	assert_string_equal(s.outcome.paths[1], "cu124-torch2.5-sm86");
	publish(&s);
	assert_false(s.outcome.changed);
	assert_int_equal(s.outcome.wheels, 2);
	assert_int_equal(s.outcome.strays, 0);
	assert_null(audit(&s, NULL));
}

static void
lead(const struct scene *s, const char *name, const char *where)
{
	unlink(in(s, name));
	assert_int_equal(symlink(where, in(s, name)), 0);
}

static void
lay(const struct scene *s, const char *name)
{
	struct ws_err err = {0};
	assert_ok(ws_fs_mkdirs(ws_path_dir(s->a, in(s, name)), &err), err);
	assert_ok(ws_fs_write(in(s, name), "evil", 4, 0644, &err), err);
}

/* A name that is led elsewhere, or a file that is laid there: found, moved away, and whole
 * again. */
WS_TEST(a_misleading_file_is_found_and_moved_away)
{
	static const struct {
		const char *name, *where; /* NULL: a file is laid there */
	} cases[] = {
		{"all", "../evil"},
		{"all", "@2026-11-22.1/all"}, /* it would not follow what is shown next */
		{"index.json", "/etc/passwd"},
		{"@2026-11-22.1/files", "/tmp"},
		{"latest", ".."},
		{"@2026-11-23.1", "/tmp"},
		{"cu130-torch2.11/simple/demo/index.html", NULL},
		{"files/demo-1.0-1-py3-none-any.whl", NULL},
		{"files/pure-1.0-py3-none-any.whl.asc", NULL},
		{"files/x.whl", "pure-1.0-py3-none-any.whl"},
		{"@2026-11-22.1/all/simple/evil/index.html", NULL},
	};
	struct scene s = published(a);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		if (cases[i].where) {
			lead(&s, cases[i].name, cases[i].where);
		} else {
			lay(&s, cases[i].name);
		}
		const char *said = audit(&s, NULL);
		if (!said || !strstr(said, "was not put there by publishing")) {
			fail_msg("%s: %s", cases[i].name, said ? said : "not found");
		}
		publish(&s);
		assert_true(s.outcome.strays > 0);
		assert_false(s.outcome.changed);
		assert_null(audit(&s, NULL));
	}
}

/* As `cp -rL` leaves it: the copies are moved away, the wheels stay. */
WS_TEST(a_folder_in_place_of_the_link_to_the_wheels_is_moved_away)
{
	struct scene s = published(a);
	static const char wheel[] = "pure-1.0-py3-none-any.whl";
	unlink(in(&s, "@2026-11-22.1/files"));
	lay(&s, ws_arena_printf(a, "@2026-11-22.1/files/%s", wheel));
	assert_non_null(audit(&s, NULL));
	publish(&s);
	assert_true(ws_fs_exists(in(&s, ws_arena_printf(a, "files/%s", wheel))));
	assert_null(audit(&s, NULL));
}

WS_TEST(the_owners_own_stays)
{
	struct scene s = published(a);
	lay(&s, "robots.txt");
	lay(&s, ".well-known/security.txt");
	lead(&s, "stable", "@2026-11-22.1");
	lead(&s, "latest", "cu124-torch2.5-sm86");
	assert_null(audit(&s, NULL));
	publish(&s);
	assert_int_equal(s.outcome.strays, 0);
	assert_true(ws_fs_exists(in(&s, "robots.txt")) && ws_fs_is_link(in(&s, "latest")));
}

/* Its files/ lists what a publisher is about to show, or was when it died. */
WS_TEST(a_publisher_at_work_is_not_a_stray)
{
	static const char *const lines[] = {"later 1.0 py3-none-any", NULL};
	struct scene s = published(a);
	struct ws_err err = {0};
	s.order.sources =
		ws_world_order(NULL, ws_world_wheels(ws_path_join(a, ws_test_dir(a), "v", NULL), lines), a)
			.sources;
	publish(&s);
	assert_ok(ws_fs_mkdirs(in(&s, ".new-abc"), &err), err);
	assert_int_equal(rename(in(&s, "@2026-11-22.2"), in(&s, ".new-abc/tree")), 0);
	lead(&s, "current", "@2026-11-22.1");
	assert_null(audit(&s, NULL));
	assert_ok(ws_fs_remove(in(&s, ".new-abc"), &err), err);
	assert_non_null(strstr(audit(&s, NULL), "files/later-1.0-py3-none-any.whl"));
}

/* Somebody who can write removes the signature; the owner's next publishing must not sign what is
 * there. */
WS_TEST(a_missing_signature_is_not_renewed_without_a_request)
{
	struct scene s = published(a);
	struct ws_err err = {0};
	const char *path = ws_path_join(a, ws_test_dir(a), "key", NULL);
	assert_ok(ws_sign_key_make(path, &err), err);
	struct ws_sign_key *key = ws_sign_key_read(path, &err);
	s.order.key = key;
	assert_fails(ws_index_publish(&s.order, a, &s.outcome, &err), err, WS_ERR_PUBLISH);
	assert_cure(err, WS_CURE_FIRST_SIGNATURE, "");
	assert_non_null(strstr(audit(&s, key), "is not signed"));
	s.order.sign_unsigned = true;
	publish(&s);
	assert_null(audit(&s, key));
	s.order.sign_unsigned = false;
	publish(&s);
	assert_false(s.outcome.changed);
	unlink(in(&s, "current/manifest.json.sig"));
	assert_fails(ws_index_publish(&s.order, a, &s.outcome, &err), err, WS_ERR_PUBLISH);
	ws_sign_key_drop(key);
}

WS_TEST(damaged_pages_are_made_anew_in_a_new_snapshot)
{
	static const char *const pages[] = {"all/simple/index.html", "index.html"};
	struct scene s = published(a);
	for (size_t i = 0; i < WS_LEN(pages); i++) {
		unlink(in(&s, ws_path_join(a, "current", pages[i], NULL)));
		assert_non_null(audit(&s, NULL));
		publish(&s);
		assert_true(s.outcome.changed);
		assert_null(audit(&s, NULL));
	}
}
