/* html.c - libxml2's push parser with a single callback. Errors in pages are the page's affair. */
#include "net/html.h"

#include <libxml/HTMLparser.h>

#include <string.h>

#define PIECE 65536 /* the parser takes int lengths */

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
start_element(void *self, const xmlChar *name, const xmlChar **attributes)
{
	struct ws_html_listener *listener = self;
	const char *tag = (const char *)name;
	const char *href = attribute(attributes, "href");
	if (strcmp(tag, "a") == 0 && href) {
		struct ws_html_link link = {
			.href = href,
			.requires_python = attribute(attributes, "data-requires-python"),
			.yanked = attribute(attributes, "data-yanked"),
		};
		listener->link(listener, &link);
	} else if (strcmp(tag, "base") == 0 && href) {
		listener->base(listener, href);
	} else if (strcmp(tag, "meta") == 0) {
		const char *what = attribute(attributes, "name");
		const char *content = attribute(attributes, "content");
		if (what && content && strcmp(what, "pypi:repository-version") == 0) {
			listener->version(listener, content);
		}
	}
}

void
ws_html_walk(const char *text, size_t len, struct ws_html_listener *listener)
{
	htmlSAXHandler handler = {.startElement = start_element};
	htmlParserCtxtPtr parser =
		htmlCreatePushParserCtxt(&handler, listener, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
	if (!parser) {
		return;
	}
	htmlCtxtUseOptions(
		parser, HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	for (size_t at = 0; at < len; at += PIECE) {
		size_t piece = len - at < PIECE ? len - at : PIECE;
		htmlParseChunk(parser, text + at, (int)piece, 0);
	}
	htmlParseChunk(parser, NULL, 0, 1);
	htmlFreeParserCtxt(parser);
}
