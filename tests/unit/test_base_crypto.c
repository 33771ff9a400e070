/* test_base_crypto.c - keys in files, and what a signature tells apart. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"

#include <errno.h>
#include <signal.h>

WS_TEST_ERR(a_signature_holds_for_its_key_and_bytes_alone)
{
	const char *dir = ws_test_dir(a);
	const char *one = ws_path_join(a, dir, "one", NULL);
	const char *two = ws_path_join(a, dir, "two", NULL);
	assert_true(ws_sign_key_make(one, &err) && ws_sign_key_make(two, &err));
	struct ws_sign_key *key = ws_sign_key_read(one, &err);
	struct ws_sign_key *own = ws_sign_key_read_public(ws_arena_printf(a, "%s.pub", one), &err);
	struct ws_sign_key *other = ws_sign_key_read_public(ws_arena_printf(a, "%s.pub", two), &err);
	unsigned char signature[WS_SIGNATURE_BYTES];
	assert_true(key && own && other);
	ws_sign_bytes(key, "wheels", 6, signature);
	assert_true(ws_sign_holds(own, "wheels", 6, signature, sizeof(signature)));
	assert_true(ws_sign_holds(key, "wheels", 6, signature, sizeof(signature)));
	assert_false(ws_sign_holds(other, "wheels", 6, signature, sizeof(signature)));
	assert_false(ws_sign_holds(own, "wheelz", 6, signature, sizeof(signature)));
	assert_false(ws_sign_holds(own, "wheels", 6, signature, 63));
	assert_false(ws_sign_holds(own, "wheels", 6, "", 0));
	struct ws_digest id = ws_sign_key_id(key), public_id = ws_sign_key_id(own);
	assert_string_equal(id.hex, public_id.hex);
	ws_sign_key_drop(key);
	ws_sign_key_drop(own);
	ws_sign_key_drop(other);
}

WS_TEST_ERR(keys_are_not_written_over_nor_shared)
{
	const char *dir = ws_test_dir(a);
	struct stat status;
	const char *path = ws_path_join(a, dir, "key", NULL);
	assert_true(ws_sign_key_make(path, &err));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_false(ws_sign_key_make(path, &err));
	assert_non_null(strstr(err.text, "is there already"));
	assert_int_equal(chmod(path, 0640), 0);
	assert_null(ws_sign_key_read(path, &err));
	assert_non_null(strstr(err.text, "may be read by others"));
	assert_null(ws_sign_key_read_public(path, &err));
	assert_non_null(strstr(err.text, "is not a public key"));
}

WS_TEST_ERR(a_key_that_is_cut_off_is_an_error_with_its_reason)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "key", NULL);
	struct rlimit before, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = 50, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	errno = 0;
	bool made = ws_sign_key_make(path, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_false(made);
	assert_int_equal(err.os, EFBIG);
	assert_false(ws_fs_exists(path));
}
