/**
 * url.h - URLs: parsed, joined, printed without secrets
 *
 * Only http and https are URLs here. They are parsed and joined by libcurl's parser (wire.c), so
 * that the checked host is the host of the connection. Printing works on any text (url.c). Texts
 * live in the arena that is passed.
 */
#ifndef WS_NET_URL_H
#define WS_NET_URL_H

#include "base/arena.h"
#include "base/err.h"

struct ws_url {
	const char *plain;    /**< without user, password and fragment */
	const char *origin;   /**< "https://host:443": scheme, host and port, lower case */
	const char *host;     /**< lower case; an IPv6 address in brackets */
	const char *user;     /**< percent-decoded; NULL: absent */
	const char *password; /**< percent-decoded; "" with a user alone, NULL without */
	bool is_https;
};

/** WS_ERR_CONFIG if @a text is not an http or https URL; the message has no password. */
bool ws_url_parse(const char *text, struct ws_arena *a, struct ws_url *url, struct ws_err *err);

/**
 * @a reference as seen from @a base (RFC 3986, section 5); either may be absolute. NULL when the
 * outcome is not an http or https URL ("mailto:", "javascript:").
 */
char *ws_url_join(const char *base, const char *reference, struct ws_arena *a);

/** Whether the text may contain a user or password; true if in doubt. */
bool ws_url_has_login(const char *text);

/**
 * For messages: without user and password, and without the query, where signed URLs have their
 * secrets. Accepts any text; removes too much rather than too little.
 */
char *ws_url_shown(const char *text, struct ws_arena *a);

/** The same without "?..." for a removed query: for publication. */
char *ws_url_bare(const char *text, struct ws_arena *a);

/** The last part of the path, percent-decoded: "torch-2.5.1+cu124.whl". "" when there is none. */
char *ws_url_file_name(const char *url, struct ws_arena *a);

#endif
