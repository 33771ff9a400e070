/* index_page.c - the door to libxml2. An HTML page is walked once, without a tree; nothing that it
 * refers to is loaded. */
#include "net/index_page.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "base/json.h"
#include "net/url.h"

#include <libxml/HTMLparser.h>

#define PIECE 65536 /* the parser takes int lengths */

/* State of reading one page. */
struct reading {
	struct ws_index_page *page;
	const char *base;        /* base of relative links */
	const char *bad_version; /* an unknown version; NULL: none */
	WS_VEC(struct ws_index_file) files;
	struct ws_arena *a;
	struct ws_arena *scratch; /* temporary; pages may have 50 000 files */
};

/* "1.0", "1.4": major version 1 stays readable whatever the minor one is (PEP 629). */
static void
check_version(struct reading *r, const char *version)
{
	if (strncmp(version, "1.", 2) != 0 && strcmp(version, "1") != 0) {
		r->bad_version = ws_arena_strdup(r->a, version);
	}
}

static const char *
digest_or_nothing(const char *text, struct ws_arena *a)
{
	struct ws_digest digest;
	return text && ws_digest_parse(text, &digest) ? ws_arena_strdup(a, digest.hex) : "";
}

/* Adds the file if the address is one of a file. @a name may be NULL. */
static void
add_file(struct reading *r, const char *name, const char *address, struct ws_index_file *file)
{
	struct ws_arena_mark mark = ws_arena_mark(r->scratch);
	const char *hash = strchr(address, '#');
	char *whole = ws_url_join(r->base, address, r->scratch);
	struct ws_url url;
	if (!whole || !ws_url_parse(whole, r->scratch, &url, NULL)) {
		ws_arena_rewind(r->scratch, mark);
		return;
	}
	/* "sha256=<hex>" in a fragment, alone or among others: "egg=x&sha256=<hex>". */
	struct ws_str rest = ws_str_of(hash ? hash + 1 : NULL);
	while (rest.s && !file->sha256[0]) {
		struct ws_str value = ws_str_cut(&rest, '&');
		struct ws_str part = ws_str_cut(&value, '=');
		if (ws_str_is(part, "sha256") && value.s) {
			file->sha256 = digest_or_nothing(ws_str_copy(value, r->scratch), r->a);
		}
	}
	name = name ? name : ws_url_file_name(url.plain, r->scratch);
	if (ws_path_is_inside(name) && !strchr(name, '/')) {
		file->url = ws_arena_strdup(r->a, url.plain);
		file->name = ws_arena_strdup(r->a, name);
		*ws_vec_push(&r->files, r->a) = *file;
	}
	ws_arena_rewind(r->scratch, mark);
}

/* Most files of a page have the same requirement. */
static const char *
requirement(struct reading *r, const char *text)
{
	const struct ws_index_file *last = r->files.len > 0 ? &r->files.at[r->files.len - 1] : NULL;
	if (!text) {
		return "";
	}
	return last && strcmp(last->requires_python, text) == 0 ? last->requires_python
															: ws_arena_strdup(r->a, text);
}

/* NULL: absent. */
static const char *
attribute(const xmlChar **attributes, const char *name)
{
	for (size_t i = 0; attributes && attributes[i]; i += 2) {
		if (strcmp((const char *)attributes[i], name) == 0) {
			return attributes[i + 1] ? (const char *)attributes[i + 1] : "";
		}
	}
	return NULL;
}

static void
read_element(void *self, const xmlChar *name, const xmlChar **attributes)
{
	struct reading *r = self;
	const char *tag = (const char *)name;
	const char *href = attribute(attributes, "href");
	if (strcmp(tag, "a") == 0 && href) {
		const char *yanked = attribute(attributes, "data-yanked");
		struct ws_index_file file = {
			.sha256 = "",
			.is_yanked = yanked != NULL,
			.yanked_why = yanked ? ws_arena_strdup(r->a, yanked) : "",
			.requires_python = requirement(r, attribute(attributes, "data-requires-python")),
		};
		add_file(r, NULL, href, &file);
	} else if (strcmp(tag, "base") == 0 && href) {
		char *base = ws_url_join(r->base, href, r->a);
		r->base = base ? base : r->base;
	} else if (strcmp(tag, "meta") == 0
		&& ws_same(attribute(attributes, "name"), "pypi:repository-version")
		&& attribute(attributes, "content")) {
		check_version(r, attribute(attributes, "content"));
	}
}

/* Text that is not HTML has no links. */
static void
read_html(struct reading *r, struct ws_str text)
{
	htmlSAXHandler handler = {.startElement = read_element};
	htmlParserCtxtPtr parser =
		htmlCreatePushParserCtxt(&handler, r, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
	if (!parser) {
		return;
	}
	htmlCtxtUseOptions(
		parser, HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	for (size_t at = 0; at < text.n; at += PIECE) {
		size_t piece = text.n - at < PIECE ? text.n - at : PIECE;
		htmlParseChunk(parser, text.s + at, (int)piece, 0);
	}
	htmlParseChunk(parser, NULL, 0, 1);
	htmlFreeParserCtxt(parser);
}

static bool
read_json(struct reading *r, struct ws_str text, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *tree = ws_arena_make();
	struct ws_json_doc doc;
	if (!ws_json_parse(
			ws_url_shown(r->page->url, r->a), text.s, text.n, WS_JSON_STRICT, tree, &doc, err)) {
		if (err) {
			err->kind = WS_ERR_FETCH; /* not a file that a person wrote here */
		}
		return false;
	}
	const char *version = ws_json_text(ws_json_find(doc.root, "meta"), "api-version");
	check_version(r, version ? version : "1.0");
	const struct ws_json *files = ws_json_find(doc.root, "files");
	if (!files || files->kind != WS_JSON_ARRAY) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' lists no files; is it a package index?",
			ws_url_shown(r->page->url, r->a));
	}
	for (WS_JSON_EACH(entry, files)) {
		const char *name = ws_json_text(entry, "filename");
		const char *address = ws_json_text(entry, "url");
		if (!name || !address) {
			continue;
		}
		const char *why = ws_json_text(entry, "yanked");
		struct ws_index_file file = {
			.sha256 =
				digest_or_nothing(ws_json_text(ws_json_find(entry, "hashes"), "sha256"), r->a),
			.is_yanked = why || ws_json_is_true(entry, "yanked"),
			.yanked_why = why ? ws_arena_strdup(r->a, why) : "",
			.requires_python = requirement(r, ws_json_text(entry, "requires-python")),
		};
		if (!ws_json_u64(entry, "size", &file.size_bytes)) {
			file.size_bytes = 0;
		}
		add_file(r, name, address, &file);
	}
	return true;
}

bool
ws_index_page_parse(struct ws_index_page *page, const char *type, struct ws_str text,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	static const char *const json[] = {"application/vnd.pypi.simple.v1+json",
		"application/vnd.pypi.simple.latest+json", "application/json"};
	static const char *const html[] = {"text/html", "application/vnd.pypi.simple.v1+html",
		"application/vnd.pypi.simple.latest+html", "application/xhtml+xml"};
	struct reading r = {.page = page, .base = page->url, .a = a, .scratch = scratch};
	const char *shown = ws_url_shown(page->url, a);
	if (ws_is_among(type, json, WS_LEN(json))) {
		if (!read_json(&r, text, err)) {
			return false;
		}
	} else if (ws_is_among(type, html, WS_LEN(html))) {
		read_html(&r, text);
	} else {
		ws_err_set(err, WS_ERR_FETCH, "'%s' answers with '%s', neither HTML nor JSON", shown,
			type[0] ? type : "no content type");
		return ws_err_cure(err, "is it a package index? its URL often ends in /simple/");
	}
	if (r.bad_version) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' uses version %s of the index protocol; only version 1 is supported", shown,
			r.bad_version);
	}
	page->files = r.files.at;
	page->count = r.files.len;
	return true;
}
