#include "publish/catalog.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA "wheelsmith.index/1"

static const char *const kinds[] = {
	[WS_INDEX_UNPLACED] = "unplaced",
	[WS_INDEX_NONE] = "none",
	[WS_INDEX_C_ABI] = "c-abi",
	[WS_INDEX_STABLE] = "stable-abi",
	[WS_INDEX_BOUND] = "bound",
};

/* ---- what follows from the rest ---- */

/* A bit for each of CPython 3.7 to 3.37; free-threaded ones in the upper half. */
static uint64_t
pythons_of(const struct ws_wheel_name *name)
{
	const struct ws_machine *machine = ws_wheel_name_machine(name);
	uint64_t mask = 0;
	for (unsigned i = 0; i < 62; i++) {
		struct ws_python_tag tag = {3, 7 + i % 31, i >= 31};
		if ((!tag.free_threaded || tag.minor >= 13)
			&& ws_wheel_fit(name, &tag, machine ? machine : ws_machine_host(), 2, WS_ANY_GLIBC)
				> 0) {
			mask |= (uint64_t)1 << i;
		}
	}
	return mask;
}

bool
ws_index_entry_complete(struct ws_index_entry *entry, struct ws_arena *a, const char **why)
{
	if (!ws_wheel_name_parse(entry->file, a, &entry->name, why)) {
		return false;
	}
	entry->pythons = pythons_of(&entry->name);
	entry->places = WS_NEW_N(a, struct ws_wheel_label, entry->place_count);
	for (size_t i = 0; i < entry->place_count; i++) {
		entry->places[i] = ws_wheel_label_read(entry->labels[i], a);
	}
	return true;
}

static int
cmp_entries(const void *x, const void *y)
{
	const struct ws_index_entry *left = x;
	const struct ws_index_entry *right = y;
	int order = strcmp(left->name.distribution, right->name.distribution);
	order = order ? order : ws_version_cmp(&left->name.version, &right->name.version);
	return order ? order : strcmp(left->file, right->file);
}

void
ws_index_catalog_sort(struct ws_index_catalog *catalog)
{
	if (catalog->entries.len > 0) {
		qsort(catalog->entries.at, catalog->entries.len, sizeof(*catalog->entries.at), cmp_entries);
	}
}

/* ---- reading ---- */

static bool
read_kind(const char *text, enum ws_index_kind *kind)
{
	for (size_t i = 0; text && i < WS_LEN(kinds); i++) {
		if (strcmp(kinds[i], text) == 0) {
			*kind = (enum ws_index_kind)i;
			return true;
		}
	}
	return false;
}

static bool
read_labels(const struct ws_json *list, struct ws_index_entry *entry, struct ws_arena *a)
{
	const char **labels = WS_NEW_N(a, const char *, list ? list->count : 0);
	if (!list || list->kind != WS_JSON_ARRAY) {
		return false;
	}
	for (WS_JSON_EACH(item, list)) {
		if (item->kind != WS_JSON_STRING) {
			return false;
		}
		labels[entry->place_count++] = item->text;
	}
	entry->labels = labels;
	return true;
}

static bool
is_sha256(const char *text)
{
	struct ws_digest digest;
	return text && ws_digest_parse(text, &digest) && ws_digest_is(&digest, text);
}

/* "variant"; most wheels have none. */
static bool
read_variant(const struct ws_json *item, struct ws_index_entry *entry, struct ws_arena *a)
{
	if (!item) {
		return true;
	}
	struct ws_index_variant *v = WS_NEW(a, struct ws_index_variant);
	*v = (struct ws_index_variant){
		.file = ws_json_text(item, "file"),
		.label = ws_json_text(item, "label"),
		.sha256 = ws_json_text(item, "sha256"),
		.metadata_sha256 = ws_json_text(item, "metadata_sha256"),
		.uploaded = ws_json_text(item, "uploaded"),
	};
	entry->variant = v;
	return v->file && v->label && v->uploaded && is_sha256(v->sha256)
		&& is_sha256(v->metadata_sha256) && !strchr(v->file, '/')
		&& ws_json_u64(item, "size", &v->size_bytes);
}

static bool
read_entry(const struct ws_json *item, struct ws_index_entry *entry, struct ws_arena *a)
{
	const char *why;
	const struct ws_json *facts = ws_json_find(item, "wheelsmith");
	*entry = (struct ws_index_entry){
		.file = ws_json_text(item, "file"),
		.sha256 = ws_json_text(item, "sha256"),
		.metadata_sha256 = ws_json_text(item, "metadata_sha256"),
		.uploaded = ws_json_text(item, "uploaded"),
		.requires_python = ws_json_text(item, "requires_python"),
		.yanked = ws_json_text(item, "yanked"),
		.forced = ws_json_text(item, "forced"),
		.facts = facts && facts->kind == WS_JSON_OBJECT ? facts : NULL,
	};
	return entry->file && entry->uploaded && is_sha256(entry->sha256)
		&& is_sha256(entry->metadata_sha256) && ws_json_u64(item, "size", &entry->size_bytes)
		&& read_kind(ws_json_text(item, "binding"), &entry->kind)
		&& read_labels(ws_json_find(item, "places"), entry, a)
		&& read_variant(ws_json_find(item, "variant"), entry, a)
		&& ws_index_entry_complete(entry, a, &why);
}

static bool
check_schema(const char *path, const char *schema, struct ws_err *err)
{
	if (schema && strcmp(schema, SCHEMA) == 0) {
		return true;
	}
	if (schema && ws_starts_with(schema, "wheelsmith.index/")) {
		ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' was written by a newer wheelsmith (%s)", path, schema);
		return ws_err_cure(err, "publish with that version, or to another folder");
	}
	return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not the list of an index of ours", path);
}

bool
ws_index_catalog_read(
	const char *path, struct ws_arena *a, struct ws_index_catalog *catalog, struct ws_err *err)
{
	struct ws_json_doc doc;
	*catalog = (struct ws_index_catalog){0};
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		if (err) {
			err->kind = WS_ERR_PUBLISH;
		}
		return false;
	}
	const struct ws_json *list = ws_json_find(doc.root, "wheels");
	if (!check_schema(path, ws_json_text(doc.root, "schema"), err)) {
		return false;
	}
	catalog->snapshot = ws_json_text(doc.root, "snapshot");
	catalog->title = ws_json_text(doc.root, "title");
	if (!catalog->snapshot || !list || list->kind != WS_JSON_ARRAY) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is damaged: no snapshot, or no wheels", path);
	}
	for (WS_JSON_EACH(item, list)) {
		if (!read_entry(item, ws_vec_push(&catalog->entries, a), a)) {
			return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is damaged: wheel %zu of its list", path,
				catalog->entries.len);
		}
	}
	ws_index_catalog_sort(catalog);
	return true;
}

/* ---- writing ---- */

static void
write_variant(struct ws_json_writer *w, const struct ws_index_variant *v)
{
	ws_json_open_object(w, "variant");
	ws_json_add_text(w, "file", v->file);
	ws_json_add_text(w, "label", v->label);
	ws_json_add_text(w, "sha256", v->sha256);
	ws_json_add_text(w, "metadata_sha256", v->metadata_sha256);
	ws_json_add_u64(w, "size", v->size_bytes);
	ws_json_add_text(w, "uploaded", v->uploaded);
	ws_json_close(w);
}

static void
write_entry(struct ws_json_writer *w, const struct ws_index_entry *entry)
{
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "file", entry->file);
	ws_json_add_text(w, "package", entry->name.distribution);
	ws_json_add_text(w, "version", entry->name.version.text);
	ws_json_add_text(w, "sha256", entry->sha256);
	ws_json_add_text(w, "metadata_sha256", entry->metadata_sha256);
	ws_json_add_u64(w, "size", entry->size_bytes);
	ws_json_add_text(w, "uploaded", entry->uploaded);
	ws_json_add_text(w, "requires_python", entry->requires_python);
	ws_json_add_text(w, "yanked", entry->yanked);
	ws_json_add_text(w, "forced", entry->forced);
	ws_json_add_text(w, "binding", kinds[entry->kind]);
	ws_json_add_texts(w, "places", entry->labels, entry->place_count);
	if (entry->facts) {
		ws_json_add_copy(w, "wheelsmith", entry->facts);
	} else {
		ws_json_add_null(w, "wheelsmith");
	}
	if (entry->variant) {
		write_variant(w, entry->variant);
	}
	ws_json_close(w);
}

void
ws_index_catalog_write(const struct ws_index_catalog *catalog, const struct ws_index_path *paths,
	size_t path_count, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", SCHEMA);
	ws_json_add_text(w, "wheelsmith", WS_VERSION);
	ws_json_add_text(w, "snapshot", catalog->snapshot);
	if (catalog->title) {
		ws_json_add_text(w, "title", catalog->title);
	}
	ws_json_open_list(w, "wheels");
	for (size_t i = 0; i < catalog->entries.len; i++) {
		write_entry(w, &catalog->entries.at[i]);
	}
	ws_json_close(w);
	ws_json_open_list(w, "paths");
	for (size_t i = 0; i < path_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "path", paths[i].path);
		ws_json_open_list(w, "files");
		for (size_t j = 0; j < paths[i].count; j++) {
			ws_json_add_text(w, NULL, paths[i].entries[j]->file);
		}
		ws_json_close(w);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_PRETTY, out);
}

/* ---- yanking ---- */

static bool
is_meant(const struct ws_index_entry *entry, const char *what, struct ws_arena *a)
{
	const char *sign = strstr(what, "==");
	struct ws_version version;
	if (!sign) {
		return strcmp(entry->file, what) == 0
			|| (entry->variant && strcmp(entry->variant->file, what) == 0);
	}
	const char *name = ws_package_normal(ws_arena_copy(a, what, (size_t)(sign - what)), a);
	const struct ws_version *own = &entry->name.version;
	return strcmp(name, entry->name.distribution) == 0 && ws_version_parse(sign + 2, a, &version)
		&& (version.local ? ws_version_cmp(&version, own) : ws_version_cmp_public(&version, own))
		== 0;
}

size_t
ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason, bool *edited,
	struct ws_arena *a)
{
	size_t meant = 0;
	for (size_t i = 0; i < catalog->entries.len; i++) {
		struct ws_index_entry *entry = &catalog->entries.at[i];
		if (is_meant(entry, what, a)) {
			*edited = *edited || !ws_same(entry->yanked, reason);
			entry->yanked = reason;
			meant++;
		}
	}
	return meant;
}
