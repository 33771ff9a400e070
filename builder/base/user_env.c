/* user_env.c - look-ups without getenv(3). */
#include "base/user_env.h"

#include "base/fs.h"

const char *
ws_user_env_get(const struct ws_user_env *env, const char *name)
{
	size_t len = strlen(name);
	for (const char *const *var = env ? env->vars : NULL; var && *var; var++) {
		if (strncmp(*var, name, len) == 0 && (*var)[len] == '=') {
			return (*var)[len + 1] ? *var + len + 1 : NULL;
		}
	}
	return NULL;
}

const char *
ws_user_env_config_home(const struct ws_user_env *env, struct ws_arena *a)
{
	const char *config = ws_user_env_get(env, "XDG_CONFIG_HOME");
	const char *home = ws_user_env_get(env, "HOME");
	if (config && config[0] == '/') { /* the specification ignores a relative path */
		return config;
	}
	return home ? ws_arena_printf(a, "%s/.config", home) : NULL;
}

const char *
ws_user_env_read(const struct ws_user_env *env, const char *path, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read_at_most(ws_arena_printf(a, "%s%s", env->root, path), 1 << 20, &text, NULL)) {
		return NULL;
	}
	return ws_arena_strdup(a, ws_buf_text(&text));
}

const char *const *
ws_user_env_words(const char *text, struct ws_arena *a, size_t *count)
{
	WS_VEC(const char *) words = {0};
	for (text += strspn(text, " \t\r\n"); *text;) {
		size_t len = strcspn(text, " \t\r\n");
		*ws_vec_push(&words, a) = ws_arena_copy(a, text, len);
		text += len + strspn(text + len, " \t\r\n");
	}
	*count = words.len;
	return words.at;
}
