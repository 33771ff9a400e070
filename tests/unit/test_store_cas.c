/* test_store_cas.c - files that leave the store match their names. */
#include "test.h"

#include "base/fs.h"
#include "store/cas.h"
#include "store/ledger.h"
#include "store/results.h"

#include <fcntl.h>

struct world {
	struct ws_store store;
	struct ws_digest digest; /* of the one file in it */
	const char *path;        /* its place: only tests may use it */
	const char *to;
};

static struct world
set_up(struct ws_arena *a)
{
	struct ws_err err;
	struct world w;
	const char *dir = ws_test_dir(a);
	assert_ok(ws_store_open(ws_path_join(a, dir, "s", NULL), a, &w.store, &err), err);
	const char *file = ws_path_join(a, dir, "x", NULL);
	assert_ok(ws_fs_write(file, "object", 6, 0644, &err), err);
	assert_ok(ws_cas_take(&w.store, file, &w.digest, NULL, &err), err);
	w.path = ws_arena_printf(a, "%s/cas/%.2s/%s", w.store.path, w.digest.hex, w.digest.hex);
	w.to = ws_path_join(a, dir, "to", NULL);
	return w;
}

static bool
is_noted(const struct world *w)
{
	struct stat status;
	struct ws_digest found;
	assert_int_equal(lstat(w->path, &status), 0);
	return ws_ledger_recall(w->store.ledger, w->path, &status, &found)
		&& ws_digest_eq(&found, &w->digest);
}

static void
damage(const struct world *w, const char *text)
{
	struct ws_err err;
	assert_ok(ws_fs_write(w->path, text, strlen(text), 0444, &err), err);
}

WS_TEST_ERR(a_file_is_hashed_once_however_often_it_is_linked)
{
	struct world w = set_up(a);
	assert_true(is_noted(&w));
	assert_ok(ws_cas_link_into(&w.store, w.digest.hex, w.to, false, &err), err);
	assert_true(is_noted(&w));
	ws_cas_unlink(&w.store, w.digest.hex, w.to);
	assert_false(ws_fs_exists(w.to));
	assert_true(is_noted(&w));
	ws_store_close(&w.store);
}

WS_TEST_ERR(a_write_through_a_link_damages_the_file_and_is_detected)
{
	struct world w = set_up(a);
	assert_ok(ws_cas_link_into(&w.store, w.digest.hex, w.to, false, &err), err);
	damage(&w, "0bject");
	ws_cas_unlink(&w.store, w.digest.hex, w.to);
	assert_false(is_noted(&w));
	assert_false(ws_cas_has(&w.store, w.digest.hex));
	assert_false(ws_fs_exists(w.path));
	ws_store_close(&w.store);
}

WS_TEST_ERR(no_verb_lets_a_damaged_file_out)
{
	static const char *const damages[] = {"0bject", "objec", "", "objects"};
	for (size_t i = 0; i < WS_LEN(damages); i++) {
		for (int verb = 0; verb < 5; verb++) {
			struct world w = set_up(a);
			WS_AUTO_BUF struct ws_buf b = {0};
			ws_buf_puts(&b, "before ");
			damage(&w, damages[i]);
			switch (verb) {
			case 0:
				assert_false(ws_cas_has(&w.store, w.digest.hex));
				break;
			case 1:
				assert_null(ws_cas_open(&w.store, w.digest.hex, a, &err));
				break;
			case 2:
				assert_fails(ws_cas_read(&w.store, w.digest.hex, &b, &err), err, WS_ERR_IO);
				assert_string_equal(b.data, "before ");
				break;
			case 3:
				assert_fails(
					ws_cas_copy_to(&w.store, w.digest.hex, w.to, 0644, &err), err, WS_ERR_IO);
				break;
			default:
				assert_fails(
					ws_cas_link_into(&w.store, w.digest.hex, w.to, false, &err), err, WS_ERR_IO);
			}
			assert_false(ws_fs_exists(w.path));
			assert_false(ws_fs_exists(w.to));
			/* The same bytes again are taken in, and are whole. */
			assert_ok(ws_cas_put(&w.store, "object", 6, &w.digest, &err), err);
			assert_true(ws_cas_has(&w.store, w.digest.hex));
			ws_store_close(&w.store);
		}
	}
}

/* While files cannot be opened, their state is unknown: no function reports damage. */
WS_TEST(a_file_that_cannot_be_read_stays_and_is_not_made_again)
{
	for (int verb = 0; verb < 5; verb++) {
		struct ws_err err;
		struct world w = set_up(a);
		WS_AUTO_BUF struct ws_buf b = {0};
		damage(&w, "object"); /* its times: it is hashed again */
		struct rlimit before = ws_test_open_no_more();
		switch (verb) {
		case 0:
			assert_false(ws_cas_has(&w.store, w.digest.hex));
			break;
		case 1:
			assert_null(ws_cas_open(&w.store, w.digest.hex, a, &err));
			break;
		case 2:
			assert_fails(ws_cas_read(&w.store, w.digest.hex, &b, &err), err, WS_ERR_IO);
			break;
		case 3:
			assert_fails(ws_cas_copy_to(&w.store, w.digest.hex, w.to, 0644, &err), err, WS_ERR_IO);
			break;
		default:
			assert_fails(
				ws_cas_link_into(&w.store, w.digest.hex, w.to, false, &err), err, WS_ERR_IO);
		}
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_true(ws_fs_exists(w.path));
		/* The caller gets the reason why it was not found. */
		assert_fails(ws_cas_put(&w.store, "other", 5, &w.digest, &err), err, WS_ERR_IO);
		assert_contains(err.text, "Too many open files");
		assert_contains(err.cure, "the store is unchanged");
		ws_store_close(&w.store);
	}
}

WS_TEST_ERR(a_text_that_cannot_be_read_stays)
{
	static const char key[] = "aa00000000000000000000000000000000000000000000000000000000000000";
	struct world w = set_up(a);
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_puts(&b, "text\n");
	assert_ok(ws_results_put(&w.store, key, &b, &err), err);
	struct rlimit before = ws_test_open_no_more();
	assert_false(ws_results_get(&w.store, key, &b));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(ws_results_get(&w.store, key, &b));
	assert_fails(ws_results_put(&w.store, key, &b, &err), err, WS_ERR_IO);
	assert_contains(err.text, "Too many open files");
	ws_store_close(&w.store);
}

WS_TEST(a_link_is_not_a_stored_file)
{
	struct world w = set_up(a);
	const char *elsewhere = ws_arena_printf(a, "%s.2", w.to);
	assert_int_equal(rename(w.path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, w.path), 0); /* to the right bytes */
	assert_false(ws_cas_has(&w.store, w.digest.hex));
	assert_false(ws_fs_exists(w.path));
	assert_true(ws_fs_exists(elsewhere));
	ws_store_close(&w.store);
}

WS_TEST_ERR(bytes_that_rot_unseen_are_found_by_the_copy)
{
	struct world w = set_up(a);
	struct stat status;
	damage(&w, "0bject");
	assert_int_equal(lstat(w.path, &status), 0);
	ws_ledger_note(w.store.ledger, w.path, &status, &w.digest);
	assert_fails(ws_cas_copy_to(&w.store, w.digest.hex, w.to, 0644, &err), err, WS_ERR_IO);
	assert_contains(err.text, "is damaged");
	assert_contains(err.cure, "run it again");
	assert_false(ws_fs_exists(w.to));
	assert_false(ws_cas_has(&w.store, w.digest.hex));
	ws_store_close(&w.store);
}

WS_TEST_ERR(a_text_under_another_key_is_missing)
{
	static const char one[] = "aa00000000000000000000000000000000000000000000000000000000000000";
	static const char two[] = "aa11111111111111111111111111111111111111111111111111111111111111";
	struct world w = set_up(a);
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_puts(&b, "text\n");
	assert_ok(ws_results_put(&w.store, one, &b, &err), err);
	assert_true(ws_results_get(&w.store, one, &b));
	assert_string_equal(b.data, "text\ntext\n");
	const char *from = ws_arena_printf(a, "%s/ac/aa/%s", w.store.path, one);
	const char *to = ws_arena_printf(a, "%s/ac/aa/%s", w.store.path, two);
	assert_int_equal(rename(from, to), 0);
	assert_false(ws_results_get(&w.store, two, &b));
	assert_string_equal(b.data, "text\ntext\n");
	assert_false(ws_fs_exists(to));
	ws_store_close(&w.store);
}
