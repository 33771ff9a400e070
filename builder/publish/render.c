#include "publish/render.h"

#define FILES "../../../files/"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
						   "<meta charset=\"utf-8\">\n"
						   "<meta name=\"pypi:repository-version\" content=\"1.1\">\n"
						   "<title>%s</title>\n</head>\n<body>\n";
static const char tail[] = "</body>\n</html>\n";

void
ws_index_put_html(struct ws_buf *out, const char *text)
{
	static const char marks[] = "&<>\"'";
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#x27;"};
	size_t left = strlen(text);
	while (left > 0) {
		size_t len = ws_utf8_len(text, left);
		const char *mark = strchr(marks, *text);
		if (len == 0) {
			ws_buf_puts(out, "\xef\xbf\xbd"); /* not UTF-8 */
			len = 1;
		} else if (mark) {
			ws_buf_puts(out, entities[mark - marks]);
		} else if ((unsigned char)*text < ' ' || *text == 0x7f) {
			ws_buf_putc(out, ' ');
		} else {
			ws_buf_add(out, text, len);
		}
		text += len;
		left -= len;
	}
}

void
ws_index_put_url(struct ws_buf *out, const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (const char *c = text; *c; c++) {
		if (strchr(plain, *c)) {
			ws_buf_putc(out, *c);
		} else {
			ws_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*c);
		}
	}
}

static void
put_attribute(struct ws_buf *out, const char *name, const char *value)
{
	ws_buf_printf(out, " %s=\"", name);
	ws_index_put_html(out, value);
	ws_buf_putc(out, '"');
}

/* Wheels lie in files/, other files beside the page. */
static const char *
url_of(const void *value, struct ws_arena *a)
{
	const struct ws_index_entry *entry = value;
	WS_AUTO_BUF struct ws_buf url = {0};
	ws_buf_puts(&url, entry->metadata_sha256 ? FILES : "");
	ws_index_put_url(&url, entry->file);
	return ws_buf_copy(&url, a);
}

static void
put_link(struct ws_buf *out, const struct ws_index_entry *entry)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_buf_printf(out, "<a href=\"%s#sha256=%s\"", url_of(entry, a), entry->sha256);
	if (entry->requires_python) {
		put_attribute(out, "data-requires-python", entry->requires_python);
	}
	if (entry->yanked) {
		put_attribute(out, "data-yanked", entry->yanked);
	}
	if (entry->metadata_sha256) {
		ws_buf_printf(out, " data-core-metadata=\"sha256=%s\"", entry->metadata_sha256);
	}
	ws_buf_puts(out, ">");
	ws_index_put_html(out, entry->file);
	ws_buf_puts(out, "</a><br>\n");
}

void
ws_index_page_html(const struct ws_index_entry *const *entries, size_t count, struct ws_buf *out)
{
	const char *package = entries[count - 1]->name.distribution; /* letters, digits, '-' */
	ws_buf_printf(out, head, package);
	ws_buf_printf(out, "<h1>%s</h1>\n", package);
	for (size_t i = 0; i < count; i++) {
		put_link(out, entries[i]);
	}
	ws_buf_puts(out, tail);
}

/* ---- JSON for installers ---- */

#define ENTRY struct ws_index_entry
static const struct ws_type type_url = {.kind = WS_KIND_OTHER, .text = url_of};

static const struct ws_field hash_fields[] = {WS_VALUE("sha256", ENTRY, sha256, WS_ALWAYS, NULL)};
static const struct ws_table hash_table = {NULL, hash_fields, WS_LEN(hash_fields)};
static const struct ws_field metadata_fields[] = {
	WS_VALUE("sha256", ENTRY, metadata_sha256, WS_IF_ANY, NULL)};
static const struct ws_table metadata_table = {NULL, metadata_fields, WS_LEN(metadata_fields)};
static const struct ws_field file_fields[] = {
	WS_VALUE("filename", ENTRY, file, WS_ALWAYS, NULL),
	{.key = "url", .type = &type_url, .flags = WS_ALWAYS},
	WS_PART("hashes", hash_table, WS_ALWAYS, NULL),
	WS_VALUE("requires-python", ENTRY, requires_python, WS_IF_ANY, NULL),
	WS_VALUE("size", ENTRY, size_bytes, WS_ALWAYS, NULL),
	WS_VALUE("upload-time", ENTRY, uploaded, WS_ALWAYS, NULL),
	WS_PART("core-metadata", metadata_table, WS_IF_ANY, NULL),
};
static const struct ws_table file_table = {NULL, file_fields, WS_LEN(file_fields)};

static const struct ws_field meta_fields[] = {WS_FIXED("api-version", "1.1")};
static const struct ws_table meta_table = {NULL, meta_fields, WS_LEN(meta_fields)};

void
ws_index_page_json(const struct ws_index_entry *const *entries, size_t count, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	const char *last = NULL;
	ws_table_write(w, "meta", &meta_table, entries);
	ws_json_add_text(w, "name", entries[count - 1]->name.distribution);
	ws_json_open_list(w, "versions");
	for (size_t i = 0; i < count; i++) { /* sorted by version */
		const char *version = entries[i]->name.version.text;
		if (entries[i]->metadata_sha256 && !ws_same(version, last)) {
			ws_json_add_text(w, NULL, version);
			last = version;
		}
	}
	ws_json_close(w);
	ws_json_open_list(w, "files");
	for (size_t i = 0; i < count; i++) {
		const char *yanked = entries[i]->yanked;
		ws_json_open_object(w, NULL);
		ws_table_write_members(w, &file_table, entries[i]);
		if (yanked && yanked[0]) {
			ws_json_add_text(w, "yanked", yanked);
		} else if (entries[i]->metadata_sha256) {
			ws_json_add_bool(w, "yanked", yanked != NULL);
		}
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

void
ws_index_root_html(const char *const *names, size_t count, struct ws_buf *out)
{
	ws_buf_printf(out, head, "Simple index");
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(out, "<a href=\"%s/\">%s</a><br>\n", names[i], names[i]);
	}
	ws_buf_puts(out, tail);
}

void
ws_index_root_json(const char *const *names, size_t count, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_table_write(w, "meta", &meta_table, names);
	ws_json_open_list(w, "projects");
	for (size_t i = 0; i < count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", names[i]);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

/* ---- the page for people ---- */

#define NEWEST_MINOR 15 /* newest Python on the page */

/* browse.html, NUL-terminated. */
extern const unsigned char ws_index_browse_page[];

/* The newest driver that its CUDA or its compressed code needs; NULL: unknown. NVIDIA's tables have
 * the first driver of each CUDA major version. */
static const char *
driver_of(const void *value, struct ws_arena *a)
{
	const struct ws_index_entry *entry = value;
	static const char *const drivers[][2] = {
		{"11", "450.80.02"}, {"12", "525.60.13"}, {"13", "580.65.06"}};
	const char *cuda = entry->place_count > 0 ? entry->places[0].cuda : NULL;
	const char *latest = NULL;
	for (size_t i = 0; cuda && i < WS_LEN(drivers); i++) {
		latest = ws_starts_with(cuda, drivers[i][0]) ? drivers[i][1] : latest;
	}
	const struct ws_json *modules = ws_json_find(ws_json_find(entry->facts, "measured"), "modules");
	for (WS_JSON_EACH(module, modules)) {
		const char *driver = ws_json_text(ws_json_find(module, "gpu_code"), "driver");
		struct ws_version x, y;
		if (driver && ws_version_parse(driver, a, &x)
			&& (!latest || (ws_version_parse(latest, a, &y) && ws_version_cmp(&x, &y) > 0))) {
			latest = driver;
		}
	}
	return latest;
}

static const char *
archs_of(const void *value, struct ws_arena *a)
{
	const struct ws_index_entry *entry = value;
	return entry->place_count > 0 && entry->places[0].archs.count > 0
		? ws_arch_set_text(&entry->places[0].archs, a)
		: NULL;
}

static const char *
date_of(const void *value, struct ws_arena *a)
{
	const struct ws_index_entry *entry = value;
	return ws_arena_copy(a, entry->uploaded, strcspn(entry->uploaded, "T"));
}

static const struct ws_type type_date = {.kind = WS_KIND_OTHER, .text = date_of};
static const struct ws_type type_driver = {.kind = WS_KIND_OTHER, .text = driver_of};
static const struct ws_type type_archs = {.kind = WS_KIND_OTHER, .text = archs_of};

static const struct ws_field wheel_fields[] = {
	WS_VALUE("package", ENTRY, name.distribution, WS_ALWAYS, NULL),
	WS_VALUE("version", ENTRY, name.version.text, WS_ALWAYS, NULL),
	WS_VALUE("file", ENTRY, file, WS_ALWAYS, NULL),
	WS_VALUE("size", ENTRY, size_bytes, WS_ALWAYS, NULL),
	{.key = "date", .type = &type_date, .flags = WS_ALWAYS},
	WS_VALUE("sha256", ENTRY, sha256, WS_ALWAYS, NULL),
	{.key = "driver", .type = &type_driver, .flags = WS_OR_NULL},
	WS_VALUE("yanked", ENTRY, yanked, WS_OR_NULL, NULL),
	{.key = "archs", .type = &type_archs, .flags = WS_OR_NULL},
};
static const struct ws_table wheel_table = {NULL, wheel_fields, WS_LEN(wheel_fields)};

static void
add_wheel(struct ws_json_writer *w, const struct ws_index_entry *entry,
	const struct ws_index_path *paths, size_t count, struct ws_arena *a)
{
	ws_json_open_object(w, NULL);
	ws_table_write_members(w, &wheel_table, entry);
	const char *pythons[64]; /* "3.13t"; a wheel for all Pythons has null */
	size_t python_count = 0;
	for (unsigned i = 0; i < 62; i++) { /* as catalog.c counts them */
		unsigned minor = 7 + i % 31;
		if ((entry->pythons >> i & 1) && minor <= NEWEST_MINOR) {
			pythons[python_count++] = ws_arena_printf(a, "3.%u%s", minor, i >= 31 ? "t" : "");
		}
	}
	if (ws_starts_with(entry->name.pythons[0], "py")) {
		ws_json_add_text(w, "pythons", NULL);
	} else {
		ws_json_add_texts(w, "pythons", pythons, python_count);
	}
	ws_json_open_list(w, "in");
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < paths[i].count; j++) {
			if (paths[i].entries[j] == entry) {
				ws_json_add_u64(w, NULL, i);
			}
		}
	}
	ws_json_close(w);
	ws_json_close(w);
}

void
ws_index_browse_html(const struct ws_index_catalog *catalog, const struct ws_index_path *paths,
	size_t count, bool pins, struct ws_buf *out)
{
	static const char mark[] = "@DATA@";
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf json = {0};
	const char *page = (const char *)ws_index_browse_page;
	const char *place = strstr(page, mark);
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "title", catalog->title);
	ws_json_add_text(w, "snapshot", catalog->snapshot);
	ws_json_add_bool(w, "pins", pins);
	ws_json_open_list(w, "paths");
	for (size_t i = 0; i < count; i++) {
		ws_json_add_text(w, NULL, paths[i].path);
	}
	ws_json_close(w);
	ws_json_open_list(w, "wheels");
	for (size_t i = 0; i < catalog->entries.len; i++) {
		add_wheel(w, &catalog->entries.at[i], paths, count, a);
	}
	ws_json_finish(w, WS_JSON_COMPACT, &json);
	ws_buf_add(out, page, (size_t)(place - page));
	for (size_t i = 0; i < json.len; i++) { /* JSON that cannot end an HTML element */
		if (strchr("<>&", json.data[i])) {
			ws_buf_printf(out, "\\u%04x", (unsigned)json.data[i]);
		} else {
			ws_buf_putc(out, json.data[i]);
		}
	}
	ws_buf_puts(out, place + strlen(mark));
}
