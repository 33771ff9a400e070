/* test_net_body.c - what is sent, piece by piece, and what is not because it is not what it should
 * be. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "net/body.h"

/* Reads in pieces of @a room; how many bytes came, and in @a last what the last call gave. */
static size_t
read_all(struct ws_body_reader *r, size_t room, char *to, ptrdiff_t *last)
{
	size_t all = 0;
	while ((*last = ws_body_read(r, to + all, room)) > 0) {
		all += (size_t)*last;
	}
	return all;
}

WS_TEST(pieces_come_one_after_the_other_and_again_after_a_rewind)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("23456", 5);
	const struct ws_piece pieces[] = {
		{.bytes = "head ", .length_bytes = 5},
		{.path = path, .offset = 2, .length_bytes = 5, .sha256 = digest.hex},
		{.bytes = " tail", .length_bytes = 5},
	};
	const struct ws_body body = {pieces, WS_LEN(pieces)};
	for (size_t room = 1; room < 17; room++) {
		struct ws_body_reader r = {.body = &body, .fd = -1};
		char text[32] = "";
		ptrdiff_t last;
		ws_body_read(&r, text, room);
		ws_body_rewind(&r);
		assert_int_equal(read_all(&r, room, text, &last), 15);
		assert_int_equal(last, 0);
		assert_memory_equal(text, "head 23456 tail", 15);
		ws_body_rewind(&r);
	}
}

WS_TEST(of_a_file_that_is_another_the_end_is_not_given)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("0123456780", 10);
	const struct ws_piece pieces[] = {
		{.path = path, .length_bytes = 10, .sha256 = digest.hex},
		{.bytes = "tail", .length_bytes = 4},
	};
	const struct ws_body body = {pieces, WS_LEN(pieces)};
	for (size_t room = 1; room < 12; room++) {
		struct ws_body_reader r = {.body = &body, .fd = -1};
		char text[32] = "";
		ptrdiff_t last;
		assert_true(read_all(&r, room, text, &last) < 10);
		assert_int_equal(last, -1);
		ws_body_rewind(&r);
	}
}
