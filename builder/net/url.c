/* url.c - operations on any text. Parsing and joining are in wire.c. */
#include "net/url.h"

#include "base/text.h"

/* Length of "scheme://" with all of its slashes: libcurl accepts one to three. 0: no scheme. */
static size_t
scheme_length(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
	size_t len = strspn(text, letters);
	if (len == 0 || text[len] != ':' || text[len + 1] != '/') {
		return 0;
	}
	return len + 1 + strspn(text + len + 1, "/");
}

/* Start of the host: after the last '@' that can end a login. A raw '/' or '#' in a password
 * makes the host look like "user:secr"; its port is then not a number. */
static const char *
skip_login(const char *text, size_t scheme)
{
	const char *authority = text + scheme;
	size_t len = strcspn(authority, "/?#");
	const char *at = memrchr(authority, '@', len);
	if (ws_starts_with(text, "file:/")) {
		return authority;
	}
	if (at) {
		return at + 1;
	}
	const char *colon = authority[0] == '[' ? NULL : memchr(authority, ':', len);
	const char *later = strrchr(authority, '@');
	size_t port = colon ? len - (size_t)(colon + 1 - authority) : 0; /* its length */
	bool host = scheme > 0 && (!colon || (port > 0 && strspn(colon + 1, "0123456789") == port));
	return later && !host ? later + 1 : authority;
}

bool
ws_url_has_login(const char *text)
{
	size_t scheme = scheme_length(text);
	return skip_login(text, scheme) != text + scheme;
}

char *
ws_url_bare(const char *text, struct ws_arena *a)
{
	size_t scheme = scheme_length(text);
	const char *rest = skip_login(text, scheme);
	return ws_arena_printf(a, "%.*s%.*s", (int)scheme, text, (int)strcspn(rest, "?#"), rest);
}

char *
ws_url_shown(const char *text, struct ws_arena *a)
{
	const char *rest = skip_login(text, scheme_length(text));
	bool more = rest[strcspn(rest, "?#")] == '?';
	return ws_arena_printf(a, "%s%s", ws_url_bare(text, a), more ? "?..." : "");
}

/* "%2B" becomes "+"; what is not such a triplet, and %00, stay as they are. */
static char *
decode(const char *text, size_t len, struct ws_arena *a)
{
	char *plain = ws_arena_alloc(a, len + 1);
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && len - i > 2 ? ws_hex_digit(text[i + 1]) : -1;
		int low = high >= 0 ? ws_hex_digit(text[i + 2]) : -1;
		if (low < 0 || high * 16 + low == 0) {
			plain[n++] = text[i];
			continue;
		}
		plain[n++] = (char)(high * 16 + low);
		i += 2;
	}
	plain[n] = '\0';
	return plain;
}

char *
ws_url_file_name(const char *url, struct ws_arena *a)
{
	const char *rest = url + scheme_length(url);
	size_t len = strcspn(rest, "?#");
	const char *slash = memrchr(rest, '/', len);
	if (!slash) {
		return ws_arena_strdup(a, "");
	}
	return decode(slash + 1, len - (size_t)(slash + 1 - rest), a);
}
