/* record_held.c - names on both sides, then one pass over the bytes. */
#include "wheelfile/record_held.h"

#include "base/map.h"
#include "wheelfile/record.h"

/* A file of the wheel, beside what RECORD says of it. */
struct member {
	struct ws_digest says; /* "" where RECORD gives none */
	uint64_t size_bytes;
	bool listed;
};

struct recording {
	struct ws_map members; /* name -> struct member */
	struct ws_arena *a;
	const char *wrong; /* NULL: nothing so far */
};

static void
note_wrong(struct recording *r, const char *format, const char *name)
{
	if (!r->wrong) {
		r->wrong = ws_arena_printf(r->a, "RECORD %s '%s'", format, name);
	}
}

static bool
add_line(void *self, const struct ws_record_entry *line, struct ws_err *err WS_UNUSED)
{
	struct recording *r = self;
	const char *name = ws_str_copy(line->path, r->a);
	struct member *member = ws_map_get(&r->members, name);
	if (!member) {
		note_wrong(r, "lists what the wheel does not have:", name);
		return true;
	}
	if (member->listed) {
		note_wrong(r, "lists twice", name);
	}
	*member = (struct member){line->digest, line->size, true};
	return true;
}

static void
compare(void *self, const struct ws_zip_entry *entry, const struct ws_digest *sha256)
{
	struct recording *r = self;
	const struct member *member = ws_map_get(&r->members, entry->name);
	if (member->says.hex[0]
		&& (!ws_digest_eq(&member->says, sha256) || member->size_bytes != entry->size_bytes)) {
		note_wrong(r, "lies about", entry->name);
	}
}

bool
ws_record_held(struct ws_zip *zip, struct ws_str record, bool (*passes)(const char *name),
	struct ws_arena *a, const char **wrong, struct ws_err *err)
{
	struct recording r = {.a = a};
	const struct ws_zip_entry **files = WS_NEW_N(a, const struct ws_zip_entry *, zip->count);
	size_t count = 0;
	for (size_t i = 0; i < zip->count; i++) {
		if (!zip->entries[i].is_dir) {
			ws_map_put(&r.members, zip->entries[i].name, WS_NEW(a, struct member), a);
		}
	}
	if (!ws_record_read(record, a, add_line, &r, err)) {
		return false;
	}
	for (size_t i = 0; i < zip->count; i++) {
		const struct ws_zip_entry *entry = &zip->entries[i];
		const struct member *member = entry->is_dir ? NULL : ws_map_get(&r.members, entry->name);
		bool own = ws_record_is_own(ws_str_of(entry->name));
		if (member && !own && (!member->listed || !member->says.hex[0])) {
			note_wrong(&r, "gives no digest of", entry->name);
		}
		if (member && !(passes && passes(entry->name))) {
			files[count++] = entry;
		}
	}
	bool read = ws_zip_hash(zip, files, count, compare, &r, err);
	*wrong = r.wrong;
	return read;
}
