/* git_url.c - allows by list: what is not plainly fine is refused. */
#include "model/git_url.h"

/* Splits "https://host:port/path" after its scheme. */
static bool
split(const char *url, const char *scheme, struct ws_str *authority, const char **path)
{
	if (!ws_starts_with(url, scheme)) {
		return false;
	}
	const char *start = url + strlen(scheme);
	*authority = (struct ws_str){start, strcspn(start, "/")};
	*path = start + authority->n;
	return true;
}

static bool
refuse(struct ws_err *err, const char *url, const char *why)
{
	return ws_err_set(err, WS_ERR_CONFIG, "the git repository '%s' %s", url, why);
}

bool
ws_git_url_check(const char *url, bool files, struct ws_err *err)
{
	struct ws_str authority;
	const char *path;
	for (const char *c = url; *c; c++) {
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || strchr("\\\"'`<>{}|^?#", *c)) {
			return refuse(err, "?", "has an URL with characters that do not belong there");
		}
	}
	if (split(url, "file://", &authority, &path)) {
		if (!files || authority.n > 0 || path[0] != '/') {
			return refuse(err, url, "is a local one; name the folder as a source instead");
		}
		return true;
	}
	bool safe = split(url, "https://", &authority, &path);
	if (!safe && !split(url, "http://", &authority, &path)) {
		refuse(err, url, "is not asked: only https is");
		return ws_err_cure(err, "write its https:// URL");
	}
	if (authority.n == 0 || path[0] == '\0' || path[1] == '\0') {
		return refuse(err, url, "has an URL without a host or a path");
	}
	if (memchr(authority.s, '@', authority.n)) {
		return refuse(err, "?", "has an URL with a user or a password in it");
	}
	/* The host without its port. */
	const char *end = memchr(authority.s, authority.s[0] == '[' ? ']' : ':', authority.n);
	size_t len = end ? (size_t)(end - authority.s) + (*end == ']') : authority.n;
	bool whole = len == authority.n || authority.s[len] == ':';
	if (!safe && !ws_host_is_loopback((struct ws_str){authority.s, whole ? len : authority.n})) {
		refuse(err, url, "is not fetched over http, where a response may be forged");
		return ws_err_cure(err, "write its https:// URL");
	}
	return true;
}

char *
ws_git_url_join(const char *base, const char *reference, struct ws_arena *a, struct ws_err *err)
{
	if (!ws_starts_with(reference, "./") && !ws_starts_with(reference, "../")) {
		return ws_arena_strdup(a, reference);
	}
	const char *scheme = strstr(base, "://");
	const char *slash = scheme ? strchr(scheme + 3, '/') : NULL;
	size_t root = slash ? (size_t)(slash - base) : strlen(base);
	size_t len = strlen(base);
	while (len > root && base[len - 1] == '/') {
		len--;
	}
	const char *rest = reference;
	for (;;) {
		if (ws_starts_with(rest, "./")) {
			rest += 2;
		} else if (ws_starts_with(rest, "../") && len > root) {
			rest += 3;
			while (len > root && base[--len] != '/') {
			}
		} else {
			break;
		}
	}
	if (ws_starts_with(rest, "../") || rest[0] == '\0') {
		ws_err_set(
			err, WS_ERR_FETCH, "the submodule's URL '%s' climbs out of '%s'", reference, base);
		return NULL;
	}
	return ws_arena_printf(a, "%.*s/%s", (int)len, base, rest);
}

char *
ws_git_url_name(const char *url, struct ws_arena *a)
{
	char *copy = ws_arena_strdup(a, url);
	for (size_t len = strlen(copy); len > 0 && copy[len - 1] == '/'; len--) {
		copy[len - 1] = '\0';
	}
	char *slash = strrchr(copy, '/'), *name = slash ? slash + 1 : copy;
	size_t len = strlen(name);
	if (len > 4 && ws_ends_with(name, ".git")) {
		name[len - 4] = '\0';
	}
	return name;
}

bool
ws_host_is_loopback(struct ws_str host)
{
	unsigned parts = 0;
	if (ws_str_is(host, "localhost") || ws_str_is(host, "[::1]")) {
		return true;
	}
	for (struct ws_str rest = host; rest.s; parts++) {
		uint64_t value;
		struct ws_str part = ws_str_cut(&rest, '.');
		if (!ws_str_to_u64(part, &value) || value > 255 || (parts == 0 && value != 127)) {
			return false;
		}
	}
	return parts == 4;
}
