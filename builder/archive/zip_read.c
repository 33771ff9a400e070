/* zip_read.c - the bytes of entries. A source streams spans into a small machine that knows where
 * it is: before an entry, in its local header [4.3.7], in its data, in its descriptor [4.3.9].
 * Header and descriptor are held against the directory. */
#include "archive/inflate.h"
#include "archive/zip_format.h"

#include <stdlib.h>

/* ---- what stands around an entry's data ---- */

/*
 * With bit 3 sizes and CRC follow the data and the header may hold zeros; else it has to agree.
 * A header may be wide where the directory need not be: writers that do not know the size yet.
 */
static bool
check_fields(struct ws_zip *zip, const struct ws_zip_entry *entry, const unsigned char *at,
	struct ws_str extra, struct ws_err *err)
{
	const unsigned meaningful = ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8 | ZIP_FLAG_ENCRYPTED
		| ZIP_FLAG_STRONG | ZIP_FLAG_MASKED;
	if ((ws_zip_u16(at + 6) ^ entry->flags) & meaningful) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"flags 0x%04x here, 0x%04x in the directory", ws_zip_u16(at + 6), entry->flags);
	}
	if (ws_zip_u16(at + 8) != entry->method) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"method %u here, %u in the directory", ws_zip_u16(at + 8), entry->method);
	}
	uint32_t crc = ws_zip_u32(at + 14);
	struct ws_zip_wide wide = {
		.packed_bytes = ws_zip_u32(at + 18), .size_bytes = ws_zip_u32(at + 22)};
	wide.wants_packed = wide.packed_bytes == ZIP_SENTINEL32;
	wide.wants_size = wide.size_bytes == ZIP_SENTINEL32;
	if (!ws_zip_read_extra(zip, entry->name, extra, &wide, err)) {
		return false;
	}
	bool later = entry->flags & ZIP_FLAG_DESCRIPTOR;
	if (!(later && crc == 0) && crc != entry->crc) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"CRC %08x here, %08x in the directory", crc, entry->crc);
	}
	if ((!(later && wide.packed_bytes == 0) && wide.packed_bytes != entry->packed_bytes)
		|| (!(later && wide.size_bytes == 0) && wide.size_bytes != entry->size_bytes)) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"%ju bytes packed into %ju here, %ju into %ju in the directory",
			(uintmax_t)wide.size_bytes, (uintmax_t)wide.packed_bytes, (uintmax_t)entry->size_bytes,
			(uintmax_t)entry->packed_bytes);
	}
	return true;
}

static bool
check_local(
	struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_str header, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)header.s;
	struct ws_str name = {header.s + ZIP_LOCAL_BYTES, ws_zip_u16(at + 26)};
	if (!ws_str_is(name, entry->name)) {
		return ws_zip_break(
			zip, WS_ZIP_LOCAL_NAME, entry->name, err, "'%.*s' here", WS_STR_ARGS(name));
	}
	struct ws_str extra = {name.s + name.n, ws_zip_u16(at + 28)};
	if (!check_fields(zip, entry, at, extra, err)) {
		return false;
	}
	/* What is left up to the next entry can only be a descriptor. */
	uint64_t rest = entry->end - entry->offset - header.n - entry->packed_bytes;
	bool announced = entry->flags & ZIP_FLAG_DESCRIPTOR;
	if (rest > (announced ? ZIP_DESCRIPTOR_MOST : 0)) {
		return ws_zip_break(zip, WS_ZIP_GAP, entry->name, err,
			"%ju bytes after its data belong to no entry", (uintmax_t)rest);
	}
	if (announced && rest != 12 && rest != 16 && rest != 20 && rest != 24) {
		return ws_zip_break(zip, WS_ZIP_DESCRIPTOR, entry->name, err,
			"it is announced, and %ju bytes follow the data", (uintmax_t)rest);
	}
	return true;
}

/* A descriptor comes with or without magic, with sizes of 32 or 64 bits [4.3.9]. */
static bool
is_descriptor(const struct ws_zip_entry *entry, const unsigned char *at, size_t len)
{
	if (len == 16 || len == 24) {
		if (ws_zip_u32(at) != ZIP_DESCRIPTOR_MAGIC) {
			return false;
		}
		at += 4;
		len -= 4;
	}
	if (ws_zip_u32(at) != entry->crc) {
		return false;
	}
	if (len == 12) {
		return ws_zip_u32(at + 4) == entry->packed_bytes && ws_zip_u32(at + 8) == entry->size_bytes;
	}
	return ws_zip_u64(at + 4) == entry->packed_bytes && ws_zip_u64(at + 12) == entry->size_bytes;
}

static bool
check_descriptor(struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_str descriptor,
	struct ws_err *err)
{
	if (descriptor.n > 0
		&& !is_descriptor(entry, (const unsigned char *)descriptor.s, descriptor.n)) {
		return ws_zip_break(
			zip, WS_ZIP_DESCRIPTOR, entry->name, err, "it does not agree with the directory");
	}
	return true;
}

/* ---- the machine ---- */

enum phase {
	BEFORE, /* bytes of entries that were not asked for */
	HEADER, /* the fixed part of a local header */
	NAMES,  /* its name and extra fields */
	DATA,
	AFTER, /* a data descriptor, or nothing */
};

struct reader {
	struct ws_zip *zip;
	struct ws_zip_sink *sink;
	const struct ws_zip_entry *const *wanted; /* in the order of the archive */
	size_t wanted_count, current;
	const struct ws_span *spans;
	size_t span_count;
	size_t span;      /* the one whose bytes come now */
	uint64_t span_at; /* how many of them came */
	enum phase phase;
	uint64_t left;        /* bytes of this phase that have not come */
	struct ws_buf record; /* what HEADER, NAMES and AFTER gather */
	struct ws_inflate *inflate;
	bool inflated;       /* the deflate stream has ended */
	uint64_t made_bytes; /* contents so far */
	uint32_t crc;        /* of them */
};

static const struct ws_zip_entry *
entry_of(const struct reader *r)
{
	return r->wanted[r->current];
}

/* Before the next wanted entry; @a at is the offset of the next byte. */
static void
await_entry(struct reader *r, uint64_t at)
{
	r->phase = BEFORE;
	r->left = r->current < r->wanted_count ? entry_of(r)->offset - at : UINT64_MAX;
}

static void
enter(struct reader *r, enum phase phase, uint64_t bytes)
{
	r->phase = phase;
	r->left = bytes;
}

static bool
end_header(struct reader *r, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)r->record.data;
	const struct ws_zip_entry *entry = entry_of(r);
	if (ws_zip_u32(at) != ZIP_LOCAL_MAGIC) {
		return ws_zip_break(r->zip, WS_ZIP_LOCAL_HEADER, entry->name, err, "there is none at %ju",
			(uintmax_t)entry->offset);
	}
	uint64_t own = ZIP_LOCAL_BYTES + ws_zip_u16(at + 26) + ws_zip_u16(at + 28);
	uint64_t room = entry->end - entry->offset;
	if (own > room || room - own < entry->packed_bytes) {
		return ws_zip_break(r->zip, WS_ZIP_OVERLAP, entry->name, err,
			"its header of %ju bytes and its data do not end before %ju", (uintmax_t)own,
			(uintmax_t)entry->end);
	}
	enter(r, NAMES, own - ZIP_LOCAL_BYTES);
	return true;
}

static bool
end_names(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = entry_of(r);
	if (!check_local(r->zip, entry, ws_buf_str(&r->record), err)) {
		return false;
	}
	r->made_bytes = 0;
	r->crc = 0;
	r->inflated = entry->method == 0;
	ws_inflate_start(r->inflate);
	enter(r, DATA, entry->packed_bytes);
	return r->sink->begin(r->sink, entry, err);
}

static bool
give(struct reader *r, struct ws_str made, struct ws_err *err)
{
	const struct ws_zip_entry *entry = entry_of(r);
	if (made.n == 0) {
		return true;
	}
	if (made.n > entry->size_bytes - r->made_bytes) {
		return ws_zip_break(r->zip, WS_ZIP_SIZE, entry->name, err,
			"more contents than the %ju bytes it should have", (uintmax_t)entry->size_bytes);
	}
	r->made_bytes += made.n;
	r->crc = ws_crc32(r->crc, made.s, made.n);
	return r->sink->bytes(r->sink, made.s, made.n, err);
}

static bool
read_data(struct reader *r, struct ws_str in, struct ws_err *err)
{
	if (entry_of(r)->method == 0) {
		return give(r, in, err);
	}
	enum ws_inflate_state state = WS_INFLATE_FULL;
	while (!r->inflated && state == WS_INFLATE_FULL) {
		struct ws_str made;
		state = ws_inflate_step(r->inflate, &in, &made);
		if (state == WS_INFLATE_BAD) {
			return ws_zip_break(r->zip, WS_ZIP_DEFLATE, entry_of(r)->name, err,
				"bad data after %ju bytes of contents", (uintmax_t)r->made_bytes);
		}
		r->inflated = state == WS_INFLATE_DONE;
		if (!give(r, made, err)) {
			return false;
		}
	}
	if (in.n > 0) {
		return ws_zip_break(r->zip, WS_ZIP_DEFLATE, entry_of(r)->name, err,
			"its data continues after the end of the stream");
	}
	return true;
}

static bool
end_data(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = entry_of(r);
	if (!r->inflated) {
		return ws_zip_break(
			r->zip, WS_ZIP_DEFLATE, entry->name, err, "its data ends before the stream does");
	}
	if (r->made_bytes != entry->size_bytes) {
		return ws_zip_break(r->zip, WS_ZIP_SIZE, entry->name, err, "%ju bytes instead of %ju",
			(uintmax_t)r->made_bytes, (uintmax_t)entry->size_bytes);
	}
	if (r->crc != entry->crc) {
		return ws_zip_break(
			r->zip, WS_ZIP_CRC, entry->name, err, "%08x instead of %08x", r->crc, entry->crc);
	}
	uint64_t rest = entry->end - entry->offset - r->record.len - entry->packed_bytes;
	ws_buf_clear(&r->record);
	enter(r, AFTER, rest);
	return true;
}

static bool
end_entry(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = entry_of(r);
	if (!check_descriptor(r->zip, entry, ws_buf_str(&r->record), err)) {
		return false;
	}
	if (!r->sink->end(r->sink, err)) {
		return false;
	}
	r->current++;
	await_entry(r, entry->end);
	return true;
}

/* Ends the phases that need no more bytes. */
static bool
advance(struct reader *r, struct ws_err *err)
{
	while (r->left == 0) {
		bool fine = true;
		switch (r->phase) {
		case BEFORE:
			ws_buf_clear(&r->record);
			enter(r, HEADER, ZIP_LOCAL_BYTES);
			break;
		case HEADER:
			fine = end_header(r, err);
			break;
		case NAMES:
			fine = end_names(r, err);
			break;
		case DATA:
			fine = end_data(r, err);
			break;
		case AFTER:
			fine = end_entry(r, err);
			break;
		}
		if (!fine) {
			return false;
		}
	}
	return true;
}

static bool
read_piece(struct reader *r, struct ws_str piece, struct ws_err *err)
{
	r->left -= piece.n;
	if (r->phase == DATA) {
		return read_data(r, piece, err);
	}
	if (r->phase != BEFORE) {
		ws_buf_add(&r->record, piece.s, piece.n);
	}
	return true;
}

/* The source's bytes; they come in the order of the spans. */
static bool
take(void *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct reader *r = self;
	struct ws_str in = {bytes, len};
	if (len > 0 && r->span_at == r->spans[r->span].len && r->span + 1 < r->span_count) {
		r->span++;
		r->span_at = 0;
		await_entry(r, r->spans[r->span].offset);
	}
	if (len > r->spans[r->span].len - r->span_at) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' gave more bytes than it was asked for",
			r->zip->source->name);
	}
	r->span_at += len;
	while (in.n > 0) {
		if (!advance(r, err)) {
			return false;
		}
		size_t n = r->left < in.n ? (size_t)r->left : in.n;
		if (!read_piece(r, (struct ws_str){in.s, n}, err)) {
			return false;
		}
		in = (struct ws_str){in.s + n, in.n - n};
	}
	return advance(r, err);
}

static int
cmp_order(const void *x, const void *y)
{
	const struct ws_zip_entry *const *a = x;
	const struct ws_zip_entry *const *b = y;
	return *a < *b ? -1 : *a > *b;
}

/* Entries nearer than the gap share a span. */
static size_t
merge_spans(struct reader *r, uint64_t gap_bytes, struct ws_span *spans)
{
	size_t count = 0;
	for (size_t i = 0; i < r->wanted_count; i++) {
		const struct ws_zip_entry *entry = r->wanted[i];
		struct ws_span *last = count > 0 ? &spans[count - 1] : NULL;
		if (last && entry->offset - (last->offset + last->len) <= gap_bytes) {
			last->len = entry->end - last->offset;
		} else {
			spans[count++] = (struct ws_span){entry->offset, entry->end - entry->offset, take, r};
		}
	}
	return count;
}

bool
ws_zip_read(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	uint64_t gap_bytes, struct ws_zip_sink *sink, struct ws_err *err)
{
	if (count == 0) {
		return true;
	}
	qsort(entries, count, sizeof(*entries), cmp_order);
	size_t once = 1;
	for (size_t i = 1; i < count; i++) {
		if (entries[i] != entries[once - 1]) {
			entries[once++] = entries[i];
		}
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_span *spans = WS_NEW_N(a, struct ws_span, once);
	struct reader r = {
		.zip = zip, .sink = sink, .wanted = entries, .wanted_count = once, .spans = spans};
	r.inflate = ws_inflate_make();
	r.span_count = merge_spans(&r, gap_bytes, spans);
	await_entry(&r, spans[0].offset);
	bool fine = zip->source->read(zip->source, spans, r.span_count, err);
	if (fine && r.current != once) {
		fine = ws_err_set(
			err, WS_ERR_INTERNAL, "'%s' gave fewer bytes than it was asked for", zip->source->name);
	}
	ws_buf_release(&r.record);
	ws_inflate_drop(r.inflate);
	return fine;
}

/* A sink that gathers one small member. */
struct loader {
	struct ws_zip_sink sink;
	struct ws_buf *out;
};

static bool
load_begin(struct ws_zip_sink *self WS_UNUSED, const struct ws_zip_entry *entry WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return true;
}

static bool
load_bytes(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(((struct loader *)self)->out, bytes, len);
	return true;
}

static bool
load_end(struct ws_zip_sink *self WS_UNUSED, struct ws_err *err WS_UNUSED)
{
	return true;
}

bool
ws_zip_load(struct ws_zip *zip, const struct ws_zip_entry *entry, size_t limit, struct ws_buf *out,
	struct ws_err *err)
{
	if (entry->size_bytes > limit) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' in '%s' has %ju bytes; the limit is %zu",
			entry->name, zip->source->name, (uintmax_t)entry->size_bytes, limit);
	}
	struct loader loader = {{load_begin, load_bytes, load_end}, out};
	return ws_zip_read(zip, &entry, 1, 0, &loader.sink, err);
}
