/* zip.c - opening: the end records [4.3.14 to 4.3.16], the central directory [4.3.12], what each
 * entry says of itself and what entries are to one another. Their bytes are zip_read.c's, the rules
 * in words zip_rules.c's. */
#include "archive/zip.h"

#include "archive/zip_format.h"
#include "base/fs.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MOST 1024         /* bytes; the longest name in torch's wheels has 167 */
#define LINK_MOST 4096         /* bytes of a link's target */
#define RATIO_FLOOR (1u << 20) /* a small file of zeros is not a bomb */

/* ---- end records ---- */

/* What they say. */
struct end {
	uint64_t offset; /* where the first of them begins */
	uint64_t count;
	uint64_t directory_offset, directory_bytes;
};

/* Offset in the tail of the end record that closes the archive; the tail's length when none
 * does. */
static size_t
find_end(struct ws_str tail, bool *trailing)
{
	const unsigned char *bytes = (const unsigned char *)tail.s;
	size_t most = ZIP_END_BYTES + ZIP_COMMENT_MOST;
	most = most < tail.n ? most : tail.n;
	*trailing = false;
	for (size_t back = ZIP_END_BYTES; back <= most; back++) {
		const unsigned char *at = bytes + tail.n - back;
		if (ws_zip_u32(at) != ZIP_END_MAGIC) {
			continue;
		}
		if (ws_zip_u16(at + 20) == back - ZIP_END_BYTES) {
			return tail.n - back;
		}
		*trailing = true;
	}
	return tail.n;
}

static bool
is_or_stands_for(uint64_t narrow, uint64_t sentinel, uint64_t wide)
{
	return narrow == sentinel || narrow == wide;
}

/*
 * Writers add these records when a value does not fit, and some (CPython) from 2 GiB on, when it
 * still does; so each narrow field has to be the sentinel or tell the same.
 */
static bool
read_zip64_end(
	struct ws_zip *zip, struct ws_str tail, size_t locator_at, struct end *end, struct ws_err *err)
{
	if (locator_at < ZIP64_END_BYTES) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "no room for its end record");
	}
	const unsigned char *locator = (const unsigned char *)tail.s + locator_at;
	const unsigned char *record = locator - ZIP64_END_BYTES;
	uint64_t tail_offset = zip->source->size - tail.n;
	uint64_t offset = tail_offset + locator_at - ZIP64_END_BYTES;
	if (ws_zip_u64(locator + 8) != offset || ws_zip_u32(record) != ZIP64_END_MAGIC) {
		return ws_zip_break(
			zip, WS_ZIP_ZIP64, NULL, err, "its end record is not right before its locator");
	}
	if (ws_zip_u32(locator + 4) != 0 || ws_zip_u32(locator + 16) > 1 || ws_zip_u32(record + 16) != 0
		|| ws_zip_u32(record + 20) != 0) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its zip64 records name several");
	}
	/* 44 is the record without "extensible data", where a second archive can hide [4.3.14.1]. */
	if (ws_zip_u64(record + 4) != ZIP64_END_BYTES - 12) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "its end record carries extra data");
	}
	uint64_t count = ws_zip_u64(record + 32);
	uint64_t bytes = ws_zip_u64(record + 40);
	uint64_t start = ws_zip_u64(record + 48);
	if (ws_zip_u64(record + 24) != count) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its counts differ by disk");
	}
	if (!is_or_stands_for(end->count, ZIP_SENTINEL16, count)
		|| !is_or_stands_for(end->directory_bytes, ZIP_SENTINEL32, bytes)
		|| !is_or_stands_for(end->directory_offset, ZIP_SENTINEL32, start)) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "the two end records differ");
	}
	*end = (struct end){offset, count, start, bytes};
	return true;
}

static bool
check_place(struct ws_zip *zip, const struct end *end, struct ws_err *err)
{
	if (end->directory_bytes > end->offset
		|| end->directory_offset != end->offset - end->directory_bytes) {
		return ws_zip_break(zip, WS_ZIP_DIRECTORY, NULL, err,
			"%ju bytes at %ju do not end at %ju, where the end record begins",
			(uintmax_t)end->directory_bytes, (uintmax_t)end->directory_offset,
			(uintmax_t)end->offset);
	}
	if (end->directory_bytes > zip->limits.directory_bytes) {
		return ws_zip_break(zip, WS_ZIP_LIMIT, NULL, err, "a directory of %ju bytes",
			(uintmax_t)end->directory_bytes);
	}
	if (end->count > zip->limits.entries) {
		return ws_zip_break(zip, WS_ZIP_LIMIT, NULL, err, "%ju entries", (uintmax_t)end->count);
	}
	if (end->count > end->directory_bytes / ZIP_CENTRAL_BYTES) {
		return ws_zip_break(zip, WS_ZIP_COUNT, NULL, err, "%ju entries do not fit in %ju bytes",
			(uintmax_t)end->count, (uintmax_t)end->directory_bytes);
	}
	return true;
}

static bool
read_end(struct ws_zip *zip, struct ws_str tail, struct end *end, struct ws_err *err)
{
	bool trailing;
	size_t at = find_end(tail, &trailing);
	if (at == tail.n && trailing) {
		return ws_zip_break(
			zip, WS_ZIP_TRAILING_DATA, NULL, err, "its end record does not end with the file");
	}
	if (at == tail.n) {
		return ws_zip_break(
			zip, WS_ZIP_END_RECORD, NULL, err, "it has none; is this a zip archive?");
	}
	const unsigned char *record = (const unsigned char *)tail.s + at;
	size_t comment = ws_zip_u16(record + 20);
	if (comment > 0 && !zip->limits.is_sources) {
		return ws_zip_break(
			zip, WS_ZIP_COMMENT, NULL, err, "the archive has one of %zu bytes", comment);
	}
	/* Who looks for the last signature, as Python does, would find another end. */
	if (memmem(record + ZIP_END_BYTES, comment, "PK\5\6", 4)) {
		return ws_zip_break(
			zip, WS_ZIP_COMMENT, NULL, err, "it holds the signature of another end record");
	}
	if (ws_zip_u16(record + 4) != 0 || ws_zip_u16(record + 6) != 0
		|| ws_zip_u16(record + 8) != ws_zip_u16(record + 10)) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its end record names several");
	}
	*end = (struct end){
		.offset = zip->source->size - tail.n + at,
		.count = ws_zip_u16(record + 10),
		.directory_bytes = ws_zip_u32(record + 12),
		.directory_offset = ws_zip_u32(record + 16),
	};
	bool wide = at >= ZIP64_LOCATOR_BYTES
		&& ws_zip_u32(record - ZIP64_LOCATOR_BYTES) == ZIP64_LOCATOR_MAGIC;
	if (wide && !read_zip64_end(zip, tail, at - ZIP64_LOCATOR_BYTES, end, err)) {
		return false;
	}
	return check_place(zip, end, err);
}

/* ---- extra fields [4.5]: a list of (id, length, bytes) ---- */

/* The zip64 field holds exactly what its header lacks, in this order [4.5.3]. */
static bool
widen(struct ws_zip *zip, const char *entry, const unsigned char *at, size_t len,
	struct ws_zip_wide *wide, struct ws_err *err)
{
	size_t wanted = 8u * (size_t)(wide->wants_size + wide->wants_packed + wide->wants_offset);
	if (len != wanted || len == 0) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, entry, err,
			"its zip64 field has %zu bytes, its header asks for %zu", len, wanted);
	}
	uint64_t *const fields[] = {&wide->size_bytes, &wide->packed_bytes, &wide->offset};
	bool *const wants[] = {&wide->wants_size, &wide->wants_packed, &wide->wants_offset};
	for (size_t i = 0; i < WS_LEN(fields); i++) {
		if (*wants[i]) {
			*fields[i] = ws_zip_u64(at);
			*wants[i] = false;
			at += 8;
		}
	}
	return true;
}

bool
ws_zip_read_extra(struct ws_zip *zip, const char *entry, struct ws_str extra,
	struct ws_zip_wide *wide, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)extra.s;
	bool widened = false;
	for (size_t left = extra.n; left > 0;) {
		if (left < 4 || ws_zip_u16(at + 2) > left - 4) {
			return ws_zip_break(
				zip, WS_ZIP_EXTRA, entry, err, "a field is longer than the room it has");
		}
		unsigned id = ws_zip_u16(at);
		size_t len = ws_zip_u16(at + 2);
		if (id == ZIP_EXTRA_UNICODE_PATH) {
			return ws_zip_break(zip, WS_ZIP_EXTRA, entry, err, "a Unicode path gives another name");
		}
		if (id == ZIP_EXTRA_ZIP64 && widened) {
			return ws_zip_break(zip, WS_ZIP_ZIP64, entry, err, "its zip64 field is repeated");
		}
		if (id == ZIP_EXTRA_ZIP64) {
			widened = true;
			if (!widen(zip, entry, at + 4, len, wide, err)) {
				return false;
			}
		}
		at += 4 + len;
		left -= 4 + len;
	}
	if (wide->wants_size || wide->wants_packed || wide->wants_offset) {
		return ws_zip_break(
			zip, WS_ZIP_ZIP64, entry, err, "its header asks for a zip64 field and has none");
	}
	return true;
}

/* ---- one entry ---- */

/* ASCII, or UTF-8 where it is marked as such. */
static bool
is_encoded(struct ws_str name, bool utf8)
{
	while (name.n > 0) {
		size_t len = ws_utf8_len(name.s, name.n);
		if (len == 0 || (len > 1 && !utf8)) {
			return false;
		}
		name = (struct ws_str){name.s + len, name.n - len};
	}
	return true;
}

static bool
check_name(struct ws_zip *zip, const struct ws_zip_entry *entry, size_t len, struct ws_err *err)
{
	const char *name = entry->name;
	if (strlen(name) != len) {
		return ws_zip_break(zip, WS_ZIP_NAME_TEXT, name, err, "it holds a zero byte");
	}
	for (const char *c = name; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			return ws_zip_break(zip, WS_ZIP_NAME_TEXT, name, err, "it holds a control character");
		}
	}
	if (!is_encoded((struct ws_str){name, len}, entry->flags & ZIP_FLAG_UTF8)) {
		return ws_zip_break(zip, WS_ZIP_NAME_TEXT, name, err, "in no known encoding");
	}
	if (len > NAME_MOST) {
		return ws_zip_break(zip, WS_ZIP_NAME_PATH, name, err, "it has %zu bytes", len);
	}
	char path[NAME_MOST + 1];
	memcpy(path, name, len + 1);
	if (entry->is_dir) {
		path[len - 1] = '\0';
	}
	if (!ws_path_is_inside(path)) {
		return ws_zip_break(zip, WS_ZIP_NAME_PATH, name, err,
			"it is absolute, leaves the folder or is not in its plain form");
	}
	return true;
}

/* The system that made the entry is not asked: some readers obey a link's mode from any. */
static bool
check_type(struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_err *err)
{
	mode_t type = entry->mode & S_IFMT;
	if (type == S_IFLNK && !zip->limits.is_sources) {
		return ws_zip_break(zip, WS_ZIP_TYPE, entry->name, err, "it is a link");
	}
	if (entry->is_link && entry->size_bytes > LINK_MOST) {
		return ws_zip_break(zip, WS_ZIP_TYPE, entry->name, err, "a link with a target of %ju bytes",
			(uintmax_t)entry->size_bytes);
	}
	if (type != 0 && !entry->is_link && type != (entry->is_dir ? S_IFDIR : S_IFREG)) {
		return ws_zip_break(zip, WS_ZIP_TYPE, entry->name, err,
			"its mode is %06o, its name that of a %s", (unsigned)entry->mode,
			entry->is_dir ? "folder" : "file");
	}
	if (entry->is_dir && entry->size_bytes > 0) {
		return ws_zip_break(zip, WS_ZIP_TYPE, entry->name, err, "a folder with contents");
	}
	return true;
}

static bool
check_coding(struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_err *err)
{
	const unsigned secret = ZIP_FLAG_ENCRYPTED | ZIP_FLAG_STRONG | ZIP_FLAG_MASKED;
	if (entry->flags & secret) {
		return ws_zip_break(zip, WS_ZIP_ENCRYPTED, entry->name, err, "its flags say so");
	}
	if (entry->flags & ~ZIP_FLAGS_KNOWN) {
		return ws_zip_break(
			zip, WS_ZIP_FLAGS, entry->name, err, "its flags are 0x%04x", entry->flags);
	}
	if (entry->method != 0 && entry->method != 8) {
		return ws_zip_break(
			zip, WS_ZIP_METHOD, entry->name, err, "its method is %u", entry->method);
	}
	if (entry->method == 0 && entry->packed_bytes != entry->size_bytes) {
		return ws_zip_break(zip, WS_ZIP_SIZE, entry->name, err,
			"stored, but packed into %ju bytes from %ju", (uintmax_t)entry->packed_bytes,
			(uintmax_t)entry->size_bytes);
	}
	return true;
}

static bool
check_bomb(struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_err *err)
{
	if (entry->size_bytes > RATIO_FLOOR
		&& entry->size_bytes / zip->limits.ratio > entry->packed_bytes) {
		return ws_zip_break(zip, WS_ZIP_BOMB, entry->name, err, "%ju bytes packed into %ju",
			(uintmax_t)entry->size_bytes, (uintmax_t)entry->packed_bytes);
	}
	if (entry->size_bytes > zip->limits.total_bytes - zip->total_bytes) {
		return ws_zip_break(zip, WS_ZIP_BOMB, entry->name, err,
			"contents up to here are larger than %ju bytes", (uintmax_t)zip->limits.total_bytes);
	}
	zip->total_bytes += entry->size_bytes;
	return true;
}

/* Takes one record off @a rest. */
static bool
parse_record(struct ws_zip *zip, struct ws_str *rest, struct ws_arena *a,
	struct ws_zip_entry *entry, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)rest->s;
	if (rest->n < ZIP_CENTRAL_BYTES || ws_zip_u32(at) != ZIP_CENTRAL_MAGIC) {
		return ws_zip_break(zip, WS_ZIP_COUNT, NULL, err,
			"the end record counts more entries than the directory has");
	}
	size_t name_len = ws_zip_u16(at + 28);
	size_t extra_len = ws_zip_u16(at + 30);
	size_t comment_len = ws_zip_u16(at + 32);
	size_t len = ZIP_CENTRAL_BYTES + name_len + extra_len + comment_len;
	if (rest->n < len) {
		return ws_zip_break(zip, WS_ZIP_DIRECTORY, NULL, err, "its last record is cut off");
	}
	const char *name = rest->s + ZIP_CENTRAL_BYTES;
	struct ws_zip_wide wide = {
		.packed_bytes = ws_zip_u32(at + 20),
		.size_bytes = ws_zip_u32(at + 24),
		.offset = ws_zip_u32(at + 42),
	};
	wide.wants_packed = wide.packed_bytes == ZIP_SENTINEL32;
	wide.wants_size = wide.size_bytes == ZIP_SENTINEL32;
	wide.wants_offset = wide.offset == ZIP_SENTINEL32;
	*entry = (struct ws_zip_entry){
		.name = ws_arena_copy(a, name, name_len),
		.flags = ws_zip_u16(at + 8),
		.method = ws_zip_u16(at + 10),
		.crc = ws_zip_u32(at + 16),
		.mode = (mode_t)(ws_zip_u32(at + 38) >> 16),
		.is_dir = name_len > 0 && name[name_len - 1] == '/',
	};
	*rest = (struct ws_str){rest->s + len, rest->n - len};
	if (comment_len > 0) {
		return ws_zip_break(zip, WS_ZIP_COMMENT, entry->name, err, "the entry has one");
	}
	if (ws_zip_u16(at + 34) != 0) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, entry->name, err, "the entry is on another");
	}
	if (!check_name(zip, entry, name_len, err)
		|| !ws_zip_read_extra(
			zip, entry->name, (struct ws_str){name + name_len, extra_len}, &wide, err)) {
		return false;
	}
	entry->is_link = !entry->is_dir && (entry->mode & S_IFMT) == S_IFLNK;
	entry->offset = wide.offset;
	entry->packed_bytes = wide.packed_bytes;
	entry->size_bytes = wide.size_bytes;
	return check_coding(zip, entry, err) && check_type(zip, entry, err)
		&& check_bomb(zip, entry, err);
}

/* ---- entries among each other ---- */

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

static bool
check_order(struct ws_zip *zip, struct ws_zip_entry *entries, uint64_t directory_offset,
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

/* ---- the archive ---- */

static bool
append(void *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(self, bytes, len);
	return true;
}

static bool
read_at(struct ws_zip *zip, uint64_t offset, uint64_t len, struct ws_buf *out, struct ws_err *err)
{
	if (len == 0) {
		return true;
	}
	ws_buf_reserve(out, (size_t)len);
	struct ws_span span = {.offset = offset, .len = len, .take = append, .self = out};
	return zip->source->read(zip->source, &span, 1, err);
}

static struct ws_zip_limits
fill_limits(const struct ws_zip_limits *given)
{
	struct ws_zip_limits limits = given ? *given : (struct ws_zip_limits){0};
	const uint64_t least = ZIP_END_BYTES + ZIP_COMMENT_MOST + ZIP64_LOCATOR_BYTES + ZIP64_END_BYTES;
	limits.entries = limits.entries ? limits.entries : 200000;
	limits.directory_bytes = limits.directory_bytes ? limits.directory_bytes : 64u << 20;
	limits.total_bytes = limits.total_bytes ? limits.total_bytes : (uint64_t)16 << 30;
	limits.ratio = limits.ratio ? limits.ratio : 250;
	limits.tail_bytes = limits.tail_bytes > least ? limits.tail_bytes : least;
	return limits;
}

static bool
parse_directory(struct ws_zip *zip, const struct end *end, struct ws_str directory,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_zip_entry *entries = WS_NEW_N(a, struct ws_zip_entry, (size_t)end->count);
	for (zip->count = 0; zip->count < end->count; zip->count++) {
		if (!parse_record(zip, &directory, a, &entries[zip->count], err)) {
			return false;
		}
	}
	if (directory.n > 0) {
		return ws_zip_break(zip, WS_ZIP_COUNT, NULL, err,
			"the directory has %zu bytes more after the %zu entries that the end record counts",
			directory.n, zip->count);
	}
	return check_order(zip, entries, end->directory_offset, a, err);
}

bool
ws_zip_open(struct ws_source *source, const struct ws_zip_limits *limits, struct ws_arena *a,
	struct ws_zip *zip, struct ws_err *err)
{
	*zip = (struct ws_zip){.source = source, .limits = fill_limits(limits)};
	uint64_t tail_len = zip->limits.tail_bytes;
	tail_len = tail_len < source->size ? tail_len : source->size;
	uint64_t tail_offset = source->size - tail_len;
	WS_AUTO_BUF struct ws_buf tail = {0};
	WS_AUTO_BUF struct ws_buf more = {0};
	struct end end;
	if (!read_at(zip, tail_offset, tail_len, &tail, err)
		|| !read_end(zip, ws_buf_str(&tail), &end, err)) {
		return false;
	}
	struct ws_str directory = {NULL, (size_t)end.directory_bytes};
	if (end.directory_offset >= tail_offset) {
		directory.s = tail.data + (end.directory_offset - tail_offset);
		return parse_directory(zip, &end, directory, a, err);
	}
	/* Only the part that the tail lacks. */
	ws_buf_reserve(&more, directory.n);
	if (!read_at(zip, end.directory_offset, tail_offset - end.directory_offset, &more, err)) {
		return false;
	}
	ws_buf_add(&more, tail.data, (size_t)(end.offset - tail_offset));
	directory.s = more.data;
	return parse_directory(zip, &end, directory, a, err);
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
