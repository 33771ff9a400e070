/* index_config.c - the first source that names a role sets it. Only the variables of uv are read,
 * not uv.toml: Debian 12 and Ubuntu 24.04 have no TOML library for C. */
#include "net/index_config.h"

#include "base/fs.h"
#include "net/url.h"

#include <limits.h>

#define DEFAULT_ROLE "default"
#define PREBUILT_ROLE "prebuilt" /* its entries may be folders */

/* ---- pip's settings ---- */

enum { PIP_INDEX, PIP_EXTRA, PIP_CERT, PIP_KEYS };
static const char *const pip_keys[PIP_KEYS] = {"index-url", "extra-index-url", "cert"};
static const char *const pip_variables[PIP_KEYS] = {
	"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT"};
static const char *const pip_sections[] = {
	"install", "global"}; /* the first that has a key counts */

/* A value, and the file or variable that has it. */
struct setting {
	const char *value, *from;
};

struct pip_settings {
	struct setting by[WS_LEN(pip_sections)][PIP_KEYS]; /* a later file replaces them one by one */
	struct ws_arena *a;
};

/* pip takes Index_URL, --index-url and index-url for the same. */
static bool
is_pip_key(struct ws_str name, const char *key, struct ws_arena *a)
{
	char *text = ws_lower_all(ws_str_copy(name, a));
	text += ws_starts_with(text, "--") ? 2 : 0;
	for (char *c = text; (c = strchr(c, '_'));) {
		*c = '-';
	}
	return strcmp(text, key) == 0;
}

/* The setting of this line; NULL: not one of ours. */
static struct setting *
find_setting(struct pip_settings *p, struct ws_str section, struct ws_str name)
{
	for (size_t s = 0; s < WS_LEN(pip_sections); s++) {
		for (size_t key = 0; ws_str_is(section, pip_sections[s]) && key < PIP_KEYS; key++) {
			if (is_pip_key(name, pip_keys[key], p->a)) {
				return &p->by[s][key];
			}
		}
	}
	return NULL;
}

/* Python's configparser: '#' and ';' at the start of a line, '=' or ':', and an indented line
 * continues the value above. */
static void
read_pip_file(struct pip_settings *p, const struct ws_user_env *env, const char *path)
{
	struct ws_str section = {"", 0};
	struct setting *open = NULL;
	struct ws_str rest = ws_str_of(ws_user_env_read(env, path, p->a));
	while (rest.s) {
		struct ws_str raw = ws_str_cut(&rest, '\n');
		struct ws_str line = ws_str_trim(raw);
		if (line.n == 0 || line.s[0] == '#' || line.s[0] == ';') {
			continue;
		}
		if (raw.s[0] == ' ' || raw.s[0] == '\t') {
			if (open) {
				open->value = ws_arena_printf(p->a, "%s\n%.*s", open->value, WS_STR_ARGS(line));
			}
			continue;
		}
		open = NULL;
		if (line.s[0] == '[') {
			line = (struct ws_str){line.s + 1, line.n - 1};
			section = ws_str_cut(&line, ']');
			continue;
		}
		size_t end = 0;
		while (end < line.n && line.s[end] != '=' && line.s[end] != ':') {
			end++;
		}
		if (end < line.n) {
			struct ws_str value = {line.s + end + 1, line.n - end - 1};
			open = find_setting(p, section, ws_str_trim((struct ws_str){line.s, end}));
			if (open) {
				*open = (struct setting){ws_str_copy(ws_str_trim(value), p->a), path};
			}
		}
	}
}

static void
read_pip_files(struct pip_settings *p, const struct ws_user_env *env)
{
	struct ws_arena *a = p->a;
	const char *named = ws_user_env_get(env, "PIP_CONFIG_FILE");
	const char *home = ws_user_env_get(env, "HOME");
	const char *config = ws_user_env_config_home(env, a);
	const char *virtual_env = ws_user_env_get(env, "VIRTUAL_ENV");
	const char *dirs = ws_user_env_get(env, "XDG_CONFIG_DIRS");
	struct ws_str rest = ws_str_of(dirs ? dirs : "/etc/xdg");
	if (ws_same(named, "/dev/null")) {
		return; /* disables all files */
	}
	while (rest.s) {
		struct ws_str dir = ws_str_cut(&rest, ':');
		read_pip_file(p, env, ws_arena_printf(a, "%.*s/pip/pip.conf", WS_STR_ARGS(dir)));
	}
	read_pip_file(p, env, "/etc/pip.conf");
	bool users = !named || !ws_fs_exists(ws_arena_printf(a, "%s%s", env->root, named));
	if (users && home) {
		read_pip_file(p, env, ws_arena_printf(a, "%s/.pip/pip.conf", home));
	}
	if (users && config) {
		read_pip_file(p, env, ws_arena_printf(a, "%s/pip/pip.conf", config));
	}
	if (virtual_env) {
		read_pip_file(p, env, ws_arena_printf(a, "%s/pip.conf", virtual_env));
	}
	if (named) {
		read_pip_file(p, env, named);
	}
}

struct ws_pip_config
ws_pip_config_read(const struct ws_user_env *env, struct ws_arena *a)
{
	struct pip_settings p = {.a = a};
	struct setting found[PIP_KEYS] = {{NULL, NULL}};
	read_pip_files(&p, env);
	for (size_t key = 0; key < PIP_KEYS; key++) {
		const char *value = ws_user_env_get(env, pip_variables[key]);
		found[key] = (struct setting){value, value ? pip_variables[key] : NULL};
		for (size_t s = 0; s < WS_LEN(pip_sections) && !found[key].value; s++) {
			const struct setting *setting = &p.by[s][key];
			found[key] = setting->value && setting->value[0] ? *setting : found[key];
		}
	}
	struct ws_pip_config config = {
		.index_url = found[PIP_INDEX].value,
		.index_from = found[PIP_INDEX].from,
		.extra_from = found[PIP_EXTRA].from,
		.cert = found[PIP_CERT].value,
		.cert_from = found[PIP_CERT].from,
	};
	if (found[PIP_EXTRA].value) {
		config.extra_urls = ws_user_env_words(found[PIP_EXTRA].value, a, &config.extra_count);
	}
	return config;
}

/* ---- roles ---- */

/* A role and the source that sets it. */
struct filling {
	const char *role, *from;
	WS_VEC(const char *) urls;
};

struct gathered {
	WS_VEC(struct filling) roles;
	struct ws_arena *a;
};

static struct filling *
find_role(struct gathered *g, const char *role)
{
	for (size_t i = 0; i < g->roles.len; i++) {
		if (strcmp(g->roles.at[i].role, role) == 0) {
			return &g->roles.at[i];
		}
	}
	return NULL;
}

/* Ignored if a source with higher priority has set the role. */
static void
add_url(struct gathered *g, const char *role, const char *url, const char *from)
{
	struct filling *f = find_role(g, role);
	if (!f) {
		f = ws_vec_push(&g->roles, g->a);
		f->role = ws_arena_strdup(g->a, role);
		f->from = from;
	}
	if (strcmp(f->from, from) == 0) {
		*ws_vec_push(&f->urls, g->a) = ws_arena_strdup(g->a, url);
	}
}

bool
ws_index_place_is_folder(const char *place)
{
	return !strstr(place, "://");
}

/* A typed path is relative to the working directory; files contain absolute paths. */
static bool
add_folder(
	struct gathered *g, const char *role, const char *path, const char *from, struct ws_err *err)
{
	char absolute[PATH_MAX];
	if (!realpath(path, absolute)) {
		ws_err_sys(err, WS_ERR_CONFIG, "cannot find the folder of prebuilt wheels '%s'", path);
		return ws_err_wrap(err, "index from %s", from);
	}
	add_url(g, role, absolute, from);
	return true;
}

/* From wheelsmith's own sources: an error if it is not a URL. */
static bool
add_own(struct gathered *g, const char *role, const char *url, const char *from, struct ws_err *err)
{
	struct ws_url parsed;
	if (strcmp(role, PREBUILT_ROLE) == 0 && ws_index_place_is_folder(url)) {
		return add_folder(g, role, url, from, err);
	}
	if (!ws_url_parse(url, g->a, &parsed, err)) {
		return ws_err_wrap(err, "index from %s", from);
	}
	add_url(g, role, url, from);
	return true;
}

/* From other tools: anything but a URL is ignored. */
static void
add_foreign(struct gathered *g, const char *url, const char *from)
{
	struct ws_url parsed;
	if (url && ws_url_parse(url, g->a, &parsed, NULL)) {
		add_url(g, DEFAULT_ROLE, url, from);
	}
}

/* "URL" or "ROLE=URL". */
static bool
add_word(struct gathered *g, const char *word, const char *from, struct ws_err *err)
{
	const char *equals = strchr(word, '=');
	const char *sign = strstr(word, "://");
	if (equals && equals != word && (!sign || equals < sign)) {
		const char *role = ws_arena_copy(g->a, word, (size_t)(equals - word));
		return add_own(g, role, equals + 1, from, err);
	}
	return add_own(g, DEFAULT_ROLE, word, from, err);
}

static bool
add_words(struct gathered *g, const char *const *words, size_t count, const char *from,
	struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!add_word(g, words[i], from, err)) {
			return false;
		}
	}
	return true;
}

static bool
add_roles(struct gathered *g, const struct ws_index_role *roles, size_t count, const char *from,
	struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t u = 0; u < roles[i].url_count; u++) {
			if (!add_own(g, roles[i].role, roles[i].urls[u], from, err)) {
				return false;
			}
		}
	}
	return true;
}

static bool
add_variable(struct gathered *g, const struct ws_user_env *env, struct ws_err *err)
{
	const char *value = ws_user_env_get(env, "WHEELSMITH_INDEX");
	size_t count = 0;
	const char *const *words = value ? ws_user_env_words(value, g->a, &count) : NULL;
	return add_words(g, words, count, "WHEELSMITH_INDEX", err);
}

/* Settings with only additional indexes also use the default one. */
static void
add_pip(struct gathered *g, const struct ws_pip_config *pip)
{
	const char *from = pip->index_from ? pip->index_from : pip->extra_from;
	if (!from) {
		return;
	}
	add_foreign(g, pip->index_url ? pip->index_url : WS_DEFAULT_INDEX, from);
	for (size_t i = 0; i < pip->extra_count; i++) {
		add_foreign(g, pip->extra_urls[i], from);
	}
}

/* "URL", or uv's "name=URL". */
static const char *
without_name(const char *word)
{
	const char *equals = strchr(word, '=');
	const char *sign = strstr(word, "://");
	return equals && sign && equals < sign ? equals + 1 : word;
}

/* uv searches additional indexes before the default one. */
static void
add_uv(struct gathered *g, const struct ws_user_env *env)
{
	static const char *const extras[] = {"UV_INDEX", "UV_EXTRA_INDEX_URL"};
	static const char *const defaults[] = {"UV_DEFAULT_INDEX", "UV_INDEX_URL"};
	const char *from = NULL, *standard = NULL;
	for (size_t i = 0; i < WS_LEN(extras); i++) {
		const char *value = ws_user_env_get(env, extras[i]);
		size_t count = 0;
		const char *const *words = value ? ws_user_env_words(value, g->a, &count) : NULL;
		from = from || count == 0 ? from : extras[i];
		for (size_t w = 0; w < count; w++) {
			add_foreign(g, without_name(words[w]), from);
		}
	}
	for (size_t i = 0; i < WS_LEN(defaults) && !standard; i++) {
		standard = ws_user_env_get(env, defaults[i]);
		from = from || !standard ? from : defaults[i];
	}
	if (from) {
		add_foreign(g, standard ? without_name(standard) : WS_DEFAULT_INDEX, from);
	}
}

/* A uv.toml that may name an index; NULL: there is none. */
static const char *
find_uv_toml(const struct ws_user_env *env, struct ws_arena *a)
{
	const char *named = ws_user_env_get(env, "UV_CONFIG_FILE");
	const char *home = ws_user_env_config_home(env, a);
	const char *const places[] = {
		named, home ? ws_arena_printf(a, "%s/uv/uv.toml", home) : NULL, "/etc/uv/uv.toml"};
	for (size_t i = 0; i < WS_LEN(places) && !ws_user_env_get(env, "UV_NO_CONFIG"); i++) {
		if (places[i] && ws_fs_exists(ws_arena_printf(a, "%s%s", env->root, places[i]))) {
			return places[i];
		}
	}
	return NULL;
}

/* A packaged libcurl looks for certificates where Debian has them. NULL if they are there. */
static const char *
other_trust(const struct ws_user_env *env, struct ws_arena *a)
{
	static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
	for (size_t i = 0; i < WS_LEN(places); i++) {
		if (ws_fs_exists(ws_arena_printf(a, "%s%s", env->root, places[i]))) {
			return i == 0 ? NULL : ws_arena_printf(a, "%s%s", env->root, places[i]);
		}
	}
	return NULL;
}

static void
choose_trust(struct ws_index_config *config, const struct ws_user_env *env,
	const struct ws_pip_config *pip, struct ws_arena *a)
{
	static const char *const names[] = {
		"PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"};
	config->netrc_path = ws_user_env_get(env, "NETRC");
	for (size_t i = 0; i < WS_LEN(names) && !config->ca_path; i++) {
		config->ca_path = ws_user_env_get(env, names[i]);
		config->ca_from = config->ca_path ? names[i] : NULL;
	}
	if (!config->ca_path) {
		config->ca_path = pip->cert;
		config->ca_from = pip->cert_from;
	}
	if (!config->ca_path && (config->ca_path = ws_user_env_get(env, "SSL_CERT_DIR"))) {
		config->ca_from = "SSL_CERT_DIR";
	}
	if (!config->ca_path && (config->ca_path = other_trust(env, a))) {
		config->ca_from = config->ca_path;
	}
}

static void
finish(struct gathered *g, struct ws_index_config *config)
{
	struct ws_index_choice *choices = WS_NEW_N(g->a, struct ws_index_choice, g->roles.len);
	for (size_t i = 0; i < g->roles.len; i++) {
		const struct filling *f = &g->roles.at[i];
		choices[i] = (struct ws_index_choice){f->role, f->urls.at, f->urls.len, f->from};
	}
	config->choices = choices;
	config->count = g->roles.len;
}

bool
ws_index_config_read(const struct ws_index_sources *sources, struct ws_arena *a,
	struct ws_index_config *config, struct ws_err *err)
{
	struct gathered g = {.a = a};
	*config = (struct ws_index_config){0};
	if (!add_words(&g, sources->options, sources->option_count, sources->options_from, err)
		|| !add_roles(&g, sources->matrix, sources->matrix_count, "the matrix", err)
		|| !add_roles(&g, sources->user, sources->user_count, "the configuration", err)
		|| !add_variable(&g, &sources->env, err)) {
		return false;
	}
	struct ws_pip_config pip = ws_pip_config_read(&sources->env, a);
	add_pip(&g, &pip);
	add_uv(&g, &sources->env);
	config->unread = find_role(&g, DEFAULT_ROLE) ? NULL : find_uv_toml(&sources->env, a);
	add_foreign(&g, WS_DEFAULT_INDEX, "pip's default");
	choose_trust(config, &sources->env, &pip, a);
	finish(&g, config);
	return true;
}

const struct ws_index_choice *
ws_index_config_choice(const struct ws_index_config *config, const char *role)
{
	for (size_t i = 0; i < config->count; i++) {
		if (strcmp(config->choices[i].role, role) == 0) {
			return &config->choices[i];
		}
	}
	return NULL;
}

struct ws_index_list
ws_index_config_list(const struct ws_index_config *config, const char *role, struct ws_arena *a)
{
	const struct ws_index_choice *standard = ws_index_config_choice(config, DEFAULT_ROLE);
	const struct ws_index_choice *own = role ? ws_index_config_choice(config, role) : NULL;
	own = own == standard ? NULL : own;
	WS_VEC(const char *) urls = {0};
	for (size_t i = 0; own && i < own->count; i++) {
		*ws_vec_push(&urls, a) = own->urls[i];
	}
	for (size_t i = 0; standard && i < standard->count; i++) {
		*ws_vec_push(&urls, a) = standard->urls[i];
	}
	return (struct ws_index_list){urls.at, urls.len, own != NULL};
}
