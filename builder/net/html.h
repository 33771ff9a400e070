/**
 * html.h - the links of an HTML page
 *
 * The door to libxml2. A page is walked once, no tree is built, nothing is loaded from anywhere.
 * What links mean is index_page.c's.
 */
#ifndef WS_NET_HTML_H
#define WS_NET_HTML_H

#include <stddef.h>

/** An <a> with an address. Texts are borrowed for the length of the call, entities resolved. */
struct ws_html_link {
	const char *href;
	const char *requires_python; /**< data-requires-python; NULL: absent */
	const char *yanked;          /**< data-yanked; NULL: absent */
};

/** Who hears of a page: first member of the listener's own struct. */
struct ws_html_listener {
	void (*link)(struct ws_html_listener *self, const struct ws_html_link *link);
	/** <base href>: what the links that follow are relative to. */
	void (*base)(struct ws_html_listener *self, const char *href);
	/** <meta name="pypi:repository-version" content> (PEP 629). */
	void (*version)(struct ws_html_listener *self, const char *version);
};

/** Walks @a len bytes, UTF-8. Never fails: text that is not HTML has no links. */
void ws_html_walk(const char *text, size_t len, struct ws_html_listener *listener);

#endif
