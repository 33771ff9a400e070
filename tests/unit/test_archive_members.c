/* test_archive_members.c - the amounts that are let in when the caller names none.
 * test_archive_unpack.c has the archives that break the other rules. */
#include "test.h"

#include "archive/members.h"

#define GIB ((uint64_t)1 << 30)

WS_TEST_ERR(an_archive_gives_16_gib_and_no_byte_more)
{
	struct ws_members m = ws_members_begin("x.tar", 0, NULL, a);
	assert_ok(ws_members_add_bytes(&m, "a", 15 * GIB, &err), err);
	assert_ok(ws_members_add_bytes(&m, "b", GIB, &err), err);
	assert_fails(ws_members_add_bytes(&m, "c", 1, &err), err, WS_ERR_FETCH);
	assert_contains(
		err.text, "rule 'amount' at 'c': its contents are larger than 17179869184 bytes");
}

WS_TEST_ERR(contents_have_200_times_the_bytes_of_the_archive_at_most)
{
	struct ws_members m = ws_members_begin("x.tar", GIB / 200, NULL, a);
	assert_ok(ws_members_add_bytes(&m, "a", GIB / 200 * 200, &err), err);
	assert_fails(ws_members_add_bytes(&m, "b", 200, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "more than 200 times as large as the archive");
	/* A small archive may be mostly blanks. */
	struct ws_members small = ws_members_begin("y.tar", 1, NULL, a);
	assert_ok(ws_members_add_bytes(&small, "a", 64u << 20, &err), err);
	assert_fails(ws_members_add_bytes(&small, "b", 200, &err), err, WS_ERR_FETCH);
}

WS_TEST_ERR(an_archive_has_200000_members_at_most)
{
	struct ws_members m = ws_members_begin("x.tar", 0, NULL, a);
	for (unsigned i = 0; i < 200000; i++) {
		struct ws_member member = {.name = ws_arena_printf(a, "f%u", i), .kind = WS_MEMBER_FILE};
		assert_ok(ws_members_enter(&m, &member, &err), err);
	}
	struct ws_member one_more = {.name = "g", .kind = WS_MEMBER_FILE};
	assert_null(ws_members_enter(&m, &one_more, &err));
	assert_contains(err.text, "it has more than 200000 members");
}
