/* test_store_inventory.c - what goes first when a store must shrink. */
#include "test.h"

#include "base/fs.h"
#include "store/inventory.h"
#include "store/results.h"

#include <fcntl.h>

static const char old_key[] = "aa00000000000000000000000000000000000000000000000000000000000000";
static const char new_key[] = "bb00000000000000000000000000000000000000000000000000000000000000";

static const char *
path_of(const struct ws_store *store, const char *key, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/ac/%.2s/%s", store->path, key, key);
}

static void
put(const struct ws_store *store, const char *key, time_t used_s, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err err;
	ws_buf_puts(&text, "a text\n");
	assert_ok(ws_results_put(store, key, &text, &err), err);
	const struct timespec times[] = {{.tv_sec = used_s}, {.tv_sec = used_s}};
	assert_int_equal(utimensat(AT_FDCWD, path_of(store, key, a), times, 0), 0);
}

static void
open_with_two(struct ws_store *store, struct ws_arena *a)
{
	struct ws_err err;
	assert_ok(ws_store_open(ws_arena_printf(a, "%s/store", ws_test_dir(a)), a, store, &err), err);
	put(store, old_key, 1000000000, a);
	put(store, new_key, 1100000000, a);
}

static void
shrink_to_one(struct ws_store *store, struct ws_inventory *inventory)
{
	struct ws_inventory_gone gone;
	struct ws_err err;
	assert_ok(ws_inventory_shrink(store, inventory, inventory->bytes - 1, &gone, &err), err);
	assert_int_equal(gone.count, 1);
}

WS_TEST_ERR(the_least_recently_used_text_goes_first)
{
	struct ws_store store;
	struct ws_inventory inventory;
	open_with_two(&store, a);
	assert_ok(ws_inventory_take(&store, NULL, 0, a, &inventory, &err), err);
	shrink_to_one(&store, &inventory);
	assert_false(ws_fs_exists(path_of(&store, old_key, a)));
	assert_true(ws_fs_exists(path_of(&store, new_key, a)));
	ws_store_close(&store);
}

/* Another run finds the older text between the listing and the removal. */
WS_TEST_ERR(an_entry_that_was_used_after_the_listing_stays)
{
	struct ws_store store;
	struct ws_inventory inventory;
	WS_AUTO_BUF struct ws_buf text = {0};
	open_with_two(&store, a);
	assert_ok(ws_inventory_take(&store, NULL, 0, a, &inventory, &err), err);
	assert_true(ws_results_get(&store, old_key, &text));
	shrink_to_one(&store, &inventory);
	assert_true(ws_fs_exists(path_of(&store, old_key, a)));
	assert_false(ws_fs_exists(path_of(&store, new_key, a)));
	ws_store_close(&store);
}
