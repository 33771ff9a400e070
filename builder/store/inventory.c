/* inventory.c - one walk over each folder. A text names whatever looks like a digest in it. */
#include "store/inventory.h"

#include "base/fs.h"
#include "store/cas.h"
#include "store/results.h"
#include "sys/stop.h"

#include <ctype.h>

#define DIGEST_LENGTH 64
/* Hex digits of the digest in the name of a tree's folder. */
#define TREE_DIGITS 16
#define LIST ".list"

static const struct {
	const char *name, *folder;
	int depth; /* of its entries: cas/aa/<digest> is 2 */
} rooms[WS_ROOMS] = {
	[WS_ROOM_FILES] = {"files", "cas", 2},
	[WS_ROOM_RESULTS] = {"results", "ac", 2},
	[WS_ROOM_TREES] = {"trees", "trees", 1},
	[WS_ROOM_GIT] = {"git", "git", 1},
	[WS_ROOM_PARTIAL] = {"partial", "partial", 1},
};

const char *
ws_room_name(enum ws_room room)
{
	return rooms[room].name;
}

/* ---- listing ---- */

struct listing {
	const struct ws_store *store;
	struct ws_inventory *inventory;
	struct ws_map places; /* digest, or the digits of a tree's -> its item */
	enum ws_room room;
	struct ws_arena *a;
};

/* Entries of a folder are items; files below them add to their size. */
static bool
add_entry(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct listing *t = self;
	size_t count = t->inventory->items.len;
	struct ws_store_item *item = count > 0 ? &t->inventory->items.at[count - 1] : NULL;
	int depth = 1;
	for (const char *at = entry->name; (at = strchr(at, '/')); at++) {
		depth++;
	}
	bool file = S_ISREG(entry->status.st_mode);
	uint64_t bytes = file ? (uint64_t)entry->status.st_size : 0;
	if (depth < rooms[t->room].depth) {
		return true;
	}
	if (depth == rooms[t->room].depth) {
		char *name = ws_arena_strdup(t->a, ws_path_base(entry->name));
		if (t->room == WS_ROOM_TREES && ws_ends_with(name, LIST)) { /* belongs to its tree */
			name[strlen(name) - strlen(LIST)] = '\0';
		}
		if (!item || item->room != t->room || !ws_same(item->name, name)) {
			item = ws_vec_push(&t->inventory->items, t->a);
			*item = (struct ws_store_item){.room = t->room,
				.path = ws_arena_printf(
					t->a, "%s/%s/%s", t->store->path, rooms[t->room].folder, entry->name),
				.name = name};
		}
		int64_t changed_s = entry->status.st_mtim.tv_sec;
		item->used_s = changed_s > item->used_s ? changed_s : item->used_s;
	}
	item->bytes += bytes;
	t->inventory->bytes += bytes;
	return true;
}

/* ---- uses ---- */

/* @text names @item: its last use is copied to the item, then back, since a list of manifests was
 * used when one of them was. The items of a lock, which has no @text, are removed last. */
static void
use_item(struct ws_store_item *item, struct ws_store_item *text, bool back, bool keeps)
{
	if (!back) {
		item->named = item->named || text != NULL;
		item->keep_longest = item->keep_longest || keeps;
	} else {
		text->keep_longest = text->keep_longest || keeps;
	}
	if (text) {
		struct ws_store_item *from = back ? item : text, *to = back ? text : item;
		to->used_s = from->used_s > to->used_s ? from->used_s : to->used_s;
	}
}

/* Uses each item whose digest is in @text, of the item @from (NULL: of a lock). */
static void
use_named(
	const struct listing *t, struct ws_str text, struct ws_store_item *from, bool back, bool keeps)
{
	for (size_t i = 0, digits = 0; i <= text.n; i++) {
		if (i < text.n && isxdigit((unsigned char)text.s[i])) {
			digits++;
			continue;
		}
		if (digits == DIGEST_LENGTH) {
			char digest[DIGEST_LENGTH + 1] = "";
			memcpy(digest, text.s + i - DIGEST_LENGTH, DIGEST_LENGTH);
			struct ws_store_item *item = ws_map_get(&t->places, digest);
			digest[TREE_DIGITS] = '\0';
			item = item ? item : ws_map_get(&t->places, digest);
			if (item) {
				use_item(item, from, back, keeps);
			}
		}
		digits = 0;
	}
}

/* A record of a cell names a wheel, which is kept longest. */
static void
read_texts(const struct listing *t, bool back)
{
	static const char cell[] = "wheelsmith.cell/";
	for (size_t i = 0; i < t->inventory->items.len; i++) {
		struct ws_store_item *item = &t->inventory->items.at[i];
		WS_AUTO_BUF struct ws_buf text = {0};
		if (item->room == WS_ROOM_RESULTS && ws_fs_read(item->path, &text, NULL)) {
			struct ws_str rest = ws_buf_str(&text);
			ws_str_cut(&rest, '\n'); /* the sum */
			bool wheel = rest.n > strlen(cell) && memcmp(rest.s, cell, strlen(cell)) == 0;
			use_named(t, rest, item, back, wheel);
		}
	}
}

bool
ws_inventory_take(const struct ws_store *store, const char *const *locks, size_t lock_count,
	struct ws_arena *a, struct ws_inventory *inventory, struct ws_err *err)
{
	*inventory = (struct ws_inventory){.a = a, .locks = locks, .lock_count = lock_count};
	struct listing t = {.store = store, .inventory = inventory, .a = a};
	for (t.room = 0; t.room < WS_ROOMS; t.room++) {
		if (!ws_fs_walk(ws_store_path(store, a, rooms[t.room].folder), add_entry, &t, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < inventory->items.len; i++) {
		struct ws_store_item *item = &inventory->items.at[i];
		size_t length = strlen(item->name);
		if (item->room == WS_ROOM_FILES) {
			ws_map_put(&t.places, item->name, item, a);
		} else if (item->room == WS_ROOM_TREES && length > TREE_DIGITS) {
			ws_map_put(&t.places, item->name + length - TREE_DIGITS, item, a);
		}
	}
	read_texts(&t, false);
	read_texts(&t, true);
	for (size_t i = 0; i < lock_count; i++) {
		use_named(&t, ws_str_of(locks[i]), NULL, false, true);
	}
	return true;
}

/* ---- removing ---- */

static int
cmp_use(const void *x, const void *y)
{
	const struct ws_store_item *left = x, *right = y;
	if (left->keep_longest != right->keep_longest) {
		return left->keep_longest ? 1 : -1;
	}
	if (left->used_s != right->used_s) {
		return left->used_s < right->used_s ? -1 : 1;
	}
	return strcmp(left->path, right->path);
}

bool
ws_inventory_shrink(struct ws_store *store, struct ws_inventory *inventory, uint64_t most_bytes,
	struct ws_inventory_gone *gone, struct ws_err *err)
{
	*gone = (struct ws_inventory_gone){0};
	if (inventory->bytes <= most_bytes) {
		return true;
	}
	if (!ws_store_hold(store, true, err)) {
		return false;
	}
	/* Other runs may have used items since the first listing. */
	if (!ws_inventory_take(
			store, inventory->locks, inventory->lock_count, inventory->a, inventory, err)) {
		ws_store_hold(store, false, NULL);
		return false;
	}
	qsort(inventory->items.at, inventory->items.len, sizeof(*inventory->items.at), cmp_use);
	bool fine = true;
	for (size_t i = 0; i < inventory->items.len && inventory->bytes > most_bytes && fine; i++) {
		const struct ws_store_item *item = &inventory->items.at[i];
		char *path = ws_arena_strdup(inventory->a, item->path);
		if (item->room == WS_ROOM_TREES) {
			/* The listing goes first: a tree without it does not exist. */
			path[strlen(path) - (ws_ends_with(path, LIST) ? strlen(LIST) : 0)] = '\0';
			fine = ws_fs_remove(ws_arena_printf(inventory->a, "%s" LIST, path), err);
		}
		fine = fine && ws_fs_remove(path, err);
		inventory->bytes -= item->bytes;
		gone->bytes += item->bytes;
		gone->count++;
	}
	return ws_store_hold(store, false, fine ? err : NULL) && fine;
}

/* ---- verifying ---- */

bool
ws_inventory_verify(const struct ws_store *store, const struct ws_inventory *inventory,
	struct ws_stop *stop, struct ws_inventory_gone *damaged, struct ws_err *err)
{
	*damaged = (struct ws_inventory_gone){0};
	for (size_t i = 0; i < inventory->items.len; i++) {
		if (ws_stop_asked(stop)) {
			return ws_stop_err(stop, err);
		}
		const struct ws_store_item *item = &inventory->items.at[i];
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		WS_AUTO_BUF struct ws_buf text = {0};
		bool whole = item->room == WS_ROOM_FILES ? ws_cas_verify(store, item->name)
			: item->room == WS_ROOM_RESULTS      ? ws_results_get(store, item->name, &text)
			: item->room == WS_ROOM_TREES        ? ws_tree_verify(store, item->name, a)
												 : true; /* git verifies its files */
		damaged->count += !whole;
		damaged->bytes += whole ? 0 : item->bytes;
	}
	return ws_store_may_make(store, err);
}
