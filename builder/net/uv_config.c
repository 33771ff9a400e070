/* uv_config.c - line by line: sections, strings, booleans, arrays of strings. */
#include "net/uv_config.h"

#include "base/vec.h"

#include <string.h>

/* One [[index]]. */
struct index {
	const char *url;
	bool is_default, is_explicit;
};

struct gathered {
	const char *default_url, *from;
	WS_VEC(const char *) extra;
	struct ws_arena *a;
};

static void
say_default(struct gathered *g, const char *url, const char *from)
{
	if (url && !g->default_url) {
		g->default_url = url;
		g->from = g->from ? g->from : from;
	}
}

static void
say_extra(struct gathered *g, const char *url, const char *from)
{
	*ws_vec_push(&g->extra, g->a) = url;
	g->from = g->from ? g->from : from;
}

static void
end_index(struct gathered *g, struct index *index, const char *from)
{
	if (index->url && index->is_default) {
		say_default(g, index->url, from);
	} else if (index->url && !index->is_explicit) {
		say_extra(g, index->url, from);
	}
	*index = (struct index){0};
}

/* The string that starts at @a *at, basic or literal; NULL when none does. Moves behind it. */
static const char *
take_string(const char **at, struct ws_arena *a)
{
	char quote = **at;
	if (quote != '"' && quote != '\'') {
		return NULL;
	}
	const char *start = *at + 1;
	size_t len = 0;
	while (start[len] && start[len] != quote && start[len] != '\n') {
		len++;
	}
	*at = start + len + (start[len] == quote);
	return ws_arena_copy(a, start, len);
}

/* Spaces, line ends, commas and comments. */
static const char *
skip_between(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n,");
		if (*at != '#') {
			return at;
		}
		at += strcspn(at, "\n");
	}
}

/* ["a", "b"], over several lines if need be. Moves behind it. */
static void
take_extras(struct gathered *g, const char **at, const char *from)
{
	(*at)++;
	const char *url;
	while ((url = take_string((*at = skip_between(*at), at), g->a))) {
		say_extra(g, url, from);
	}
}

static struct ws_str
take_key(const char **at)
{
	size_t len = strcspn(*at, "=\n#");
	struct ws_str key = ws_str_trim((struct ws_str){*at, len});
	*at += len + ((*at)[len] == '=');
	*at += strspn(*at, " \t");
	return key;
}

/* A top-level key, or one of [pip], which says the same. */
static void
take_setting(struct gathered *g, struct ws_str key, const char **at, const char *from)
{
	if (ws_str_is(key, "index-url") || ws_str_is(key, "default-index")) {
		say_default(g, take_string(at, g->a), from);
	} else if (ws_str_is(key, "extra-index-url") && **at == '[') {
		take_extras(g, at, from);
	}
}

static void
take_index_key(struct gathered *g, struct index *index, struct ws_str key, const char **at)
{
	bool truth = strncmp(*at, "true", 4) == 0;
	if (ws_str_is(key, "url")) {
		index->url = take_string(at, g->a);
	} else if (ws_str_is(key, "default")) {
		index->is_default = truth;
	} else if (ws_str_is(key, "explicit")) {
		index->is_explicit = truth;
	}
}

static void
read_toml(struct gathered *g, const char *text, const char *from)
{
	enum { TOP, INDEX, OTHER } section = TOP;
	struct index index = {0};
	for (const char *at = skip_between(text); *at; at = skip_between(at + strcspn(at, "\n"))) {
		if (*at == '[') {
			end_index(g, &index, from);
			section = strncmp(at, "[[index]]", 9) == 0 ? INDEX
				: strncmp(at, "[pip]", 5) == 0         ? TOP
													   : OTHER;
			continue;
		}
		struct ws_str key = take_key(&at);
		if (section == INDEX) {
			take_index_key(g, &index, key, &at);
		} else if (section == TOP) {
			take_setting(g, key, &at, from);
		}
	}
	end_index(g, &index, from);
}

static void
read_file(struct gathered *g, const struct ws_user_env *env, const char *path)
{
	const char *text = ws_user_env_read(env, path, g->a);
	if (text) {
		read_toml(g, text, path);
	}
}

/* "URL", or "name=URL". */
static const char *
without_name(const char *word)
{
	const char *equals = strchr(word, '=');
	const char *sign = strstr(word, "://");
	return equals && sign && equals < sign ? equals + 1 : word;
}

static void
read_variables(struct gathered *g, const struct ws_user_env *env)
{
	static const char *const defaults[] = {"UV_DEFAULT_INDEX", "UV_INDEX_URL"};
	static const char *const extras[] = {"UV_INDEX", "UV_EXTRA_INDEX_URL"};
	for (size_t i = 0; i < WS_LEN(extras); i++) {
		const char *value = ws_user_env_get(env, extras[i]);
		size_t count = 0;
		const char *const *words = value ? ws_user_env_words(value, g->a, &count) : NULL;
		for (size_t w = 0; w < count; w++) {
			say_extra(g, without_name(words[w]), extras[i]);
		}
	}
	for (size_t i = 0; i < WS_LEN(defaults); i++) {
		const char *value = ws_user_env_get(env, defaults[i]);
		say_default(g, value ? without_name(value) : NULL, defaults[i]);
	}
}

static void
read_files(struct gathered *g, const struct ws_user_env *env)
{
	const char *named = ws_user_env_get(env, "UV_CONFIG_FILE");
	const char *config = ws_user_env_config_home(env, g->a);
	if (ws_user_env_get(env, "UV_NO_CONFIG")) {
		return;
	}
	if (named) {
		read_file(g, env, named);
		return;
	}
	if (config) {
		read_file(g, env, ws_arena_printf(g->a, "%s/uv/uv.toml", config));
	}
	read_file(g, env, "/etc/uv/uv.toml");
}

struct ws_uv_config
ws_uv_config_read(const struct ws_user_env *env, struct ws_arena *a)
{
	struct gathered g = {.a = a};
	read_variables(&g, env);
	read_files(&g, env);
	return (struct ws_uv_config){g.default_url, g.extra.at, g.extra.len, g.from};
}
