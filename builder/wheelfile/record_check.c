/* record_check.c - lines by path, names on both sides, bytes beside their line. */
#include "wheelfile/record_check.h"

static int
by_path(const void *x, const void *y)
{
	return ws_str_cmp(
		((const struct ws_record_entry *)x)->path, ((const struct ws_record_entry *)y)->path);
}

static bool
add_line(void *self, const struct ws_record_entry *line, struct ws_err *err WS_UNUSED)
{
	struct ws_held_record *r = self;
	*ws_vec_push(&r->lines, r->a) = *line;
	return true;
}

static const struct ws_record_entry *
find_line(const struct ws_held_record *r, const char *path)
{
	struct ws_record_entry wanted = {.path = ws_str_of(path)};
	return r->lines.len == 0
		? NULL
		: bsearch(&wanted, r->lines.at, r->lines.len, sizeof(*r->lines.at), by_path);
}

bool
ws_held_record_read(
	struct ws_held_record *r, struct ws_str text, bool installed, struct ws_err *err)
{
	bool fine = ws_record_read(text, installed, r->a, add_line, r, err);
	if (r->lines.len > 1) {
		qsort(r->lines.at, r->lines.len, sizeof(*r->lines.at), by_path);
	}
	for (size_t i = 1; i < r->lines.len; i++) {
		struct ws_str path = r->lines.at[i].path;
		if (ws_str_eq(path, r->lines.at[i - 1].path)) {
			r->on_wrong(r->self, ws_arena_printf(r->a, "'%.*s' is repeated", WS_STR_ARGS(path)));
		}
	}
	return fine;
}

void
ws_held_record_names(const struct ws_held_record *r, const struct ws_zip *zip)
{
	for (size_t i = 0; i < zip->count; i++) {
		const struct ws_zip_entry *entry = &zip->entries[i];
		bool own = ws_record_is_own(ws_str_of(entry->name));
		if (!entry->is_dir && !own && !find_line(r, entry->name)) {
			r->on_wrong(r->self,
				ws_arena_printf(r->a, "'%s' is in the wheel and not in RECORD", entry->name));
		}
	}
	for (size_t i = 0; i < r->lines.len; i++) {
		const char *path = ws_str_copy(r->lines.at[i].path, r->a);
		const struct ws_zip_entry *entry = ws_zip_find(zip, path);
		if (!entry || entry->is_dir) {
			r->on_wrong(
				r->self, ws_arena_printf(r->a, "'%s' is in RECORD and not in the wheel", path));
		}
	}
}

bool
ws_held_record_file(const struct ws_held_record *r, const char *name, uint64_t size_bytes,
	const struct ws_digest *digest)
{
	const struct ws_record_entry *line = find_line(r, name);
	if (!line || !line->digest.hex[0]) {
		return false;
	}
	if (line->size == size_bytes && ws_digest_eq(&line->digest, digest)) {
		return true;
	}
	r->on_wrong(r->self,
		line->size != size_bytes
			? ws_arena_printf(r->a, "'%s' has %ju bytes, not %ju as in RECORD", name,
				(uintmax_t)size_bytes, (uintmax_t)line->size)
			: ws_arena_printf(r->a, "'%s' does not match its digest in RECORD", name));
	return false;
}

/* ---- all of it at once ---- */

static void
keep_first(void *self, const char *what)
{
	const char **wrong = self;
	*wrong = *wrong ? *wrong : what;
}

static void
hold(void *self, const struct ws_zip_entry *entry, const struct ws_digest *sha256)
{
	ws_held_record_file(self, entry->name, entry->size_bytes, sha256);
}

bool
ws_record_held(struct ws_zip *zip, struct ws_str record, struct ws_arena *a, const char **wrong,
	struct ws_err *err)
{
	struct ws_held_record r = {.on_wrong = keep_first, .self = wrong, .a = a};
	const struct ws_zip_entry **files = WS_NEW_N(a, const struct ws_zip_entry *, zip->count);
	size_t count = 0;
	*wrong = NULL;
	if (!ws_held_record_read(&r, record, false, err)) {
		return false;
	}
	ws_held_record_names(&r, zip);
	for (size_t i = 0; i < zip->count; i++) {
		const struct ws_zip_entry *entry = &zip->entries[i];
		if (!entry->is_dir) {
			files[count++] = entry;
		}
	}
	return ws_zip_hash(zip, files, count, hold, &r, err);
}
