/* gitmodules.c - a line-wise reader of the subset that .gitmodules files are made of. */
#include "fetch/gitmodules.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

typedef WS_VEC(struct ws_gitmodule) module_list;

static bool
is_comment(struct ws_str text)
{
	return text.n == 0 || text.s[0] == '#' || text.s[0] == ';';
}

static struct ws_gitmodule *
module_named(module_list *modules, const char *name, struct ws_arena *a)
{
	for (size_t i = 0; i < modules->len; i++) {
		if (strcmp(modules->at[i].name, name) == 0) {
			return &modules->at[i];
		}
	}
	struct ws_gitmodule *module = ws_vec_push(modules, a);
	module->name = name;
	return module;
}

/* `[submodule "name"]`: sets @a current; NULL for sections of other kinds. */
static bool
read_section(
	struct ws_str line, module_list *modules, struct ws_gitmodule **current, struct ws_arena *a)
{
	static const char head[] = "[submodule";
	*current = NULL;
	WS_AUTO_BUF struct ws_buf name = {0};
	size_t at = sizeof(head) - 1;
	bool ours = line.n > at && strncasecmp(line.s, head, at) == 0;
	if (!ours) {
		const char *end = memchr(line.s, ']', line.n);
		return end
			&& is_comment(
				ws_str_trim((struct ws_str){end + 1, line.n - (size_t)(end + 1 - line.s)}));
	}
	while (at < line.n && (line.s[at] == ' ' || line.s[at] == '\t')) {
		at++;
	}
	if (at == line.n || line.s[at++] != '"') {
		return false;
	}
	for (; at < line.n && line.s[at] != '"'; at++) {
		at += line.s[at] == '\\';
		if (at == line.n) {
			return false;
		}
		ws_buf_putc(&name, line.s[at]);
	}
	if (at + 1 >= line.n || line.s[at + 1] != ']' || name.len == 0) {
		return false;
	}
	struct ws_str after = {line.s + at + 2, line.n - at - 2};
	*current = module_named(modules, ws_buf_copy(&name, a), a);
	return is_comment(ws_str_trim(after));
}

/* A value: quotes and escapes undone, a comment left out. NULL when it is not well formed. */
static char *
read_value(struct ws_str text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf value = {0};
	size_t solid = 0; /* where trailing spaces begin */
	bool quoted = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.s[i];
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (c == '#' || c == ';')) {
			break;
		}
		if (c == '\\') {
			static const char written[] = "\"\\ntb", meant[] = "\"\\\n\t\b";
			const char *which = ++i < text.n ? strchr(written, text.s[i]) : NULL;
			if (!which || !*which) {
				return NULL;
			}
			c = meant[which - written];
		}
		ws_buf_putc(&value, c);
		solid = quoted || (c != ' ' && c != '\t') ? value.len : solid;
	}
	if (quoted || memchr(ws_buf_text(&value), '\0', value.len)) {
		return NULL;
	}
	return ws_arena_copy(a, ws_buf_text(&value), solid);
}

static bool
read_setting(struct ws_str line, struct ws_gitmodule *current, struct ws_arena *a)
{
	size_t len = 0;
	while (len < line.n && (isalnum((unsigned char)line.s[len]) || line.s[len] == '-')) {
		len++;
	}
	struct ws_str key = {line.s, len};
	struct ws_str rest = ws_str_trim((struct ws_str){line.s + len, line.n - len});
	if (len == 0 || (!is_comment(rest) && rest.s[0] != '=')) {
		return false;
	}
	if (is_comment(rest)) {
		return true; /* a name alone means "true" */
	}
	char *value = read_value(ws_str_trim((struct ws_str){rest.s + 1, rest.n - 1}), a);
	if (value && current && key.n == 4 && strncasecmp(key.s, "path", 4) == 0) {
		current->path = value;
	}
	if (value && current && key.n == 3 && strncasecmp(key.s, "url", 3) == 0) {
		current->url = value;
	}
	return value;
}

bool
ws_gitmodules_parse(
	struct ws_str text, struct ws_arena *a, struct ws_gitmodules *modules, struct ws_err *err)
{
	module_list list = {0};
	struct ws_gitmodule *current = NULL;
	unsigned number = 1;
	for (struct ws_str rest = text; rest.s && rest.n > 0; number++) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (is_comment(line)) {
			continue;
		}
		bool fine = line.s[0] == '[' ? read_section(line, &list, &current, a)
									 : read_setting(line, current, a);
		if (!fine) {
			return ws_err_set(
				err, WS_ERR_FETCH, "line %u of '.gitmodules' is not understood", number);
		}
	}
	*modules = (struct ws_gitmodules){list.at, list.len};
	return true;
}

const struct ws_gitmodule *
ws_gitmodules_find(const struct ws_gitmodules *modules, const char *path)
{
	const struct ws_gitmodule *found = NULL;
	for (size_t i = 0; i < modules->count; i++) {
		const char *own = modules->modules[i].path;
		if (own && strcmp(own, path) == 0) {
			if (found) {
				return NULL;
			}
			found = &modules->modules[i];
		}
	}
	return found;
}
