/**
 * git_url.h - which repository URLs are allowed, and submodule URLs
 *
 * libgit2 accepts many forms of a repository: "file://", "host:path", a bare path. Allowed here are
 * https, http to this machine, and file where the caller permits it; never a user, a password or
 * ssh. Text only; touches no network.
 */
#ifndef WS_MODEL_GIT_URL_H
#define WS_MODEL_GIT_URL_H

#include "base/err.h"
#include "base/text.h"

/** WS_ERR_CONFIG when the URL is not allowed. @a files: file:///absolute/path is. */
bool ws_git_url_check(const char *url, bool files, struct ws_err *err);

/**
 * A submodule's URL as .gitmodules writes it: absolute, or relative ("./x", "../x") to the URL of
 * its repository (gitmodules(5)). NULL when it climbs out of that URL's path.
 */
char *ws_git_url_join(
	const char *base, const char *reference, struct ws_arena *a, struct ws_err *err);

/** The last part of the path without ".git": "flash-attention". */
char *ws_git_url_name(const char *url, struct ws_arena *a);

/** localhost, [::1] and 127.0.0.0/8; @a host without a port. */
bool ws_host_is_loopback(struct ws_str host);

#endif
