#include "publish/variant_wheel.h"

#include "base/fs.h"
#include "wheel/record_file.h"
#include "wheel/zip_writer.h"
#include "wheelfile/dist_info.h"

#define SCHEMA "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"
#define LARGEST_TEXT ((size_t)64 << 20)

/* ---- what it is called ---- */

const char *
ws_variant_label(const struct ws_index_entry *entry, struct ws_arena *a)
{
	const struct ws_wheel_label *place = entry->place_count == 1 ? entry->places : NULL;
	if (entry->kind != WS_INDEX_BOUND || !entry->facts || entry->forced || !place || !place->torch
		|| !place->cuda || place->archs.count == 0) {
		return NULL;
	}
	/* A label with more parts has no matching property: two wheels would get one name. */
	const char *archs = ws_arch_set_label(&place->archs, a);
	const char *all = ws_arena_printf(a, "cu.%s.torch.%s.%s", place->cuda, place->torch, archs);
	return strcmp(all, entry->labels[0]) == 0
		? ws_arena_printf(a, "cu%s_torch%s_sm%s", place->cuda, place->torch, archs + strlen("sm."))
		: NULL;
}

const char *
ws_variant_file(const struct ws_index_entry *entry, const char *label, struct ws_arena *a)
{
	const char *version = strchr(entry->file, '-') + 1;
	const char *tags = strchr(version, '-');
	return ws_arena_printf(a, "%.*s%s%.*s-%s.whl", (int)(version - entry->file), entry->file,
		entry->name.version.public_text, (int)(strlen(tags) - strlen(".whl")), tags, label);
}

struct ws_index_entry
ws_variant_entry(const struct ws_index_entry *entry, struct ws_arena *a)
{
	const struct ws_index_variant *v = entry->variant;
	struct ws_index_entry shown = *entry;
	shown.file = v->file;
	shown.sha256 = v->sha256;
	shown.metadata_sha256 = v->metadata_sha256;
	shown.size_bytes = v->size_bytes;
	shown.uploaded = v->uploaded;
	ws_version_parse(entry->name.version.public_text, a, &shown.name.version);
	return shown;
}

/* ---- variant.json ---- */

static void
add_variant(struct ws_json_writer *w, const struct ws_index_entry *entry, const char *label,
	struct ws_arena *a)
{
	const struct ws_wheel_label *place = entry->places;
	WS_VEC(const char *) archs = {0};
	for (size_t i = 0; i < place->archs.count; i++) {
		const struct ws_arch *arch = &place->archs.at[i];
		const char *suffix = arch->suffix ? ws_arena_copy(a, &arch->suffix, 1) : "";
		for (int ptx = 0; ptx <= arch->ptx; ptx++) {
			*ws_vec_push(&archs, a) =
				ws_arena_printf(a, "%u%s_%s", arch->number, suffix, ptx ? "virtual" : "real");
		}
	}
	qsort(archs.at, archs.len, sizeof(*archs.at), ws_cmp_strings);
	ws_json_open_object(w, label);
	ws_json_open_object(w, "abi_dependency");
	ws_json_add_texts(w, "torch", &place->torch, 1);
	ws_json_close(w);
	ws_json_open_object(w, "nvidia");
	ws_json_add_texts(w, "cuda_version_lower_bound", &place->cuda, 1);
	ws_json_add_texts(w, "sm_arch", archs.at, archs.len);
	ws_json_close(w);
	ws_json_close(w);
}

void
ws_variant_json(const struct ws_index_entry *const *entries, size_t count, struct ws_arena *a,
	struct ws_buf *out)
{
	static const char *const namespaces[] = {"nvidia", "abi_dependency"}; /* in order of priority */
	struct ws_json_writer *w = ws_json_begin_object();
	struct ws_map labels = {0};
	ws_json_add_text(w, "$schema", SCHEMA);
	ws_json_open_object(w, "default-priorities");
	ws_json_add_texts(w, "namespace", namespaces, WS_LEN(namespaces));
	ws_json_close(w);
	ws_json_open_object(w, "variants");
	for (size_t i = 0; i < count; i++) {
		const char *label = ws_variant_label(entries[i], a);
		if (ws_map_add(&labels, label, a)) { /* one wheel for each Python */
			add_variant(w, entries[i], label, a);
		}
	}
	ws_json_finish(w, WS_JSON_PRETTY, out);
}

/* ---- the wheel ---- */

struct making {
	const struct ws_index_entry *entry;
	struct ws_zip *zip;
	const char *from, *to; /* "demo-1.0+cu.13.0": what names of folders begin with; "demo-1.0" */
	struct ws_map lines;   /* name -> struct ws_record_entry, of the old RECORD */
	WS_VEC(struct ws_wheel_entry) entries;
	struct ws_buf record;
	struct ws_arena *a;
};

static const char *
name_of(const struct making *m, const char *name)
{
	size_t len = strlen(m->from);
	bool own = ws_starts_with(name, m->from) && name[len] == '.';
	return own ? ws_arena_printf(m->a, "%s%s", m->to, name + len) : name;
}

static bool
add_line(void *self, const struct ws_record_entry *line, struct ws_err *err WS_UNUSED)
{
	struct making *m = self;
	struct ws_record_entry *kept = WS_NEW(m->a, struct ws_record_entry);
	*kept = *line;
	ws_map_put(&m->lines, ws_arena_copy(m->a, line->path.s, line->path.n), kept, m->a);
	return true;
}

static void
add_bytes(struct making *m, const char *name, struct ws_str bytes)
{
	struct ws_digest digest = ws_digest_bytes(bytes.s, bytes.n);
	*ws_vec_push(&m->entries, m->a) =
		(struct ws_wheel_entry){.name = name, .bytes = bytes.s, .len = bytes.n};
	ws_record_add(&m->record, name, &digest, bytes.n);
}

/* Replaces the field "Version" in the head by the public version. */
static void
write_metadata(struct ws_str old, const char *version, struct ws_buf *out)
{
	bool head = true, in_version = false;
	while (old.n > 0) {
		const char *end = memchr(old.s, '\n', old.n);
		size_t len = end ? (size_t)(end - old.s) + 1 : old.n;
		bool goes_on = old.s[0] == ' ' || old.s[0] == '\t';
		bool begins = len > strlen("Version:") && strncasecmp(old.s, "Version:", 8) == 0;
		head = head && old.s[0] != '\n' && old.s[0] != '\r';
		in_version = head && (begins || (goes_on && in_version));
		if (!in_version) {
			ws_buf_add(out, old.s, len);
		} else if (begins) {
			ws_buf_printf(out, "Version: %s\n", version);
		}
		old = (struct ws_str){old.s + len, old.n - len};
	}
}

/* Adds all members under their new names: METADATA and variant.json with new bytes, RECORD last. */
static bool
add_members(struct making *m, const char *folder, struct ws_str metadata, struct ws_str json,
	struct ws_err *err)
{
	const char *facts = ws_path_join(m->a, folder, "METADATA", NULL);
	const char *variant = ws_path_join(m->a, folder, "variant.json", NULL);
	for (size_t i = 0; i < m->zip->count; i++) {
		const struct ws_zip_entry *member = &m->zip->entries[i];
		const struct ws_record_entry *line = ws_map_get(&m->lines, member->name);
		const char *name = name_of(m, member->name);
		if (member->is_dir || ws_record_is_own(ws_str_of(member->name))
			|| strcmp(member->name, variant) == 0) {
			continue; /* signatures of the old RECORD are invalid */
		}
		if (strcmp(member->name, facts) == 0) {
			add_bytes(m, name, metadata);
			continue;
		}
		if (!line || !line->digest.hex[0]) {
			return ws_err_set(err, WS_ERR_PUBLISH, "RECORD gives no digest of '%s'", member->name);
		}
		*ws_vec_push(&m->entries, m->a) =
			(struct ws_wheel_entry){.name = name, .again = member->name};
		ws_record_add(&m->record, name, &line->digest, line->size);
	}
	add_bytes(m, name_of(m, variant), json);
	const char *own = name_of(m, ws_path_join(m->a, folder, "RECORD", NULL));
	ws_record_add(&m->record, own, NULL, 0);
	*ws_vec_push(&m->entries, m->a) = (struct ws_wheel_entry){
		.name = own, .bytes = ws_buf_text(&m->record), .len = m->record.len};
	return true;
}

static bool
make(
	struct making *m, const char *path, const char *to, struct ws_buf *metadata, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf old = {0};
	WS_AUTO_BUF struct ws_buf record = {0};
	WS_AUTO_BUF struct ws_buf json = {0};
	const char *folder = ws_dist_info_folder(m->zip, m->a, err);
	const char *version = m->entry->name.version.public_text;
	if (!folder || !ws_dist_info_load(m->zip, folder, "METADATA", &old, err)) {
		return false;
	}
	const struct ws_zip_entry *listed =
		ws_zip_find(m->zip, ws_path_join(m->a, folder, "RECORD", NULL));
	if (!listed) {
		return ws_err_set(err, WS_ERR_PUBLISH, "the wheel has no RECORD");
	}
	/* The name may contain dashes, the version does not. */
	m->from = ws_arena_copy(m->a, folder, strlen(folder) - strlen(".dist-info"));
	m->to =
		ws_arena_printf(m->a, "%.*s-%s", (int)(strrchr(m->from, '-') - m->from), m->from, version);
	write_metadata(ws_buf_str(&old), version, metadata);
	ws_variant_json(&m->entry, 1, m->a, &json);
	return ws_zip_load(m->zip, listed, LARGEST_TEXT, &record, err)
		&& ws_record_read(ws_buf_str(&record), false, m->a, add_line, m, err)
		&& add_members(m, folder, ws_buf_str(metadata), ws_buf_str(&json), err)
		&& ws_pack_write(to, path, m->entries.at, m->entries.len, 0, err);
}

bool
ws_variant_make(const struct ws_index_entry *entry, const char *path, const char *to,
	struct ws_arena *a, struct ws_buf *metadata, struct ws_err *err)
{
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	struct ws_zip zip;
	struct making m = {.entry = entry, .zip = &zip, .a = a};
	if (!ws_file_source_open(path, &file, err)) {
		return false;
	}
	file.source.name = entry->file;
	bool made = ws_zip_open(&file.source, NULL, a, &zip, err) && make(&m, path, to, metadata, err);
	ws_buf_release(&m.record);
	return made || ws_err_wrap(err, "'%s'", entry->file) || ws_index_err(err);
}

/* ---- one wheel, packed twice ---- */

struct listing {
	WS_VEC(const char *) lines;
	struct ws_arena *a;
};

static void
note(void *self, const struct ws_zip_entry *entry, const struct ws_digest *sha256)
{
	struct listing *l = self;
	*ws_vec_push(&l->lines, l->a) =
		ws_arena_printf(l->a, "%s %o %s", entry->name, (unsigned)entry->mode, sha256->hex);
}

/* Names, modes and digests of all files, sorted; NULL: it cannot be read. */
static const char *
list(const char *path, struct ws_arena *a)
{
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	struct ws_zip zip;
	struct listing l = {.a = a};
	if (!ws_file_source_open(path, &file, NULL)
		|| !ws_zip_open(&file.source, NULL, a, &zip, NULL)) {
		return NULL;
	}
	const struct ws_zip_entry **all = WS_NEW_N(a, const struct ws_zip_entry *, zip.count + 1);
	for (size_t i = 0; i < zip.count; i++) {
		all[i] = &zip.entries[i];
	}
	if (!ws_zip_hash(&zip, all, zip.count, note, &l, NULL)) {
		return NULL;
	}
	size_t count = ws_sort_once(l.lines.at, l.lines.len);
	return ws_join(l.lines.at, count, "\n", a);
}

bool
ws_index_same_wheel(const char *path, const char *other)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *left = list(path, a);
	const char *right = list(other, a);
	return left && ws_same(left, right);
}
