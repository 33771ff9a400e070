/* zip_order.c - what entries are to one another: in which order they lie, which bytes belong to
 * whom, and whether names contradict each other. */
#include "archive/zip_format.h"

#include <stdlib.h>
#include <string.h>

static int
cmp_offsets(const void *x, const void *y)
{
	const struct ws_zip_entry *a = x;
	const struct ws_zip_entry *b = y;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Byte order, but '/' before every other byte: what lies below "a" then follows "a" at once. */
static int
cmp_paths(const char *x, const char *y)
{
	while (*x && *x == *y) {
		x++;
		y++;
	}
	int a = *x == '/' ? 1 : *x == '\0' ? 0 : (unsigned char)*x + 1;
	int b = *y == '/' ? 1 : *y == '\0' ? 0 : (unsigned char)*y + 1;
	return a - b;
}

static int
cmp_names(const void *x, const void *y)
{
	const struct ws_zip_entry *const *a = x;
	const struct ws_zip_entry *const *b = y;
	return cmp_paths((*a)->name, (*b)->name);
}

/* An entry's own bytes, as far as the directory tells: the local extra field may be anything up
 * to 64 KiB, the descriptor up to 24 bytes. Exactly is known when the entry is read. */
static bool
check_room(struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_err *err)
{
	uint64_t head = ZIP_LOCAL_BYTES + strlen(entry->name);
	uint64_t room = entry->end - entry->offset;
	if (room < head || room - head < entry->packed_bytes) {
		return ws_zip_break(zip, WS_ZIP_OVERLAP, entry->name, err,
			"it needs %ju bytes at %ju, but something else begins at %ju",
			(uintmax_t)(head + entry->packed_bytes), (uintmax_t)entry->offset,
			(uintmax_t)entry->end);
	}
	if (room - head - entry->packed_bytes > ZIP_EXTRA_MOST + ZIP_DESCRIPTOR_MOST) {
		return ws_zip_break(zip, WS_ZIP_GAP, entry->name, err,
			"%ju bytes up to the next entry cannot all be its own", (uintmax_t)room);
	}
	return true;
}

static bool
check_layout(
	struct ws_zip *zip, struct ws_zip_entry *entries, uint64_t directory_offset, struct ws_err *err)
{
	uint64_t first = zip->count > 0 ? entries[0].offset : directory_offset;
	if (first != 0) {
		return ws_zip_break(zip, WS_ZIP_PREFIX, NULL, err, "%ju bytes stand before its first entry",
			(uintmax_t)first);
	}
	if (zip->count > 0 && entries[zip->count - 1].offset >= directory_offset) {
		return ws_zip_break(zip, WS_ZIP_OVERLAP, entries[zip->count - 1].name, err,
			"it begins at %ju, behind the start of the directory",
			(uintmax_t)entries[zip->count - 1].offset);
	}
	for (size_t i = 0; i < zip->count; i++) {
		entries[i].end = i + 1 < zip->count ? entries[i + 1].offset : directory_offset;
		if (!check_room(zip, &entries[i], err)) {
			return false;
		}
	}
	return true;
}

static bool
check_names(struct ws_zip *zip, struct ws_err *err)
{
	for (size_t i = 1; i < zip->count; i++) {
		const char *name = zip->by_name[i]->name;
		const char *before = zip->by_name[i - 1]->name;
		size_t len = strlen(before);
		if (strcmp(name, before) == 0) {
			return ws_zip_break(zip, WS_ZIP_DUPLICATE, name, err, "two entries have this name");
		}
		if (strncmp(name, before, len) == 0 && name[len] == '/') {
			return ws_zip_break(zip, WS_ZIP_FILE_AS_FOLDER, name, err, "'%s' is a file", before);
		}
	}
	return true;
}

bool
ws_zip_check_order(struct ws_zip *zip, struct ws_zip_entry *entries, uint64_t directory_offset,
	struct ws_arena *a, struct ws_err *err)
{
	if (zip->count > 0) {
		qsort(entries, zip->count, sizeof(*entries), cmp_offsets);
	}
	const struct ws_zip_entry **by_name = WS_NEW_N(a, const struct ws_zip_entry *, zip->count);
	for (size_t i = 0; i < zip->count; i++) {
		by_name[i] = &entries[i];
	}
	if (zip->count > 0) {
		qsort(by_name, zip->count, sizeof(const struct ws_zip_entry *), cmp_names);
	}
	zip->entries = entries;
	zip->by_name = by_name;
	return check_names(zip, err) && check_layout(zip, entries, directory_offset, err);
}

const struct ws_zip_entry *
ws_zip_find(const struct ws_zip *zip, const char *name)
{
	size_t low = 0, high = zip->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = cmp_paths(zip->by_name[middle]->name, name);
		if (order == 0) {
			return zip->by_name[middle];
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}
