/* action.c - tokens, which may be anywhere in a word, and the mounts of canonical names. */
#include "engine/action.h"

#include "base/fs.h"

static const char *
value_of(const struct ws_action *action, const char *at, const char *dir, size_t *len)
{
	if (ws_starts_with(at, "{work}")) {
		*len = strlen("{work}");
		return dir;
	}
	for (size_t i = 0; i < action->token_count; i++) {
		if (ws_starts_with(at, action->tokens[i].name)) {
			*len = strlen(action->tokens[i].name);
			return action->tokens[i].value;
		}
	}
	return NULL;
}

static const char *
replace_tokens(
	const struct ws_action *action, const char *word, const char *dir, struct ws_arena *a)
{
	if (!strchr(word, '{')) {
		return word;
	}
	WS_AUTO_BUF struct ws_buf b = {0};
	while (*word) {
		size_t len = 1;
		const char *value = *word == '{' ? value_of(action, word, dir, &len) : NULL;
		if (value) {
			ws_buf_puts(&b, value);
		} else {
			ws_buf_putc(&b, *word);
		}
		word += len;
	}
	return ws_buf_copy(&b, a);
}

const char *const *
ws_action_words(
	const struct ws_action *action, const char *const *words, const char *dir, struct ws_arena *a)
{
	size_t count = 0;
	while (words[count]) {
		count++;
	}
	const char **out = WS_NEW_N(a, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		out[i] = replace_tokens(action, words[i], dir, a);
	}
	return out;
}

const char *
ws_action_program(const struct ws_action *action, const char *dir, struct ws_arena *a)
{
	return replace_tokens(action, action->tool.program, dir, a);
}

/* ---- canonical names ---- */

const struct ws_mount *
ws_mount_of(const struct ws_action *action, const char *name, const char **rest)
{
	size_t len = strcspn(name, "/");
	if (name[0] == '/' || name[len] == '\0') {
		return NULL;
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		const struct ws_mount *mount = &action->mounts[i];
		if (strlen(mount->name) == len && memcmp(mount->name, name, len) == 0) {
			*rest = name + len + 1;
			return mount;
		}
	}
	return NULL;
}

bool
ws_names_is_outside(const struct ws_action *action, const char *name)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	return !mount || !mount->tree;
}

const char *
ws_names_path(const struct ws_action *action, const char *name, struct ws_arena *a)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	return mount ? ws_path_join(a, mount->path, rest, NULL) : name;
}
