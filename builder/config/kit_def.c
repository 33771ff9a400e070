/* kit_def.c - the table of a kit definition. Assembling one is kit/. */
#include "config/kit_def.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/values.h"

/* "bin/nvcc", or a folder as "bin/". */
static bool
read_mapped(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a path");
	if (!text) {
		return false;
	}
	size_t len = strlen(text);
	const char *plain = ws_arena_copy(r->a, text, len - (text[len - 1] == '/'));
	if (!ws_path_is_inside(plain)) {
		return ws_json_err(r->doc, value, r->err, "'%s' leaves its folder", text);
	}
	*(const char **)into = text;
	return true;
}

static const struct ws_type type_mapped = WS_VALUES(char *, "a path", "paths", read_mapped);

static const struct ws_field map_fields[] = {
	{WS_ONE(struct ws_map_entry, from, "from", type_mapped), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_map_entry, to, "to", type_mapped), .flags = WS_FIELD_REQUIRED},
};
static const struct ws_table map_table = {"a map entry", map_fields, WS_LEN(map_fields)};

static bool
read_map_entry(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_map_entry *entry = into;
	if (!ws_object_read(r, value, &map_table, entry)) {
		return false;
	}
	return ws_ends_with(entry->from, "/") == ws_ends_with(entry->to, "/")
		|| ws_json_err(r->doc, value, r->err, "a folder is mapped to a folder, a file to a file");
}

static const struct ws_type type_map_entry = WS_OBJECTS(struct ws_map_entry, read_map_entry);

/* Fields of every kind of archive. */
#define ARCHIVE_FIELDS \
	{WS_ONE(struct ws_kit_archive, version, "version", ws_type_line), .flags = WS_FIELD_REQUIRED}, \
		{WS_ONE(struct ws_kit_archive, file, "file", ws_type_inside), .flags = WS_FIELD_REQUIRED}, \
		{WS_ONE(struct ws_kit_archive, sha256, "sha256", ws_type_sha256), \
			.flags = WS_FIELD_REQUIRED}, \
		{WS_ONE(struct ws_kit_archive, size, "size", ws_type_size)}, \
	{ \
		WS_MANY(struct ws_kit_archive, map, map_count, "map", type_map_entry), \
			.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED \
	}

static const struct ws_field index_fields[] = {
	{WS_ONE(struct ws_kit_archive, package, "index", ws_type_package), .flags = WS_FIELD_REQUIRED},
	ARCHIVE_FIELDS,
	{WS_ONE(struct ws_kit_archive, by_range, "by_range", ws_value_bool)},
	{WS_ONE(struct ws_kit_archive, record, "record", ws_type_inside)},
	{WS_ONE(struct ws_kit_archive, record_sha256, "record_sha256", ws_type_sha256)},
};
static const struct ws_field debian_fields[] = {
	{WS_ONE(struct ws_kit_archive, package, "debian", ws_type_line), .flags = WS_FIELD_REQUIRED},
	ARCHIVE_FIELDS,
	{WS_ONE(struct ws_kit_archive, pool, "pool", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{.key = "suite", .type = &ws_type_ignored},
};
static const struct ws_field url_fields[] = {
	{WS_ONE(struct ws_kit_archive, pool, "url", ws_type_url), .flags = WS_FIELD_REQUIRED},
	ARCHIVE_FIELDS,
};

/* The key that selects the origin of an archive, and its other fields. */
static const struct {
	const char *key;
	enum ws_archive_origin origin;
	struct ws_table table;
} origins[] = {
	{"index", WS_ORIGIN_INDEX, {"an archive of an index", index_fields, WS_LEN(index_fields)}},
	{"debian", WS_ORIGIN_DEBIAN, {"a Debian archive", debian_fields, WS_LEN(debian_fields)}},
	{"url", WS_ORIGIN_URL, {"an archive by URL", url_fields, WS_LEN(url_fields)}},
};

static bool
read_archive(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_kit_archive *archive = into;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object")) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(origins); i++) {
		if (!ws_json_find(value, origins[i].key)) {
			continue;
		}
		archive->origin = origins[i].origin;
		if (!ws_object_read(r, value, &origins[i].table, archive)) {
			return false;
		}
		archive->format = ws_ends_with(archive->file, ".whl") ? WS_FORMAT_WHEEL
			: ws_ends_with(archive->file, ".deb")             ? WS_FORMAT_DEB
															  : WS_FORMAT_TAR;
		archive->package = archive->package ? archive->package : ws_path_base(archive->file);
		/* Members are checked against RECORD, RECORD against its own digest: one without the other,
		 * or ranges without both, would leave bytes unchecked. */
		if (!archive->record != !archive->record_sha256) {
			return ws_json_err(r->doc, value, r->err, "'record' and 'record_sha256' go together");
		}
		return !archive->by_range || (archive->record && archive->format == WS_FORMAT_WHEEL)
			|| ws_json_err(r->doc, value, r->err,
				"'by_range' needs a wheel with 'record' and 'record_sha256'");
	}
	return ws_json_err(r->doc, value, r->err, "an archive needs 'index', 'debian' or 'url'");
}

static bool
read_mode(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a mode");
	if (text && strcmp(text, "0644") != 0 && strcmp(text, "0755") != 0) {
		return ws_json_err(r->doc, value, r->err, "'%s' takes \"0644\" or \"0755\"", r->key);
	}
	*(mode_t *)into = text && text[1] == '7' ? 0755 : 0644;
	return text;
}

static const struct ws_type type_mode = WS_VALUES(mode_t, "a mode", "modes", read_mode);

static const struct ws_field file_fields[] = {
	{WS_ONE(struct ws_kit_file, path, "path", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_kit_file, text, "text", ws_type_text), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_kit_file, mode, "mode", type_mode)},
};
static const struct ws_table file_table = {"a file", file_fields, WS_LEN(file_fields)};

static bool
read_file(struct ws_reader *r, const struct ws_json *value, void *into)
{
	((struct ws_kit_file *)into)->mode = 0644;
	return ws_object_read(r, value, &file_table, into);
}

static const struct ws_field link_fields[] = {
	{WS_ONE(struct ws_kit_link, path, "path", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_kit_link, target, "target", ws_type_line), .flags = WS_FIELD_REQUIRED},
};
static const struct ws_table link_table = {"a link", link_fields, WS_LEN(link_fields)};

static bool
read_link(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const struct ws_kit_link *link = into;
	if (!ws_object_read(r, value, &link_table, into)) {
		return false;
	}
	const char *end = ws_path_join(r->a, ws_path_dir(r->a, link->path), link->target, NULL);
	return ws_path_is_inside(ws_path_normal(r->a, end))
		|| ws_json_err(
			r->doc, ws_json_find(value, "target"), r->err, "'%s' leaves the kit", link->target);
}

static const struct ws_type type_archive = WS_OBJECTS(struct ws_kit_archive, read_archive);
static const struct ws_type type_file = WS_OBJECTS(struct ws_kit_file, read_file);
static const struct ws_type type_link = WS_OBJECTS(struct ws_kit_link, read_link);

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_ONE(struct ws_kit_def, name, "name", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_kit_def, cuda, "cuda", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_kit_def, nvcc, "nvcc", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{.key = "platform", .type = &ws_type_ignored},
	{WS_MANY(struct ws_kit_def, archives, archive_count, "archives", type_archive),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_kit_def, files, file_count, "files", type_file), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_kit_def, links, link_count, "links", type_link), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_kit_def, executables, executable_count, "executables", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
	{.key = "note", .type = &ws_type_ignored},
};
static const struct ws_table table = {"a kit definition", fields, WS_LEN(fields)};

bool
ws_kit_def_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	*def = (struct ws_kit_def){.digest = ws_digest_bytes(doc->text, doc->len)};
	return ws_object_read(&r, doc->root, &table, def);
}

bool
ws_kit_def_read(const char *path, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err)
{
	struct ws_document document;
	return ws_document_read(path, "kit definition", a, &document, err)
		&& ws_kit_def_parse(document.doc, a, def, err);
}
