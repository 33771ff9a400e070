/* zip_hash.c - what the entries of an archive hold, by digest. Nothing of them is kept. */
#include "archive/zip.h"

struct hashing {
	struct ws_zip_sink sink; /* first */
	ws_zip_hashed *each;
	void *self;
	const struct ws_zip_entry *entry; /* that is open */
	struct ws_hasher *hasher;
};

static bool
begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct hashing *h = (struct hashing *)self;
	h->entry = entry;
	h->hasher = ws_hasher_make();
	return true;
}

static bool
add(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_hasher_add(((struct hashing *)self)->hasher, bytes, len);
	return true;
}

static bool
end(struct ws_zip_sink *self, struct ws_err *err WS_UNUSED)
{
	struct hashing *h = (struct hashing *)self;
	struct ws_digest digest = ws_hasher_finish(h->hasher);
	h->hasher = NULL;
	h->each(h->self, h->entry, &digest);
	return true;
}

bool
ws_zip_hash(struct ws_zip *zip, const struct ws_zip_entry **entries, size_t count,
	ws_zip_hashed *each, void *self, struct ws_err *err)
{
	struct hashing h = {.sink = {begin, add, end}, .each = each, .self = self};
	bool read = ws_zip_read(zip, entries, count, WS_ZIP_GAP_BYTES, &h.sink, err);
	ws_hasher_drop(h.hasher);
	return read;
}
