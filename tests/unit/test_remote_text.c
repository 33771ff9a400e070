/* test_remote_text.c - records as servers keep them, and who has signed them. */
#include "test.h"

#include "base/fs.h"
#include "remote/record_text.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct ws_sign_key *
new_key(struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *path = ws_path_join(a, ws_test_dir(a), "key", NULL);
	assert_ok(ws_sign_key_make(path, &err), err);
	struct ws_sign_key *key = ws_sign_key_read(path, &err);
	assert_non_null(key);
	return key;
}

static struct ws_str
str_of(const struct ws_buf *b, size_t len)
{
	return (struct ws_str){b->data, len};
}

/* By the protocol's own messages: SerializeToString of an Action with the Command, the empty root
 * and the salt. */
WS_TEST(the_key_is_the_digest_of_an_action)
{
	WS_AUTO_BUF struct ws_buf command = {0}, action = {0};
	struct ws_digest key = ws_action_result_key("result", KEY, &command, &action);
	assert_string_equal(
		key.hex, "f1e2f963f9dae5751b1cf061ebb43bd4bc0f1ba547e4df6db675324696278fa0");
}

WS_TEST(a_message_gives_its_text_back_and_damaged_ones_give_none)
{
	WS_AUTO_BUF struct ws_buf message = {0};
	struct ws_str text;
	WS_AUTO_BUF struct ws_buf long_text = {0};
	for (int i = 0; i < 300; i++) {
		ws_buf_puts(&long_text, "words ");
	}
	struct ws_shared_file named[] = {{.digest = KEY, .size_bytes = 5000000000}, {.digest = KEY}};
	struct ws_shared_file *files;
	size_t count;
	ws_action_result_write(ws_buf_str(&long_text), named, 2, &message);
	struct ws_digest digest = ws_digest_bytes(message.data, message.len);
	assert_string_equal(
		digest.hex, "4d81748921be1c897d40992a915060c5cbafad252c2048979f6aa1408c0859a0");
	assert_true(ws_action_result_read(ws_buf_str(&message), a, &text, &files, &count));
	assert_int_equal(count, 1); /* of the other nothing is said */
	assert_string_equal(files[0].digest, KEY);
	assert_true(files[0].size_bytes == 5000000000);
	assert_true(ws_str_eq(text, ws_buf_str(&long_text)));
	for (size_t len = 0; len < message.len; len++) {
		/* Copied, so that a sanitizer sees a read beyond the end. */
		char *part = ws_arena_copy(a, message.data, len);
		struct ws_str cut = {part, len};
		if (ws_action_result_read(cut, a, &text, &files, &count)) {
			assert_true(ws_str_eq(text, ws_buf_str(&long_text)));
		}
	}
	assert_false(
		ws_action_result_read(ws_str_of("<html>not found</html>"), a, &text, &files, &count));
	assert_false(ws_action_result_read(
		ws_str_of("\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"), a, &text, &files, &count));
	assert_false(ws_action_result_read(
		ws_str_of("\x2a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01x"), a, &text, &files, &count));
}

WS_TEST(a_record_counts_for_its_signer_kind_key_and_text_alone)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_sign_key *signer = new_key(a), *stranger = new_key(a);
	struct ws_sign_key *const both[] = {stranger, signer};
	struct ws_signers trusted = {both, 2}, others = {both, 1}, nobody = {both, 0};
	struct ws_str text;
	ws_signed_text_write(signer, "result", KEY, ws_str_of("out 1\nout 2\n"), &b);
	assert_true(ws_signed_text_read(ws_buf_str(&b), &trusted, "result", KEY, &text));
	assert_true(ws_str_is(text, "out 1\nout 2\n"));
	assert_false(ws_signed_text_read(ws_buf_str(&b), &others, "result", KEY, &text));
	assert_false(ws_signed_text_read(ws_buf_str(&b), &nobody, "result", KEY, &text));
	assert_false(ws_signed_text_read(ws_buf_str(&b), &trusted, "manifests", KEY, &text));
	assert_false(ws_signed_text_read(ws_buf_str(&b), &trusted, "result", KEY "0", &text));
	for (size_t len = 0; len < b.len; len++) {
		assert_false(ws_signed_text_read(str_of(&b, len), &trusted, "result", KEY, &text));
	}
	/* Every byte counts, except in the line for people. */
	size_t from = strlen("wheelsmith.record/1\nresult " KEY "\n");
	for (size_t i = from; i < b.len; i++) {
		b.data[i] ^= 1;
		assert_false(ws_signed_text_read(ws_buf_str(&b), &trusted, "result", KEY, &text));
		b.data[i] ^= 1;
	}
	assert_true(ws_signed_text_read(ws_buf_str(&b), &trusted, "result", KEY, &text));
	ws_sign_key_drop(signer);
	ws_sign_key_drop(stranger);
}
