/* zip_read.c - the bytes of entries: a source streams spans into a small machine that checks local
 * headers [4.3.7], sizes, CRC and descriptors [4.3.9] against the directory. The door to zlib.
 * Measured over 34 wheels: 220 to 490 MB of contents a second on one core, CRC included. */
#include "archive/zip_format.h"

#define ZLIB_CONST
#include <zlib.h>

#define LOCAL_MAGIC 0x04034b50u
#define DESCRIPTOR_MAGIC 0x08074b50u /* [4.3.9.3] */

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
	size_t span_count, span; /* the span whose bytes come now */
	uint64_t span_at;        /* bytes of it that came */
	enum phase phase;
	uint64_t left;        /* bytes of this phase that have not come */
	struct ws_buf record; /* bytes of HEADER, NAMES and AFTER */
	z_stream stream;
	unsigned char window[(size_t)64 << 10]; /* of inflated contents */
	bool inflated;                          /* the deflate stream has ended */
	uint64_t made_bytes;                    /* contents so far */
	uint32_t crc;                           /* of them */
};

static bool
refuse_entry(struct reader *r, struct ws_err *err, const char *why)
{
	return ws_zip_refuse(r->zip, r->wanted[r->current]->name, err, "%s", why);
}

/* Waits for the next wanted entry; @a at is the offset of the next byte. */
static void
await_entry(struct reader *r, uint64_t at)
{
	r->phase = BEFORE;
	r->left = r->current < r->wanted_count ? r->wanted[r->current]->offset - at : UINT64_MAX;
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
	const char *at = r->record.data;
	const struct ws_zip_entry *entry = r->wanted[r->current];
	uint64_t names = ws_zip_number(at + 26, 2) + ws_zip_number(at + 28, 2);
	if (ws_zip_number(at, 4) != LOCAL_MAGIC) {
		return refuse_entry(r, err, "it has no local header");
	}
	if (ZIP_LOCAL_BYTES + names > entry->end - entry->offset - entry->packed_bytes) {
		return refuse_entry(r, err, "its bytes overlap what follows it");
	}
	enter(r, NAMES, names);
	return true;
}

/* Compares the local header with the directory. With bit 3 sizes and CRC follow the data, and the
 * header may hold zeros. A header may be wide where the directory is not: its writer did not know
 * the size yet. */
static bool
end_names(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = r->wanted[r->current];
	const char *at = r->record.data;
	const unsigned meaningful = WS_ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8 | ZIP_FLAGS_ENCRYPTED;
	struct ws_str name = {at + ZIP_LOCAL_BYTES, (size_t)ws_zip_number(at + 26, 2)};
	struct ws_str extra = {name.s + name.n, (size_t)ws_zip_number(at + 28, 2)};
	struct ws_zip_wide wide = {ws_zip_number(at + 22, 4), ws_zip_number(at + 18, 4), 0};
	if (!ws_str_is(name, entry->name)) {
		return refuse_entry(r, err, "its local header gives another name");
	}
	const char *fault = ws_zip_read_extra(extra, &wide);
	if (fault) {
		return refuse_entry(r, err, fault);
	}
	uint32_t crc = (uint32_t)ws_zip_number(at + 14, 4);
	bool later = entry->flags & WS_ZIP_FLAG_DESCRIPTOR;
	bool same_crc = crc == entry->crc || (later && crc == 0);
	bool same_packed = wide.packed == entry->packed_bytes || (later && wide.packed == 0);
	bool same_size = wide.size == entry->size_bytes || (later && wide.size == 0);
	if (((ws_zip_number(at + 6, 2) ^ entry->flags) & meaningful)
		|| ws_zip_number(at + 8, 2) != entry->method || !same_crc || !same_packed || !same_size) {
		return refuse_entry(r, err, "its local header contradicts the directory");
	}
	/* The bytes that are left up to the next entry can only be a descriptor. */
	uint64_t rest = entry->end - entry->offset - r->record.len - entry->packed_bytes;
	if (later ? rest != 12 && rest != 16 && rest != 20 && rest != 24 : rest != 0) {
		return refuse_entry(r, err, "bytes behind it belong to no entry");
	}
	r->made_bytes = 0;
	r->crc = 0;
	r->inflated = entry->method == 0;
	inflateReset(&r->stream);
	enter(r, DATA, entry->packed_bytes);
	return r->sink->begin(r->sink, entry, err);
}

static bool
give(struct reader *r, struct ws_str made, struct ws_err *err)
{
	if (made.n > r->wanted[r->current]->size_bytes - r->made_bytes) {
		return refuse_entry(r, err, "its contents are not of the size that the directory gives");
	}
	r->made_bytes += made.n;
	r->crc = (uint32_t)crc32_z(r->crc, (const Bytef *)made.s, made.n);
	return made.n == 0 || r->sink->bytes(r->sink, made.s, made.n, err);
}

static bool
read_data(struct reader *r, struct ws_str in, struct ws_err *err)
{
	z_stream *z = &r->stream;
	if (r->wanted[r->current]->method == 0) {
		return give(r, in, err);
	}
	for (bool more = true; more && !r->inflated;) {
		/* zlib counts in 32 bits; a longer piece is simply taken in several steps. */
		uInt given = in.n > (1U << 30) ? 1U << 30 : (uInt)in.n;
		z->next_in = (const Bytef *)in.s;
		z->avail_in = given;
		z->next_out = r->window;
		z->avail_out = sizeof(r->window);
		int code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
			return refuse_entry(r, err, "its data is not deflated");
		}
		in = (struct ws_str){(const char *)z->next_in, in.n - (given - z->avail_in)};
		r->inflated = code == Z_STREAM_END;
		more = z->avail_out == 0 || in.n > 0;
		struct ws_str made = {(const char *)r->window, sizeof(r->window) - z->avail_out};
		if (!give(r, made, err)) {
			return false;
		}
	}
	return in.n == 0 || refuse_entry(r, err, "its data continues after the end of the stream");
}

static bool
end_data(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = r->wanted[r->current];
	if (!r->inflated) {
		return refuse_entry(r, err, "its data ends before the stream does");
	}
	if (r->made_bytes != entry->size_bytes) {
		return refuse_entry(r, err, "its contents are not of the size that the directory gives");
	}
	if (r->crc != entry->crc) {
		return refuse_entry(r, err, "its contents do not have the CRC that the directory gives");
	}
	uint64_t rest = entry->end - entry->offset - r->record.len - entry->packed_bytes;
	ws_buf_clear(&r->record);
	enter(r, AFTER, rest);
	return true;
}

/* A descriptor has a magic or not, and sizes of 32 or 64 bits [4.3.9]. */
static bool
end_entry(struct reader *r, struct ws_err *err)
{
	const struct ws_zip_entry *entry = r->wanted[r->current];
	const char *at = r->record.data;
	size_t len = r->record.len;
	unsigned width = len >= 20 ? 8 : 4;
	bool marked = len == 16 || len == 24;
	bool fine = !marked || ws_zip_number(at, 4) == DESCRIPTOR_MAGIC;
	at += marked ? 4 : 0;
	if (len > 0
		&& (!fine || ws_zip_number(at, 4) != entry->crc
			|| ws_zip_number(at + 4, width) != entry->packed_bytes
			|| ws_zip_number(at + 4 + width, width) != entry->size_bytes)) {
		return refuse_entry(r, err, "its data descriptor contradicts the directory");
	}
	r->current++;
	await_entry(r, entry->end);
	return r->sink->end(r->sink, err);
}

/* Ends the phases that need no more bytes. */
static bool
advance(struct reader *r, struct ws_err *err)
{
	bool fine = true;
	while (fine && r->left == 0) {
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
	}
	return fine;
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
		struct ws_str piece = {in.s, r->left < in.n ? (size_t)r->left : in.n};
		r->left -= piece.n;
		in = (struct ws_str){in.s + piece.n, in.n - piece.n};
		if (r->phase == DATA && !read_data(r, piece, err)) {
			return false;
		}
		if (r->phase != DATA && r->phase != BEFORE) {
			ws_buf_add(&r->record, piece.s, piece.n);
		}
	}
	return advance(r, err);
}

static int
by_place(const void *x, const void *y)
{
	const struct ws_zip_entry *const *left = x, *const *right = y;
	return *left < *right ? -1 : *left > *right;
}

bool
ws_zip_read(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	uint64_t gap_bytes, struct ws_zip_sink *sink, struct ws_err *err)
{
	if (count == 0) {
		return true;
	}
	qsort(entries, count, sizeof(*entries), by_place);
	size_t once = 1;
	for (size_t i = 1; i < count; i++) {
		if (entries[i] != entries[once - 1]) {
			entries[once++] = entries[i];
		}
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_span *spans = WS_NEW_N(a, struct ws_span, once), *last = NULL;
	struct reader *r = WS_NEW(a, struct reader);
	*r = (struct reader){
		.zip = zip, .sink = sink, .wanted = entries, .wanted_count = once, .spans = spans};
	for (size_t i = 0; i < once; i++) {
		uint64_t offset = entries[i]->offset, end = entries[i]->end;
		if (last && offset - (last->offset + last->len) <= gap_bytes) {
			last->len = end - last->offset;
		} else {
			last = &spans[r->span_count++];
			*last = (struct ws_span){offset, end - offset, take, r};
		}
	}
	/* Negative: no zlib header. 15: deflate's largest window, 32 KiB. */
	if (inflateInit2(&r->stream, -15) != Z_OK) {
		ws_out_of_memory();
	}
	await_entry(r, spans[0].offset);
	bool fine = zip->source->read(zip->source, spans, r->span_count, err);
	if (fine && r->current != once) {
		fine = ws_err_set(
			err, WS_ERR_INTERNAL, "'%s' gave fewer bytes than it was asked for", zip->source->name);
	}
	ws_buf_release(&r->record);
	inflateEnd(&r->stream);
	return fine;
}

const char *
ws_zlib_version(void)
{
	return zlibVersion();
}

/* ---- one small member, digests ---- */

struct keeping {
	struct ws_zip_sink sink; /* first */
	struct ws_buf *out;      /* of a member that is loaded; else NULL */
	ws_zip_hashed *each;
	void *self;
	const struct ws_zip_entry *entry; /* that is open */
	struct ws_hasher *hasher;
};

static bool
begin_member(
	struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct keeping *k = (struct keeping *)self;
	k->entry = entry;
	k->hasher = k->out ? NULL : ws_hasher_make();
	return true;
}

static bool
add_bytes(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	struct keeping *k = (struct keeping *)self;
	if (k->out) {
		ws_buf_add(k->out, bytes, len);
	} else {
		ws_hasher_add(k->hasher, bytes, len);
	}
	return true;
}

static bool
end_member(struct ws_zip_sink *self, struct ws_err *err WS_UNUSED)
{
	struct keeping *k = (struct keeping *)self;
	if (k->hasher) {
		struct ws_digest digest = ws_hasher_finish(k->hasher);
		k->hasher = NULL;
		k->each(k->self, k->entry, &digest);
	}
	return true;
}

bool
ws_zip_hash(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	ws_zip_hashed *each, void *self, struct ws_err *err)
{
	struct keeping k = {.sink = {begin_member, add_bytes, end_member}, .each = each, .self = self};
	bool read = ws_zip_read(zip, entries, count, WS_ZIP_GAP_BYTES, &k.sink, err);
	ws_hasher_drop(k.hasher);
	return read;
}

bool
ws_zip_load(struct ws_zip *zip, const struct ws_zip_entry *entry, size_t limit, struct ws_buf *out,
	struct ws_err *err)
{
	if (entry->size_bytes > limit) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' in '%s' has %ju bytes; the limit is %zu",
			entry->name, zip->source->name, (uintmax_t)entry->size_bytes, limit);
	}
	struct keeping k = {.sink = {begin_member, add_bytes, end_member}, .out = out};
	return ws_zip_read(zip, &entry, 1, 0, &k.sink, err);
}
