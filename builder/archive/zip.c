/* zip.c - opening: the tail, the central directory [4.3.12], and what each entry says of itself.
 * What entries are to one another is zip_order.c's, their bytes are zip_read.c's. */
#include "archive/zip.h"

#include "archive/zip_format.h"
#include "base/fs.h"

#include <string.h>
#include <sys/stat.h>

#define NAME_MOST 1024         /* bytes; the longest name in torch's wheels has 167 */
#define RATIO_FLOOR (1u << 20) /* a small file of zeros is no bomb */

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

/* Strict UTF-8 (RFC 3629): no overlong forms, no surrogates. */
static bool
is_utf8(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	while (*c) {
		unsigned more = *c < 0x80 ? 0 : *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : 1;
		if (*c >= 0x80 && (*c < 0xc2 || *c > 0xf4)) {
			return false;
		}
		if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f)
			|| (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f)) {
			return false;
		}
		for (c++; more > 0; more--, c++) {
			if ((*c & 0xc0) != 0x80) {
				return false;
			}
		}
	}
	return true;
}

static bool
is_ascii(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text >= 0x80) {
			return false;
		}
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
	if (!is_ascii(name) && (!(entry->flags & ZIP_FLAG_UTF8) || !is_utf8(name))) {
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
	if (type == S_IFLNK) {
		return ws_zip_break(zip, WS_ZIP_TYPE, entry->name, err, "it is a link");
	}
	if (type != 0 && type != (entry->is_dir ? S_IFDIR : S_IFREG)) {
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
	entry->offset = wide.offset;
	entry->packed_bytes = wide.packed_bytes;
	entry->size_bytes = wide.size_bytes;
	return check_coding(zip, entry, err) && check_type(zip, entry, err)
		&& check_bomb(zip, entry, err);
}

static bool
parse_directory(struct ws_zip *zip, const struct ws_zip_end *end, struct ws_str directory,
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
			"the directory goes on for %zu bytes after the %zu entries that the end record counts",
			directory.n, zip->count);
	}
	return ws_zip_check_order(zip, entries, end->directory_offset, a, err);
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
	struct ws_zip_end end;
	if (!read_at(zip, tail_offset, tail_len, &tail, err)
		|| !ws_zip_read_end(zip, ws_buf_str(&tail), &end, err)) {
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
