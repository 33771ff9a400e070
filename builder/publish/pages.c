#include "publish/pages.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

#define FILES "../../../files/"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
						   "<meta charset=\"utf-8\">\n"
						   "<meta name=\"pypi:repository-version\" content=\"1.1\">\n"
						   "<title>%s</title>\n</head>\n<body>\n";
static const char tail[] = "</body>\n</html>\n";

static const char *
entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#x27;";
	default:
		return NULL;
	}
}

void
ws_index_put_html(struct ws_buf *out, const char *text)
{
	size_t left = strlen(text);
	while (left > 0) {
		size_t len = ws_utf8_len(text, left);
		const char *entity = entity_of(*text);
		if (len == 0) {
			ws_buf_puts(out, "\xef\xbf\xbd"); /* not UTF-8 */
			len = 1;
		} else if (entity) {
			ws_buf_puts(out, entity);
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

static void
put_link(struct ws_buf *out, const struct ws_index_entry *entry)
{
	ws_buf_puts(out, "<a href=\"" FILES);
	ws_index_put_url(out, entry->file);
	ws_buf_printf(out, "#sha256=%s\"", entry->sha256);
	if (entry->requires_python) {
		put_attribute(out, "data-requires-python", entry->requires_python);
	}
	if (entry->yanked) {
		put_attribute(out, "data-yanked", entry->yanked);
	}
	ws_buf_printf(out, " data-core-metadata=\"sha256=%s\">", entry->metadata_sha256);
	ws_index_put_html(out, entry->file);
	ws_buf_puts(out, "</a><br>\n");
}

static void
put_beside(struct ws_buf *out, const struct ws_index_beside *beside)
{
	ws_buf_puts(out, "<a href=\"");
	ws_index_put_url(out, beside->file);
	ws_buf_printf(out, "#sha256=%s\">", beside->sha256);
	ws_index_put_html(out, beside->file);
	ws_buf_puts(out, "</a><br>\n");
}

void
ws_index_page_html(const struct ws_index_package_page *page, struct ws_buf *out)
{
	const char *package = page->entries[0]->name.distribution; /* letters, digits, '-' */
	ws_buf_printf(out, head, package);
	ws_buf_printf(out, "<h1>%s</h1>\n", package);
	for (size_t i = 0; i < page->beside_count; i++) {
		put_beside(out, &page->beside[i]);
	}
	for (size_t i = 0; i < page->count; i++) {
		put_link(out, page->entries[i]);
	}
	ws_buf_puts(out, tail);
}

static void
put_sha256(struct ws_json_writer *w, const char *key, const char *sha256)
{
	ws_json_open_object(w, key);
	ws_json_add_text(w, "sha256", sha256);
	ws_json_close(w);
}

static void
put_file(struct ws_json_writer *w, const struct ws_index_entry *entry)
{
	WS_AUTO_BUF struct ws_buf url = {0};
	ws_buf_puts(&url, FILES);
	ws_index_put_url(&url, entry->file);
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "filename", entry->file);
	ws_json_add_text(w, "url", ws_buf_text(&url));
	put_sha256(w, "hashes", entry->sha256);
	if (entry->requires_python) {
		ws_json_add_text(w, "requires-python", entry->requires_python);
	}
	ws_json_add_u64(w, "size", entry->size_bytes);
	ws_json_add_text(w, "upload-time", entry->uploaded);
	put_sha256(w, "core-metadata", entry->metadata_sha256);
	if (entry->yanked && entry->yanked[0]) {
		ws_json_add_text(w, "yanked", entry->yanked);
	} else {
		ws_json_add_bool(w, "yanked", entry->yanked != NULL);
	}
	ws_json_close(w);
}

static void
put_beside_file(struct ws_json_writer *w, const struct ws_index_beside *beside)
{
	WS_AUTO_BUF struct ws_buf url = {0};
	ws_index_put_url(&url, beside->file);
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "filename", beside->file);
	ws_json_add_text(w, "url", ws_buf_text(&url));
	put_sha256(w, "hashes", beside->sha256);
	ws_json_add_u64(w, "size", beside->size_bytes);
	ws_json_add_text(w, "upload-time", beside->uploaded);
	ws_json_close(w);
}

static void
put_version(struct ws_json_writer *w)
{
	ws_json_open_object(w, "meta");
	ws_json_add_text(w, "api-version", "1.1");
	ws_json_close(w);
}

void
ws_index_page_json(const struct ws_index_package_page *page, struct ws_buf *out)
{
	const struct ws_index_entry *const *entries = page->entries;
	struct ws_json_writer *w = ws_json_begin_object();
	put_version(w);
	ws_json_add_text(w, "name", entries[0]->name.distribution);
	ws_json_open_list(w, "versions");
	for (size_t i = 0; i < page->count; i++) { /* they are sorted by version */
		const char *version = entries[i]->name.version.text;
		if (i == 0 || strcmp(version, entries[i - 1]->name.version.text) != 0) {
			ws_json_add_text(w, NULL, version);
		}
	}
	ws_json_close(w);
	ws_json_open_list(w, "files");
	for (size_t i = 0; i < page->beside_count; i++) {
		put_beside_file(w, &page->beside[i]);
	}
	for (size_t i = 0; i < page->count; i++) {
		put_file(w, entries[i]);
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
	put_version(w);
	ws_json_open_list(w, "projects");
	for (size_t i = 0; i < count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", names[i]);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, out);
}
