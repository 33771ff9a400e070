/* fuzz_zip.c - any bytes as a zip archive: what is accepted must keep what zip.h promises. */
#include "archive/zip.h"
#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	struct ws_byte_source source;
	const uint8_t *data;
};

static bool
read_memory(
	struct ws_byte_source *self, const struct ws_span *spans, size_t count, struct ws_err *err)
{
	const struct memory *memory = (const struct memory *)self;
	for (size_t i = 0; i < count; i++) {
		if (spans[i].len == 0 || spans[i].offset > self->size
			|| spans[i].len > self->size - spans[i].offset) {
			abort();
		}
		/* An exact copy, so that a sanitizer sees a read past the end of the span. */
		void *copy = malloc(spans[i].len);
		memcpy(copy, memory->data + spans[i].offset, spans[i].len);
		bool fine = spans[i].take(spans[i].self, copy, spans[i].len, err);
		free(copy);
		if (!fine) {
			return false;
		}
	}
	return true;
}

struct counter {
	struct ws_zip_sink sink;
	const struct ws_zip_entry *entry;
	uint64_t bytes;
	size_t ended;
};

static bool
begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct counter *c = (struct counter *)self;
	if (c->entry) {
		abort();
	}
	c->entry = entry;
	c->bytes = 0;
	return true;
}

static bool
take(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	struct counter *c = (struct counter *)self;
	c->bytes += len;
	if (!c->entry || !bytes || c->bytes > c->entry->size_bytes) {
		abort();
	}
	return true;
}

static bool
end(struct ws_zip_sink *self, struct ws_err *err WS_UNUSED)
{
	struct counter *c = (struct counter *)self;
	if (!c->entry || c->bytes != c->entry->size_bytes) {
		abort();
	}
	c->entry = NULL;
	c->ended++;
	return true;
}

static void
check_entry(const struct ws_zip *zip, const struct ws_zip_entry *entry)
{
	char path[2048];
	size_t len = strlen(entry->name);
	memcpy(path, entry->name, len + 1);
	if (entry->is_dir) {
		path[len - 1] = '\0';
	}
	if (!ws_path_is_inside(path) || ws_zip_find(zip, entry->name) != entry
		|| entry->end > zip->source->size || (entry->is_link && !zip->limits.is_sources)) {
		abort();
	}
}

/* True when it was read to its end. */
static bool
read_all(const uint8_t *data, size_t size, bool is_sources)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct memory memory = {{"fuzz", size, read_memory}, data};
	struct ws_zip_limits limits = {.total_bytes = 8 << 20, .is_sources = is_sources};
	struct ws_zip zip;
	struct ws_err err = {0};
	if (!ws_zip_open(&memory.source, &limits, a, &zip, &err)) {
		if (!zip.is_malformed || err.kind == WS_ERR_NONE) {
			abort();
		}
		return false;
	}
	const struct ws_zip_entry **all = WS_NEW_N(a, const struct ws_zip_entry *, zip.count);
	for (size_t i = 0; i < zip.count; i++) {
		all[i] = &zip.entries[i];
		check_entry(&zip, all[i]);
	}
	struct counter c = {.sink = {begin, take, end}};
	bool fine = ws_zip_read(&zip, all, zip.count, 0, &c.sink, &err);
	if (fine ? c.ended != zip.count : !zip.is_malformed) {
		abort();
	}
	return fine;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool as_wheel = read_all(data, size, false), as_sources = read_all(data, size, true);
	if (as_wheel && !as_sources) {
		abort(); /* what a wheel may have, sources may have */
	}
	return 0;
}
