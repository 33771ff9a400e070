/* zip.c - opening: the end records [4.3.14 to 4.3.16], the central directory [4.3.12], and the
 * order of entries. zip_read.c reads their bytes. */
#include "archive/zip.h"

#include "archive/zip_format.h"
#include "base/fs.h"

#define CENTRAL_MAGIC 0x02014b50u   /* [4.3.12] */
#define END_MAGIC 0x06054b50u       /* [4.3.16] */
#define END64_MAGIC 0x06064b50u     /* [4.3.14] */
#define LOCATOR64_MAGIC 0x07064b50u /* [4.3.15] */

/* Fixed parts of records, in bytes. */
#define CENTRAL_BYTES 46u
#define END_BYTES 22u
#define END64_BYTES 56u
#define LOCATOR64_BYTES 20u

/* Bits 1 and 2 are deflate's level. */
#define FLAGS_KNOWN (0x6u | WS_ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8)

/* Extra fields [4.5.3, 4.6.9]. */
#define EXTRA_ZIP64 0x0001u
#define EXTRA_UNICODE_PATH 0x7075u

#define NAME_MOST 1024         /* bytes; the longest name in torch's wheels has 167 */
#define LINK_MOST 4096         /* bytes of a link's target */
#define RATIO_FLOOR (1u << 20) /* a small file of zeros is not a bomb */

bool
ws_zip_refuse(struct ws_zip *zip, const char *entry, struct ws_err *err, const char *format, ...)
{
	char detail[400];
	va_list values;
	va_start(values, format);
	vsnprintf(detail, sizeof(detail), format, values);
	va_end(values);
	zip->is_malformed = true;
	return entry ? ws_err_set(err, WS_ERR_FETCH, "'%s' is a malformed zip archive at '%.250s': %s",
			   zip->source->name, entry, detail)
				 : ws_err_set(err, WS_ERR_FETCH, "'%s' is a malformed zip archive: %s",
					 zip->source->name, detail);
}

/* ---- end records ---- */

struct end {
	uint64_t offset; /* of the first end record */
	uint64_t count;
	uint64_t directory_offset, directory_bytes;
};

/* Writers add the zip64 records when a value does not fit. Some (CPython) add them from 2 GiB on:
 * each narrow field holds the sentinel or the same value. The record has no "extensible data"
 * [4.3.14.1], where a second archive can hide. */
static bool
read_end64(const char *locator, const char *start, uint64_t offset, struct end *end)
{
	if ((size_t)(locator - start) < END64_BYTES) {
		return false;
	}
	const char *record = locator - END64_BYTES;
	const struct end wide = {offset - END64_BYTES, ws_zip_number(record + 32, 8),
		ws_zip_number(record + 48, 8), ws_zip_number(record + 40, 8)};
	bool agrees = (end->count == 0xffff || end->count == wide.count)
		&& (end->directory_bytes == UINT32_MAX || end->directory_bytes == wide.directory_bytes)
		&& (end->directory_offset == UINT32_MAX || end->directory_offset == wide.directory_offset);
	*end = wide;
	return agrees && ws_zip_number(locator + 8, 8) == wide.offset
		&& ws_zip_number(record, 4) == END64_MAGIC
		&& ws_zip_number(record + 4, 8) == END64_BYTES - 12 && ws_zip_number(locator + 4, 4) == 0
		&& ws_zip_number(locator + 16, 4) <= 1 && ws_zip_number(record + 16, 8) == 0
		&& ws_zip_number(record + 24, 8) == wide.count;
}

/* The end record is the one whose comment ends with the archive. Only sources may have a comment.
 * It must not hold the signature of an end record, because Python would use that one. */
static bool
read_end(struct ws_zip *zip, struct ws_str tail, struct end *end, struct ws_err *err)
{
	const char *record = NULL;
	size_t most = zip->limits.is_sources ? END_BYTES + ZIP_FIELD_MOST : END_BYTES;
	for (size_t back = END_BYTES; !record && back <= most && back <= tail.n; back++) {
		const char *at = tail.s + tail.n - back;
		if (ws_zip_number(at, 4) == END_MAGIC && ws_zip_number(at + 20, 2) == back - END_BYTES) {
			record = at;
		}
	}
	if (!record || memmem(record + END_BYTES, ws_zip_number(record + 20, 2), "PK\5\6", 4)) {
		return ws_zip_refuse(zip, NULL, err, "no end record closes it; is it a zip archive?");
	}
	*end = (struct end){
		.offset = zip->source->size - tail.n + (size_t)(record - tail.s),
		.count = ws_zip_number(record + 10, 2),
		.directory_bytes = ws_zip_number(record + 12, 4),
		.directory_offset = ws_zip_number(record + 16, 4),
	};
	const char *locator = record - LOCATOR64_BYTES;
	bool wide = (size_t)(record - tail.s) >= LOCATOR64_BYTES
		&& ws_zip_number(locator, 4) == LOCATOR64_MAGIC;
	if (ws_zip_number(record + 4, 4) != 0 || ws_zip_number(record + 8, 2) != end->count
		|| (wide && !read_end64(locator, tail.s, end->offset - LOCATOR64_BYTES, end))) {
		return ws_zip_refuse(zip, NULL, err, "its end records contradict each other");
	}
	if (end->directory_bytes > end->offset
		|| end->directory_offset != end->offset - end->directory_bytes) {
		return ws_zip_refuse(
			zip, NULL, err, "its directory does not end where the end record begins");
	}
	if (end->directory_bytes > zip->limits.directory_bytes || end->count > zip->limits.entries) {
		return ws_zip_refuse(zip, NULL, err, "it has %ju entries, described in %ju bytes",
			(uintmax_t)end->count, (uintmax_t)end->directory_bytes);
	}
	return end->count <= end->directory_bytes / CENTRAL_BYTES
		|| ws_zip_refuse(
			zip, NULL, err, "its directory has fewer entries than its end record counts");
}

/* ---- one entry of the directory ---- */

/* Why the extra fields [4.5] cannot be read in one way; NULL: they can. The zip64 field holds what
 * the header lacks, in this order, and nothing else [4.5.3]; CPython before 3.11.4 repeats both
 * sizes of a header that lacks none. */
const char *
ws_zip_read_extra(struct ws_str extra, struct ws_zip_wide *wide)
{
	uint64_t *const fields[] = {&wide->size, &wide->packed, &wide->offset};
	size_t wanted = 0;
	for (size_t i = 0; i < WS_LEN(fields); i++) {
		wanted += *fields[i] == UINT32_MAX ? 8 : 0;
	}
	bool widened = wanted == 0;
	while (extra.n > 0) {
		if (extra.n < 4 || ws_zip_number(extra.s + 2, 2) > extra.n - 4) {
			return "an extra field is cut off";
		}
		unsigned id = (unsigned)ws_zip_number(extra.s, 2);
		size_t len = (size_t)ws_zip_number(extra.s + 2, 2);
		const char *at = extra.s + 4;
		if (id == EXTRA_UNICODE_PATH) {
			return "an extra field gives it a second name";
		}
		bool repeats = wanted == 0 && len == 16 && ws_zip_number(at, 8) == wide->size
			&& ws_zip_number(at + 8, 8) == wide->packed;
		if (id == EXTRA_ZIP64 && !repeats && (widened || len != wanted)) {
			return "its zip64 field is not what its header asks for";
		}
		for (size_t i = 0; id == EXTRA_ZIP64 && i < WS_LEN(fields); i++) {
			if (*fields[i] == UINT32_MAX) {
				*fields[i] = ws_zip_number(at, 8);
				at += 8;
			}
		}
		widened = widened || id == EXTRA_ZIP64;
		extra = (struct ws_str){extra.s + 4 + len, extra.n - 4 - len};
	}
	return widened ? NULL : "its header asks for a zip64 field and has none";
}

/* Why the name is not plain; NULL: it is. ASCII, or UTF-8 where a flag says so. */
static const char *
find_name_fault(const struct ws_zip_entry *entry, size_t len)
{
	if (strlen(entry->name) != len || ws_has_control(entry->name)) {
		return "its name holds a control character";
	}
	for (size_t at = 0, step; at < len; at += step) {
		step = ws_utf8_len(entry->name + at, len - at);
		if (step == 0 || (step > 1 && !(entry->flags & ZIP_FLAG_UTF8))) {
			return "its name is neither ASCII nor marked as UTF-8";
		}
	}
	char path[NAME_MOST + 1];
	if (len > NAME_MOST) {
		return "its name is too long";
	}
	memcpy(path, entry->name, len + 1);
	path[entry->is_dir ? len - 1 : len] = '\0';
	return ws_path_is_inside(path)
		? NULL
		: "its name is absolute, leaves the folder or is not in its plain form";
}

/* The system that made the entry does not count: some readers obey a link's mode from any. */
static const char *
find_entry_fault(const struct ws_zip *zip, const struct ws_zip_entry *entry)
{
	mode_t type = entry->mode & S_IFMT;
	if (entry->flags & ZIP_FLAGS_ENCRYPTED) {
		return "it is encrypted";
	}
	if (entry->flags & ~FLAGS_KNOWN) {
		return "it has unknown flags";
	}
	if (entry->method != 0 && entry->method != 8) {
		return "it is neither stored nor deflated";
	}
	if (entry->method == 0 && entry->packed_bytes != entry->size_bytes) {
		return "it is stored, and its two sizes differ";
	}
	if (type == S_IFLNK && !zip->limits.is_sources) {
		return "it is a link";
	}
	if (entry->is_link && entry->size_bytes > LINK_MOST) {
		return "it is a link with a long target";
	}
	if (type != 0 && !entry->is_link && type != (entry->is_dir ? S_IFDIR : S_IFREG)) {
		return "its mode is not that of a file or folder of this name";
	}
	if (entry->is_dir && entry->size_bytes > 0) {
		return "it is a folder with contents";
	}
	bool bomb = entry->size_bytes > RATIO_FLOOR
		&& entry->size_bytes / zip->limits.ratio > entry->packed_bytes;
	return bomb || entry->size_bytes > zip->limits.total_bytes - zip->total_bytes
		? "its contents are absurdly large"
		: NULL;
}

/* Takes one record off @a rest. */
static bool
read_record(struct ws_zip *zip, struct ws_str *rest, struct ws_arena *a, struct ws_zip_entry *entry,
	struct ws_err *err)
{
	const char *at = rest->s;
	if (rest->n < CENTRAL_BYTES || ws_zip_number(at, 4) != CENTRAL_MAGIC) {
		return ws_zip_refuse(zip, NULL, err, "its directory is cut off");
	}
	struct ws_str name = {at + CENTRAL_BYTES, (size_t)ws_zip_number(at + 28, 2)};
	struct ws_str extra = {name.s + name.n, (size_t)ws_zip_number(at + 30, 2)};
	size_t len = CENTRAL_BYTES + name.n + extra.n;
	if (rest->n < len) {
		return ws_zip_refuse(zip, NULL, err, "its directory is cut off");
	}
	*rest = (struct ws_str){at + len, rest->n - len};
	struct ws_zip_wide wide = {
		ws_zip_number(at + 24, 4), ws_zip_number(at + 20, 4), ws_zip_number(at + 42, 4)};
	*entry = (struct ws_zip_entry){
		.name = ws_str_copy(name, a),
		.flags = (uint16_t)ws_zip_number(at + 8, 2),
		.method = (uint16_t)ws_zip_number(at + 10, 2),
		.crc = (uint32_t)ws_zip_number(at + 16, 4),
		.mode = (mode_t)ws_zip_number(at + 40, 2),
		.is_dir = name.n > 0 && name.s[name.n - 1] == '/',
	};
	const char *fault = find_name_fault(entry, name.n);
	fault = fault ? fault : ws_zip_read_extra(extra, &wide);
	if (!fault && ws_zip_number(at + 32, 4) != 0) {
		fault = "it has a comment, or is on another disk";
	}
	entry->is_link = !entry->is_dir && (entry->mode & S_IFMT) == S_IFLNK;
	entry->offset = wide.offset;
	entry->packed_bytes = wide.packed;
	entry->size_bytes = wide.size;
	fault = fault ? fault : find_entry_fault(zip, entry);
	zip->total_bytes += entry->size_bytes;
	return !fault || ws_zip_refuse(zip, entry->name, err, "%s", fault);
}

/* ---- entries among each other ---- */

static int
by_offset(const void *x, const void *y)
{
	const struct ws_zip_entry *left = x, *right = y;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Byte order, but '/' before every other byte: the names below "a" follow "a" at once. */
static int
by_path(const void *x, const void *y)
{
	const char *left = (*(const struct ws_zip_entry *const *)x)->name;
	const char *right = (*(const struct ws_zip_entry *const *)y)->name;
	while (*left && *left == *right) {
		left++;
		right++;
	}
	int first = *left == '/' ? 1 : *left == '\0' ? 0 : (unsigned char)*left + 1;
	int second = *right == '/' ? 1 : *right == '\0' ? 0 : (unsigned char)*right + 1;
	return first - second;
}

/* Every byte before the directory belongs to one entry. The local extra fields may take 64 KiB, the
 * descriptor 24 bytes; reading the entry finds out exactly. */
static bool
check_layout(
	struct ws_zip *zip, struct ws_zip_entry *entries, uint64_t directory_offset, struct ws_err *err)
{
	if ((zip->count > 0 ? entries[0].offset : directory_offset) != 0) {
		return ws_zip_refuse(zip, NULL, err, "bytes before its first entry belong to no entry");
	}
	for (size_t i = 0; i < zip->count; i++) {
		struct ws_zip_entry *entry = &entries[i];
		entry->end = i + 1 < zip->count ? entries[i + 1].offset : directory_offset;
		uint64_t head = ZIP_LOCAL_BYTES + strlen(entry->name);
		uint64_t room = entry->end > entry->offset ? entry->end - entry->offset : 0;
		if (room < head || room - head < entry->packed_bytes) {
			return ws_zip_refuse(zip, entry->name, err, "its bytes overlap what follows it");
		}
		if (room - head - entry->packed_bytes > ZIP_FIELD_MOST + ZIP_DESCRIPTOR_MOST) {
			return ws_zip_refuse(zip, entry->name, err, "bytes behind it belong to no entry");
		}
	}
	return true;
}

static bool
read_directory(struct ws_zip *zip, const struct end *end, struct ws_str directory,
	struct ws_arena *a, struct ws_err *err)
{
	size_t count = (size_t)end->count;
	struct ws_zip_entry *entries = WS_NEW_N(a, struct ws_zip_entry, count);
	const struct ws_zip_entry **by_name = WS_NEW_N(a, const struct ws_zip_entry *, count);
	for (zip->count = 0; zip->count < count; zip->count++) {
		if (!read_record(zip, &directory, a, &entries[zip->count], err)) {
			return false;
		}
	}
	if (directory.n > 0) {
		return ws_zip_refuse(zip, NULL, err, "its directory has more than the end record counts");
	}
	qsort(entries, count, sizeof(*entries), by_offset);
	for (size_t i = 0; i < count; i++) {
		by_name[i] = &entries[i];
	}
	qsort(by_name, count, sizeof(*by_name), by_path);
	zip->entries = entries;
	zip->by_name = by_name;
	for (size_t i = 1; i < count; i++) {
		const char *name = by_name[i]->name, *before = by_name[i - 1]->name;
		size_t len = strlen(before);
		if (strcmp(name, before) == 0) {
			return ws_zip_refuse(zip, name, err, "two entries have this name");
		}
		if (strncmp(name, before, len) == 0 && name[len] == '/') {
			return ws_zip_refuse(zip, name, err, "'%s' is a file", before);
		}
	}
	return check_layout(zip, entries, end->directory_offset, err);
}

/* ---- opening ---- */

static bool
append(void *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(self, bytes, len);
	return true;
}

static bool
read_at(struct ws_zip *zip, uint64_t offset, uint64_t len, struct ws_buf *out, struct ws_err *err)
{
	ws_buf_reserve(out, (size_t)len);
	struct ws_span span = {.offset = offset, .len = len, .take = append, .self = out};
	return len == 0 || zip->source->read(zip->source, &span, 1, err);
}

bool
ws_zip_open(struct ws_byte_source *source, const struct ws_zip_limits *limits, struct ws_arena *a,
	struct ws_zip *zip, struct ws_err *err)
{
	const uint64_t least = END_BYTES + ZIP_FIELD_MOST + LOCATOR64_BYTES + END64_BYTES;
	*zip = (struct ws_zip){.source = source};
	struct ws_zip_limits *most = &zip->limits;
	*most = limits ? *limits : *most;
	most->entries = most->entries ? most->entries : 200000;
	most->directory_bytes = most->directory_bytes ? most->directory_bytes : 64u << 20;
	most->total_bytes = most->total_bytes ? most->total_bytes : (uint64_t)16 << 30;
	most->ratio = most->ratio ? most->ratio : 250;
	most->tail_bytes = most->tail_bytes > least ? most->tail_bytes : least;
	uint64_t len = most->tail_bytes < source->size ? most->tail_bytes : source->size;
	uint64_t offset = source->size - len;
	WS_AUTO_BUF struct ws_buf tail = {0};
	WS_AUTO_BUF struct ws_buf whole = {0}; /* the directory, where it is longer than the tail */
	struct end end;
	if (!read_at(zip, offset, len, &tail, err) || !read_end(zip, ws_buf_str(&tail), &end, err)) {
		return false;
	}
	struct ws_str directory = {NULL, (size_t)end.directory_bytes};
	if (end.directory_offset >= offset) {
		directory.s = tail.data + (end.directory_offset - offset);
		return read_directory(zip, &end, directory, a, err);
	}
	if (!read_at(zip, end.directory_offset, offset - end.directory_offset, &whole, err)) {
		return false;
	}
	ws_buf_add(&whole, tail.data, (size_t)(end.offset - offset));
	directory.s = whole.data;
	return read_directory(zip, &end, directory, a, err);
}

const struct ws_zip_entry *
ws_zip_find(const struct ws_zip *zip, const char *name)
{
	const struct ws_zip_entry wanted = {.name = name}, *key = &wanted;
	const struct ws_zip_entry *const *found = zip->count > 0
		? bsearch(&key, zip->by_name, zip->count, sizeof(*zip->by_name), by_path)
		: NULL;
	return found ? *found : NULL;
}
