/* test_net_message.c - the body of a request: of memory or of a file, checked before its end. Heads
 * of replies are in test_net_text.c. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "net/message.h"

/* Reads @a room bytes at a time; returns how many came, and in @a last the last result. */
static size_t
read_all(struct ws_body_reader *r, size_t room, char *to, ptrdiff_t *last)
{
	size_t all = 0;
	while ((*last = ws_body_read(r, to + all, room)) > 0) {
		all += (size_t)*last;
	}
	return all;
}

WS_TEST(a_body_is_read_whole_and_again_after_a_rewind)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("23456", 5);
	const struct ws_body bodies[] = {
		{.bytes = "23456", .length_bytes = 5},
		{.path = path, .offset = 2, .length_bytes = 5},
		{.path = path, .offset = 2, .length_bytes = 5, .sha256 = digest.hex},
	};
	for (size_t i = 0; i < WS_LEN(bodies); i++) {
		for (size_t room = 1; room < 7; room++) {
			struct ws_body_reader r = {.body = &bodies[i], .fd = -1};
			char text[32] = "";
			ptrdiff_t last;
			ws_body_read(&r, text, room);
			ws_body_rewind(&r);
			assert_int_equal(read_all(&r, room, text, &last), 5);
			assert_int_equal(last, 0);
			assert_memory_equal(text, "23456", 5);
			ws_body_rewind(&r);
		}
	}
}

WS_TEST(the_end_of_a_changed_file_is_not_sent)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("0123456780", 10);
	const struct ws_body body = {.path = path, .length_bytes = 10, .sha256 = digest.hex};
	for (size_t room = 1; room < 12; room++) {
		struct ws_body_reader r = {.body = &body, .fd = -1};
		char text[32] = "";
		ptrdiff_t last;
		assert_true(read_all(&r, room, text, &last) < 10);
		assert_int_equal(last, -1);
		ws_body_rewind(&r);
	}
}
