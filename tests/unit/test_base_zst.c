/* test_base_zst.c - frames of zstd: there and back, cut, damaged, and larger than expected. */
#include "test.h"

#include "base/zst.h"

#define LEN 100000

/* Words that repeat, and some that do not. */
static struct ws_str
make_text(struct ws_arena *a)
{
	char *text = ws_arena_alloc(a, LEN + 1);
	unsigned seed = 1;
	for (size_t i = 0; i < LEN; i++) {
		seed = seed * 1103515245 + 12345;
		text[i] = (char)(i % 64 < 40 ? 'a' + i % 7 : 'a' + (seed >> 16) % 26);
	}
	text[LEN] = '\0';
	return (struct ws_str){text, LEN};
}

WS_TEST_ERR(packed_bytes_unpack_to_the_same_bytes)
{
	struct ws_str text = make_text(a);
	WS_AUTO_BUF struct ws_buf packed = {0};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_false(ws_zst_is_frame(text));
	assert_ok(ws_zst_pack(text, WS_ZST_FAST, &packed, &err), err);
	assert_true(ws_zst_is_frame(ws_buf_str(&packed)));
	assert_true(packed.len < LEN);
	ws_buf_puts(&out, "before");
	assert_ok(ws_zst_unpack(ws_buf_str(&packed), LEN, &out, &err), err);
	assert_int_equal(out.len, strlen("before") + LEN);
	assert_memory_equal(out.data + strlen("before"), text.s, LEN);
}

WS_TEST_ERR(a_frame_that_is_cut_or_damaged_or_too_large_gives_nothing)
{
	WS_AUTO_BUF struct ws_buf packed = {0};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_zst_pack(make_text(a), WS_ZST_FAST, &packed, &err), err);
	struct ws_str frame = ws_buf_str(&packed);
	assert_fails(ws_zst_unpack(frame, LEN - 1, &out, &err), err, WS_ERR_IO);
	assert_int_equal(out.len, 0);
	for (size_t len = 0; len < frame.n; len += len < 40 ? 1 : 997) {
		assert_fails(ws_zst_unpack((struct ws_str){frame.s, len}, LEN, &out, &err), err, WS_ERR_IO);
		assert_int_equal(out.len, 0);
	}
	for (size_t i = 0; i < frame.n; i += i < 40 ? 1 : 997) {
		char *bad = ws_arena_copy(a, frame.s, frame.n);
		bad[i] ^= 0x10;
		ws_buf_clear(&out);
		bool whole = ws_zst_unpack((struct ws_str){bad, frame.n}, LEN, &out, &err);
		assert_int_equal(out.len, whole ? LEN : 0); /* a bit of the head may say nothing */
	}
}
