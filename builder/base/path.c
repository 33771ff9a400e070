/* path.c - paths as text; touches no file. Declared in fs.h. */
#include "base/fs.h"
#include "base/vec.h"

#include <stdarg.h>
#include <string.h>

char *
ws_path_join(struct ws_arena *a, ...)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	va_list parts;
	va_start(parts, a);
	for (const char *part; (part = va_arg(parts, const char *));) {
		if (part[0] == '/') {
			ws_buf_clear(&b);
		} else if (b.len > 0 && b.data[b.len - 1] != '/') {
			ws_buf_putc(&b, '/');
		}
		ws_buf_puts(&b, part);
	}
	va_end(parts);
	return ws_buf_copy(&b, a);
}

const char *
ws_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *
ws_path_dir(struct ws_arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash) {
		return ws_arena_strdup(a, ".");
	}
	return slash == path ? ws_arena_strdup(a, "/") : ws_arena_copy(a, path, (size_t)(slash - path));
}

char *
ws_path_normal(struct ws_arena *a, const char *path)
{
	WS_VEC(struct ws_str) kept = {0};
	bool absolute = path[0] == '/';
	struct ws_str rest = ws_str_of(path);
	while (rest.s) {
		struct ws_str part = ws_str_cut(&rest, '/');
		if (part.n == 0 || ws_str_is(part, ".")) {
			continue;
		}
		if (!ws_str_is(part, "..")) {
			*ws_vec_push(&kept, a) = part;
		} else if (kept.len > 0 && !ws_str_is(kept.at[kept.len - 1], "..")) {
			kept.len--;
		} else if (!absolute) {
			*ws_vec_push(&kept, a) = part;
		}
	}
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < kept.len; i++) {
		if (i > 0 || absolute) {
			ws_buf_putc(&b, '/');
		}
		ws_buf_add(&b, kept.at[i].s, kept.at[i].n);
	}
	if (b.len == 0) {
		ws_buf_putc(&b, absolute ? '/' : '.');
	}
	return ws_buf_copy(&b, a);
}

bool
ws_path_is_inside(const char *path)
{
	if (path[0] == '\0' || path[0] == '/') {
		return false;
	}
	for (const char *c = path; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\\') {
			return false;
		}
	}
	struct ws_str rest = ws_str_of(path);
	while (rest.s) {
		struct ws_str part = ws_str_cut(&rest, '/');
		if (part.n == 0 || ws_str_is(part, ".") || ws_str_is(part, "..")) {
			return false;
		}
	}
	return true;
}

/*
 * Where the folders above the link are real ones, each ".." in front goes up exactly one. A ".."
 * behind a name could go up from wherever a link of that name leads.
 */
bool
ws_path_link_is_inside(const char *path, const char *target)
{
	size_t depth = 0;
	for (const char *c = path; *c; c++) {
		depth += *c == '/';
	}
	while (strncmp(target, "./", 2) == 0) {
		target += 2;
	}
	while (strncmp(target, "../", 3) == 0) {
		if (depth == 0) {
			return false;
		}
		depth--;
		target += 3;
	}
	if (strcmp(target, "..") == 0) {
		return depth > 1;
	}
	return ws_path_is_inside(target);
}
