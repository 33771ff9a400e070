/* index_config.c - the first source that names a role sets it. Only the variables of uv are read,
 * not uv.toml: Debian 12 and Ubuntu 24.04 have no TOML library for C. */
#include "net/index_config.h"

#include "base/fs.h"
#include "net/url.h"

#include <limits.h>

#define DEFAULT_ROLE "default"
#define PREBUILT_ROLE "prebuilt" /* its entries may be folders */

/* A value, and the file or variable that has it. */
struct setting {
	const char *value, *from;
};

static struct setting
variable(const struct ws_user_env *env, const char *name)
{
	const char *value = ws_user_env_get(env, name);
	return (struct setting){value, value ? name : NULL};
}

/* ---- pip's settings ---- */

enum { PIP_INDEX, PIP_EXTRA, PIP_CERT, PIP_KEYS };
static const char *const pip_keys[PIP_KEYS] = {"index-url", "extra-index-url", "cert"};
static const char *const pip_sections[] = {
	"install", "global"}; /* the first that has a key counts */

struct pip {
	struct setting by[WS_LEN(pip_sections)][PIP_KEYS]; /* a later file replaces them one by one */
	const struct ws_user_env *env;
	struct ws_arena *a;
};

/* The setting of this line; NULL: not one of ours. pip takes Index_URL, --index-url and index-url
 * for the same. */
static struct setting *
find_setting(struct pip *p, struct ws_str section, struct ws_str name)
{
	char *text = ws_lower_all(ws_str_copy(name, p->a));
	text += ws_starts_with(text, "--") ? 2 : 0;
	for (char *c = text; (c = strchr(c, '_'));) {
		*c = '-';
	}
	for (size_t s = 0; s < WS_LEN(pip_sections); s++) {
		for (size_t key = 0; ws_str_is(section, pip_sections[s]) && key < PIP_KEYS; key++) {
			if (strcmp(text, pip_keys[key]) == 0) {
				return &p->by[s][key];
			}
		}
	}
	return NULL;
}

/* Python's configparser: '#' and ';' at the start of a line, '=' or ':', and an indented line
 * continues the value above. Files that cannot be read or understood are skipped, as by pip. */
static void
read_pip_file(struct pip *p, const char *path)
{
	struct ws_str section = {"", 0};
	struct setting *open = NULL;
	struct ws_str rest = ws_str_of(ws_user_env_read(p->env, path, p->a));
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

/* In pip's order ("Configuration" of its documentation). */
static void
read_pip_files(struct pip *p)
{
	struct ws_arena *a = p->a;
	const char *named = ws_user_env_get(p->env, "PIP_CONFIG_FILE");
	const char *home = ws_user_env_get(p->env, "HOME");
	const char *config = ws_user_env_config_home(p->env, a);
	const char *virtual_env = ws_user_env_get(p->env, "VIRTUAL_ENV");
	const char *dirs = ws_user_env_get(p->env, "XDG_CONFIG_DIRS");
	struct ws_str rest = ws_str_of(dirs ? dirs : "/etc/xdg");
	if (ws_same(named, "/dev/null")) {
		return; /* disables all files */
	}
	while (rest.s) {
		struct ws_str dir = ws_str_cut(&rest, ':');
		read_pip_file(p, ws_arena_printf(a, "%.*s/pip/pip.conf", WS_STR_ARGS(dir)));
	}
	read_pip_file(p, "/etc/pip.conf");
	bool users = !named || !ws_fs_exists(ws_arena_printf(a, "%s%s", p->env->root, named));
	if (users && home) {
		read_pip_file(p, ws_arena_printf(a, "%s/.pip/pip.conf", home));
	}
	if (users && config) {
		read_pip_file(p, ws_arena_printf(a, "%s/pip/pip.conf", config));
	}
	if (virtual_env) {
		read_pip_file(p, ws_arena_printf(a, "%s/pip.conf", virtual_env));
	}
	if (named) {
		read_pip_file(p, named);
	}
}

/* The variable, then [install], then [global]. */
static struct setting
pip_setting(const struct pip *p, unsigned key, const char *name)
{
	struct setting found = variable(p->env, name);
	for (size_t s = 0; s < WS_LEN(pip_sections) && !found.value; s++) {
		const struct setting *setting = &p->by[s][key];
		found = setting->value && setting->value[0] ? *setting : found;
	}
	return found;
}

/* ---- roles ---- */

struct gathered {
	WS_VEC(struct ws_index_choice) roles;
	struct ws_arena *a;
};

/* Ignored if a source with higher priority has set the role. */
static void
add_url(struct gathered *g, const char *role, const char *url, const char *from)
{
	struct ws_index_choice *choice = NULL;
	for (size_t i = 0; i < g->roles.len; i++) {
		choice = strcmp(g->roles.at[i].role, role) == 0 ? &g->roles.at[i] : choice;
	}
	if (!choice) {
		choice = ws_vec_push(&g->roles, g->a);
		*choice = (struct ws_index_choice){.role = ws_arena_strdup(g->a, role), .from = from};
	}
	if (strcmp(choice->from, from) == 0) {
		const char **urls = WS_NEW_N(g->a, const char *, choice->count + 1);
		for (size_t i = 0; i < choice->count; i++) {
			urls[i] = choice->urls[i];
		}
		urls[choice->count++] = ws_arena_strdup(g->a, url);
		choice->urls = urls;
	}
}

bool
ws_index_place_is_folder(const char *place)
{
	return !strstr(place, "://");
}

/* From wheelsmith's own sources: an error if it is not a URL, or a folder of prebuilt wheels. A
 * typed path is relative to the working directory; files contain absolute paths. */
static bool
add_own(struct gathered *g, const char *role, const char *url, const char *from, struct ws_err *err)
{
	char absolute[PATH_MAX];
	struct ws_url parsed;
	if (strcmp(role, PREBUILT_ROLE) == 0 && ws_index_place_is_folder(url)) {
		if (!realpath(url, absolute)) {
			ws_err_sys(err, WS_ERR_CONFIG, "cannot find the folder of prebuilt wheels '%s'", url);
			return ws_err_wrap(err, "index from %s", from);
		}
		url = absolute;
	} else if (!ws_url_parse(url, g->a, &parsed, err)) {
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

/* "URL", or uv's "name=URL". */
static const char *
without_name(const char *word)
{
	const char *equals = strchr(word, '=');
	const char *sign = strstr(word, "://");
	return equals && sign && equals < sign ? equals + 1 : word;
}

/* "URL" or "ROLE=URL" each. */
static bool
add_words(struct gathered *g, const char *const *words, size_t count, const char *from,
	struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *role = DEFAULT_ROLE, *url = words[i];
		const char *equals = strchr(url, '='), *sign = strstr(url, "://");
		if (equals && equals != url && (!sign || equals < sign)) {
			role = ws_arena_copy(g->a, url, (size_t)(equals - url));
			url = equals + 1;
		}
		if (!add_own(g, role, url, from, err)) {
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

/* Settings with only additional indexes also use the default one. */
static void
add_pip(struct gathered *g, const struct pip *pip)
{
	struct setting index = pip_setting(pip, PIP_INDEX, "PIP_INDEX_URL");
	struct setting extra = pip_setting(pip, PIP_EXTRA, "PIP_EXTRA_INDEX_URL");
	const char *from = index.from ? index.from : extra.from;
	size_t count = 0;
	if (from) {
		add_foreign(g, index.value ? index.value : WS_DEFAULT_INDEX, from);
	}
	const char *const *urls = extra.value ? ws_user_env_words(extra.value, g->a, &count) : NULL;
	for (size_t i = 0; i < count; i++) {
		add_foreign(g, urls[i], from);
	}
}

/* uv searches additional indexes before the default one. */
static void
add_uv(struct gathered *g, const struct ws_user_env *env)
{
	static const char *const extras[] = {"UV_INDEX", "UV_EXTRA_INDEX_URL"};
	const char *from = NULL;
	for (size_t i = 0; i < WS_LEN(extras); i++) {
		struct setting extra = variable(env, extras[i]);
		size_t count = 0;
		const char *const *words =
			extra.value ? ws_user_env_words(extra.value, g->a, &count) : NULL;
		from = from || count == 0 ? from : extra.from;
		for (size_t w = 0; w < count; w++) {
			add_foreign(g, without_name(words[w]), from);
		}
	}
	struct setting standard = variable(env, "UV_DEFAULT_INDEX");
	standard = standard.value ? standard : variable(env, "UV_INDEX_URL");
	from = from ? from : standard.from;
	if (from) {
		add_foreign(g, standard.value ? without_name(standard.value) : WS_DEFAULT_INDEX, from);
	}
}

static void
choose_trust(struct ws_index_config *config, const struct ws_user_env *env, const struct pip *pip,
	struct ws_arena *a)
{
	/* A packaged libcurl looks where Debian has them, the first of these. */
	static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
	const struct setting settings[] = {variable(env, "PIP_CERT"),
		variable(env, "REQUESTS_CA_BUNDLE"), variable(env, "SSL_CERT_FILE"),
		variable(env, "CURL_CA_BUNDLE"), pip_setting(pip, PIP_CERT, "PIP_CERT"),
		variable(env, "SSL_CERT_DIR")};
	for (size_t i = 0; i < WS_LEN(settings) && !config->ca_path; i++) {
		config->ca_path = settings[i].value;
		config->ca_from = settings[i].from;
	}
	for (size_t i = 0; i < WS_LEN(places) && !config->ca_path; i++) {
		const char *place = ws_arena_printf(a, "%s%s", env->root, places[i]);
		if (ws_fs_exists(place)) {
			config->ca_path = config->ca_from = i == 0 ? NULL : place;
			return;
		}
	}
}

bool
ws_index_config_read(const struct ws_index_sources *sources, struct ws_arena *a,
	struct ws_index_config *config, struct ws_err *err)
{
	const struct ws_user_env *env = &sources->env;
	const char *value = ws_user_env_get(env, "WHEELSMITH_INDEX");
	size_t count = 0;
	const char *const *words = value ? ws_user_env_words(value, a, &count) : NULL;
	struct gathered g = {.a = a};
	if (!add_words(&g, sources->options, sources->option_count, sources->options_from, err)
		|| !add_roles(&g, sources->matrix, sources->matrix_count, "the matrix", err)
		|| !add_roles(&g, sources->user, sources->user_count, "the configuration", err)
		|| !add_words(&g, words, count, "WHEELSMITH_INDEX", err)) {
		return false;
	}
	struct pip pip = {.env = env, .a = a};
	read_pip_files(&pip);
	add_pip(&g, &pip);
	add_uv(&g, env);
	*config = (struct ws_index_config){.choices = g.roles.at, .count = g.roles.len};
	/* A uv.toml that may name an index. */
	const char *home = ws_user_env_config_home(env, a);
	const char *const tomls[] = {ws_user_env_get(env, "UV_CONFIG_FILE"),
		home ? ws_arena_printf(a, "%s/uv/uv.toml", home) : NULL, "/etc/uv/uv.toml"};
	bool matters =
		!ws_index_config_choice(config, DEFAULT_ROLE) && !ws_user_env_get(env, "UV_NO_CONFIG");
	for (size_t i = 0; i < WS_LEN(tomls) && matters && !config->unread; i++) {
		bool there = tomls[i] && ws_fs_exists(ws_arena_printf(a, "%s%s", env->root, tomls[i]));
		config->unread = there ? tomls[i] : NULL;
	}
	add_foreign(&g, WS_DEFAULT_INDEX, "pip's default");
	config->choices = g.roles.at;
	config->count = g.roles.len;
	config->netrc_path = ws_user_env_get(env, "NETRC");
	choose_trust(config, env, &pip, a);
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
