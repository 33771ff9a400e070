/**
 * url.h - URLs: taken apart, joined, shown
 *
 * Taken apart and joined by libcurl's own parser (wire.c), so that the host which is judged is the
 * host that is connected to. Showing is by text (url.c), because what must be shown may not be a
 * URL. Only http and https are URLs here. Texts live in the arena that is passed.
 */
#ifndef WS_NET_URL_H
#define WS_NET_URL_H

#include "base/arena.h"
#include "base/err.h"

struct ws_url {
	const char *plain;    /**< without user, password and fragment: what is asked for */
	const char *origin;   /**< "https://host:443": scheme, host and port, lower case */
	const char *host;     /**< lower case; an IPv6 address in brackets */
	const char *user;     /**< percent-decoded; NULL: none stands there */
	const char *password; /**< percent-decoded; "" when only a user stands there, NULL without */
	bool is_https;
};

/** What is not an http or https URL is WS_ERR_CONFIG; the message holds no password. */
bool ws_url_parse(const char *text, struct ws_arena *a, struct ws_url *url, struct ws_err *err);

/**
 * @a reference as seen from @a base (RFC 3986, section 5); either may be absolute. NULL when the
 * outcome is not an http or https URL ("mailto:", "javascript:").
 */
char *ws_url_join(const char *base, const char *reference, struct ws_arena *a);

/** Whether a user or password may stand there. Takes any text; when in doubt, true. */
bool ws_url_has_login(const char *text);

/**
 * For people and logs: without user and password, and with what follows '?' left out, where signed
 * URLs keep their secrets. Takes any text, cuts rather too much than too little.
 */
char *ws_url_shown(const char *text, struct ws_arena *a);

/** The same without a sign of what was left out: for what is published. */
char *ws_url_bare(const char *text, struct ws_arena *a);

/** The last part of the path, percent-decoded: "torch-2.5.1+cu124.whl". "" when there is none. */
char *ws_url_file_name(const char *url, struct ws_arena *a);

#endif
