/**
 * login.h - the user and password for a server: read from a file or from netrc, and looked for in
 * what it sends
 *
 * libcurl reads netrc itself; here it is read so that a password that would go out in the clear is
 * known before, and one that a server sends back is not shown. Pure.
 */
#ifndef WS_PUBLISH_LOGIN_H
#define WS_PUBLISH_LOGIN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

struct ws_login {
	const char *user, *password; /**< password NULL: none is known */
};

/** One that is sent as part of a header: a control character in it is WS_ERR_CONFIG. @a value may
 * be NULL. */
bool ws_login_check(const char *name, const char *value, struct ws_err *err);

/** The text of a file @a name: user and password, a line each; or one line, a token, whose user is
 * "__token__". */
bool ws_login_read(struct ws_str text, const char *name, struct ws_arena *a, struct ws_login *login,
	struct ws_err *err);

/** The first entry of a netrc for @a host, or for all ("default"). False: it has none with a
 * password. */
bool ws_login_find_netrc(
	struct ws_str text, const char *host, struct ws_arena *a, struct ws_login *login);

/** The password is in @a text: as it is, as in HTML or a URL, or as it was sent (base64). */
bool ws_login_is_in(const struct ws_login *login, const char *text, struct ws_arena *a);

#endif
