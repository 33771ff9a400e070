/* pip_config.c - the files in the order in which pip lets later ones win, then the environment. */
#include "net/pip_config.h"

#include "base/fs.h"

#include <string.h>

enum section {
	SECTION_OTHER,
	SECTION_GLOBAL,
	SECTION_INSTALL,
	SECTIONS,
};

/* A value and who said it. */
struct setting {
	const char *value, *from;
};

enum key {
	KEY_INDEX,
	KEY_EXTRA,
	KEY_CERT,
	KEYS,
};

static const char *const key_names[KEYS] = {"index-url", "extra-index-url", "cert"};

/* Values by section; a later file replaces them one by one. */
struct gathered {
	struct setting by[SECTIONS][KEYS];
};

/* pip takes Index_URL, --index-url and index-url for the same. */
static bool
is_key(struct ws_str name, const char *key)
{
	if (name.n > 2 && memcmp(name.s, "--", 2) == 0) {
		name.s += 2;
		name.n -= 2;
	}
	size_t i = 0;
	for (; i < name.n && key[i]; i++) {
		char c = name.s[i] == '_' ? '-' : ws_lower(name.s[i]);
		if (c != key[i]) {
			return false;
		}
	}
	return i == name.n && !key[i];
}

/* Where the value of this line goes; NULL when it is not a setting of ours. */
static struct setting *
slot_for(struct gathered *g, enum section section, struct ws_str name)
{
	for (size_t key = 0; section != SECTION_OTHER && key < KEYS; key++) {
		if (is_key(name, key_names[key])) {
			return &g->by[section][key];
		}
	}
	return NULL;
}

static enum section
section_of(struct ws_str line)
{
	struct ws_str name = {line.s + 1, line.n - 1};
	name = ws_str_cut(&name, ']');
	if (ws_str_is(name, "global")) {
		return SECTION_GLOBAL;
	}
	return ws_str_is(name, "install") ? SECTION_INSTALL : SECTION_OTHER;
}

/* Python's configparser: '#' and ';' at the start of a line, '=' or ':', and an indented line
 * continues the value above. */
static void
read_ini(struct gathered *g, const char *text, const char *from, struct ws_arena *a)
{
	enum section section = SECTION_OTHER;
	struct setting *open = NULL;
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str raw = ws_str_cut(&rest, '\n');
		struct ws_str line = ws_str_trim(raw);
		bool indented = raw.n > 0 && (raw.s[0] == ' ' || raw.s[0] == '\t');
		if (line.n == 0 || line.s[0] == '#' || line.s[0] == ';') {
			continue;
		}
		if (indented) {
			if (open) {
				open->value = ws_arena_printf(a, "%s\n%.*s", open->value, WS_STR_ARGS(line));
			}
			continue;
		}
		open = NULL;
		if (line.s[0] == '[') {
			section = section_of(line);
			continue;
		}
		size_t end = 0;
		while (end < line.n && line.s[end] != '=' && line.s[end] != ':') {
			end++;
		}
		struct setting *slot = slot_for(g, section, ws_str_trim((struct ws_str){line.s, end}));
		if (slot && end < line.n) {
			struct ws_str value = {line.s + end + 1, line.n - end - 1};
			*slot = (struct setting){ws_str_copy(ws_str_trim(value), a), from};
			open = slot;
		}
	}
}

static void
read_file(struct gathered *g, const struct ws_user_env *env, const char *path, struct ws_arena *a)
{
	const char *text = ws_user_env_read(env, path, a);
	if (text) {
		read_ini(g, text, path, a);
	}
}

/* Of the whole host: below each of XDG_CONFIG_DIRS, then /etc. */
static void
read_global(struct gathered *g, const struct ws_user_env *env, struct ws_arena *a)
{
	const char *dirs = ws_user_env_get(env, "XDG_CONFIG_DIRS");
	struct ws_str rest = ws_str_of(dirs ? dirs : "/etc/xdg");
	while (rest.s) {
		struct ws_str dir = ws_str_cut(&rest, ':');
		read_file(g, env, ws_arena_printf(a, "%.*s/pip/pip.conf", WS_STR_ARGS(dir)), a);
	}
	read_file(g, env, "/etc/pip.conf", a);
}

static void
read_user(struct gathered *g, const struct ws_user_env *env, struct ws_arena *a)
{
	const char *home = ws_user_env_get(env, "HOME");
	const char *config = ws_user_env_config_home(env, a);
	if (home) {
		read_file(g, env, ws_arena_printf(a, "%s/.pip/pip.conf", home), a);
	}
	if (config) {
		read_file(g, env, ws_arena_printf(a, "%s/pip/pip.conf", config), a);
	}
}

static void
read_files(struct gathered *g, const struct ws_user_env *env, struct ws_arena *a)
{
	const char *named = ws_user_env_get(env, "PIP_CONFIG_FILE");
	const char *virtual_env = ws_user_env_get(env, "VIRTUAL_ENV");
	if (named && strcmp(named, "/dev/null") == 0) {
		return; /* pip's own way to say: no files at all */
	}
	read_global(g, env, a);
	if (!named || !ws_fs_exists(ws_arena_printf(a, "%s%s", env->root, named))) {
		read_user(g, env, a);
	}
	if (virtual_env) {
		read_file(g, env, ws_arena_printf(a, "%s/pip.conf", virtual_env), a);
	}
	if (named) {
		read_file(g, env, named, a);
	}
}

/* The environment, else [install], else [global]; an empty value counts as not said. */
static struct setting
decide(const struct gathered *g, const struct ws_user_env *env, enum key key, const char *variable)
{
	const char *value = ws_user_env_get(env, variable);
	if (value) {
		return (struct setting){value, variable};
	}
	for (int section = SECTION_INSTALL; section >= SECTION_GLOBAL; section--) {
		const struct setting *setting = &g->by[section][key];
		if (setting->value && setting->value[0]) {
			return *setting;
		}
	}
	return (struct setting){NULL, NULL};
}

struct ws_pip_config
ws_pip_config_read(const struct ws_user_env *env, struct ws_arena *a)
{
	struct gathered g = {0};
	read_files(&g, env, a);
	struct setting index = decide(&g, env, KEY_INDEX, "PIP_INDEX_URL");
	struct setting extra = decide(&g, env, KEY_EXTRA, "PIP_EXTRA_INDEX_URL");
	struct setting cert = decide(&g, env, KEY_CERT, "PIP_CERT");
	struct ws_pip_config config = {
		.index_url = index.value,
		.index_from = index.from,
		.extra_from = extra.from,
		.cert = cert.value,
		.cert_from = cert.from,
	};
	if (extra.value) {
		config.extra_urls = ws_user_env_words(extra.value, a, &config.extra_count);
	}
	return config;
}
