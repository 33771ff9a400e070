/* test_base_map.c - strings to pointers. */
#include "test.h"

WS_TEST(a_map_keeps_what_was_put)
{
	struct ws_map map = {0};
	assert_null(ws_map_get(&map, "x"));
	for (int i = 0; i < 5000; i++) {
		ws_map_put(&map, ws_arena_printf(a, "key%d", i), (void *)(intptr_t)(i + 1), a);
	}
	for (int i = 0; i < 5000; i++) {
		assert_int_equal((intptr_t)ws_map_get(&map, ws_arena_printf(a, "key%d", i)), i + 1);
	}
	assert_null(ws_map_get(&map, "key5000"));
	assert_int_equal(map.count, 5000);
	assert_string_equal(map.slots[17].key, "key17");
}

WS_TEST(a_set_says_what_is_new)
{
	struct ws_map set = {0};
	assert_true(ws_map_add(&set, "a", a));
	assert_false(ws_map_add(&set, "a", a));
	assert_true(ws_map_add(&set, "", a));
	assert_int_equal(set.count, 2);
}
