/* session.c - opens and closes in the right order. */
#include "cli/session.h"

#include "base/fs.h"
#include "fetch/git.h"
#include "net/debian.h"
#include "report/status.h"
#include "sys/clock.h"

void
ws_session_init(struct ws_session *s, const char *program)
{
	*s = (struct ws_session){
		.a = ws_arena_make(),
		.env = {.vars = (const char *const *)environ, .root = ""},
		.stop = {.fd = -1},
		.store = {.lock_fd = -1},
	};
	s->out = ws_out_standard(&s->env);
	s->program = program;
	s->events.now_ms = ws_clock_ms;
	struct ws_globals *g = &s->globals;
	const struct ws_option rows[WS_COMMON_OPTIONS] = {
		{"store", 0, WS_OPTION_TEXT, &g->store, "DIR",
			"downloads, kits and results; ~/.cache/wheelsmith"},
		{"recipes", 0, WS_OPTION_TEXT, &g->recipes, "DIR", "look for recipes here first"},
		{"index", 0, WS_OPTION_LIST, &g->indexes, "URL", "package index; ROLE=URL for a role"},
		{"debian-mirror", 0, WS_OPTION_TEXT, &g->debian_mirror, "URL",
			"mirror of Debian's archives"},
		{"kits", 0, WS_OPTION_TEXT, &g->kits, "WHICH",
			"CUDA from the host or from archives: host, archive"},
		{"json", 0, WS_OPTION_FLAG, &g->json, NULL, "results as JSON"},
		{"quiet", 'q', WS_OPTION_FLAG, &g->quiet, NULL, "only results, warnings and errors"},
		{"verbose", 'v', WS_OPTION_COUNT, &g->verbosity, NULL, "print more"},
	};
	memcpy(s->common, rows, sizeof(rows));
}

bool
ws_session_open_facts(struct ws_session *s, struct ws_err *err)
{
	if (s->has_facts) {
		return true;
	}
	s->out.quiet = s->globals.quiet;
	s->out.verbosity = s->globals.verbosity;
	const char *kits = s->globals.kits;
	if (kits && strcmp(kits, "host") != 0 && strcmp(kits, "archive") != 0) {
		return ws_err_set(err, WS_ERR_USAGE, "--kits: 'host' or 'archive', not '%s'", kits);
	}
	if (!ws_data_locate(NULL, s->a, &s->data, err)
		|| !ws_user_config_read(ws_user_config_path(&s->env, s->a),
			ws_user_env_get(&s->env, "HOME"), s->a, &s->user, err)
		|| !ws_facts_read(s->data.facts, s->a, &s->facts, err)) {
		return false;
	}
	s->host = ws_host_read("", s->a);
	s->has_facts = true;
	return true;
}

bool
ws_session_list_recipes(
	const struct ws_session *s, struct ws_recipe_catalog *catalog, struct ws_err *err)
{
	size_t count;
	const char *const *folders = ws_data_recipe_folders(
		&s->data, s->globals.recipes, NULL, s->user.recipes, s->user.recipe_count, s->a, &count);
	*catalog = (struct ws_recipe_catalog){0};
	return ws_recipes_list(folders, count, s->a, catalog, err);
}

const char *
ws_session_store_path(const struct ws_session *s)
{
	const char *wanted = s->globals.store;
	/* The environment overrides the configuration. */
	if (!wanted && !ws_user_env_get(&s->env, "WHEELSMITH_STORE")) {
		wanted = s->user.store;
	}
	return ws_store_default_path(&s->env, wanted, s->a);
}

bool
ws_session_open_store(struct ws_session *s, bool look, struct ws_err *err)
{
	if (s->has_store) {
		return true;
	}
	if (!ws_session_open_facts(s, err) || !ws_stop_open(&s->stop, err)) {
		return false;
	}
	const char *path = ws_session_store_path(s);
	if (!path) {
		return ws_store_check(path, err);
	}
	if (look ? !ws_store_look(path, s->a, &s->store, err)
			 : !ws_store_open(path, s->a, &s->store, err)) {
		return false;
	}
	s->store.events = &s->events;
	s->ledger = s->env.ledger = s->store.ledger;
	s->status = ws_status_sink(&s->out, s->host.memory_bytes, s->a);
	ws_events_add(&s->events, s->status);
	s->has_store = true;
	return true;
}

const char *
ws_session_debian_mirror(const struct ws_session *s, const char **from)
{
	struct ws_debian_mirror mirror = {0};
	if (s->globals.debian_mirror) {
		*from = "--debian-mirror";
		return s->globals.debian_mirror;
	}
	if (s->user.debian_mirror) {
		*from = s->user.path;
		return s->user.debian_mirror;
	}
	ws_debian_mirror_find("", s->a, &mirror);
	*from = mirror.url ? mirror.file : NULL;
	return mirror.url;
}

bool
ws_session_read_indexes(struct ws_session *s, const struct ws_matrix *matrix, struct ws_err *err)
{
	struct ws_index_sources sources = {
		.options = s->globals.indexes.at,
		.options_from = "--index",
		.option_count = s->globals.indexes.len,
		.matrix = matrix ? matrix->indexes.at : NULL,
		.matrix_count = matrix ? matrix->indexes.count : 0,
		.user = s->user.indexes.at,
		.user_count = s->user.indexes.count,
		.env = s->env,
	};
	s->has_indexes = s->has_indexes || ws_index_config_read(&sources, s->a, &s->indexes, err);
	return s->has_indexes;
}

bool
ws_session_open_net(
	struct ws_session *s, const struct ws_matrix *matrix, bool offline, struct ws_err *err)
{
	if (s->has_net) {
		return true;
	}
	if (!ws_session_open_store(s, false, err) || !ws_session_read_indexes(s, matrix, err)) {
		return false;
	}
	/* A configured file of certificates must exist; a run without a network does not need it. */
	if (offline) {
		s->indexes.ca_path = NULL;
	}
	if (s->indexes.ca_path && !ws_fs_exists(s->indexes.ca_path)) {
		ws_err_set(err, WS_ERR_CONFIG, "the certificates '%s' do not exist", s->indexes.ca_path);
		return ws_err_cure(err, "correct or unset %s", s->indexes.ca_from);
	}
	if (s->indexes.unread && !offline) {
		ws_events_warn(&s->events,
			"'%s' is not read: if it names an index, set UV_DEFAULT_INDEX, UV_INDEX or --index",
			s->indexes.unread);
	}
	struct ws_http_config config = {
		.ca_path = s->indexes.ca_path,
		.netrc_path = s->indexes.netrc_path,
		.offline = offline,
		.stop = &s->stop,
		.events = &s->events,
	};
	const char *from;
	s->fetch = (struct ws_fetch){
		.store = &s->store,
		.ledger = s->ledger,
		.http = ws_http_open(&config, err),
		.indexes = &s->indexes,
		.debian_mirror = ws_session_debian_mirror(s, &from),
		.redist_url = s->user.redist,
		.events = &s->events,
		.stop = &s->stop,
		.offline = offline,
	};
	if (!s->fetch.http) {
		return false;
	}
	s->fetch.index = ws_index_open(s->fetch.http, s->a);
	struct ws_git_config git = {
		.program = s->program,
		.vars = s->env.vars,
		.ca_path = s->indexes.ca_path,
		.offline = offline,
		.stop = &s->stop,
		.events = &s->events,
	};
	s->fetch.git = ws_git_open(&git, s->a, err);
	if (!s->fetch.git) {
		return false;
	}
	s->has_net = true;
	return true;
}

#define SERVER_CURE "\"remote\": {\"endpoint\": \"grpcs://HOST:PORT\", ...}; see docs/farm.md"

bool
ws_session_open_server(struct ws_session *s, struct ws_err *err)
{
	const struct ws_user_remote *remote = &s->user.remote;
	if (!remote->endpoint) {
		ws_err_set(err, WS_ERR_CONFIG, "the user's configuration has no 'remote'");
		return ws_err_cure(err, SERVER_CURE);
	}
	/* Same order as libcurl. */
	static const char *const proxies[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	const char *proxy = NULL;
	for (size_t i = 0; i < WS_LEN(proxies) && !proxy; i++) {
		proxy = ws_user_env_get(&s->env, proxies[i]);
	}
	struct ws_server_config config = {
		.endpoint = remote->endpoint,
		.instance = remote->instance,
		.certificate = remote->certificate,
		.certificate_key = remote->certificate_key,
		.https_proxy = proxy,
		.headers = remote->headers,
		.ca_path = s->indexes.ca_path,
		.netrc_path = s->indexes.netrc_path,
		.stop = &s->stop,
	};
	s->server = s->server ? s->server : ws_server_open(&config, s->a, err);
	return s->server != NULL;
}

bool
ws_session_open_records(struct ws_session *s, struct ws_err *err)
{
	const struct ws_user_remote *remote = &s->user.remote;
	if (!remote->endpoint || remote->access == WS_REMOTE_NONE || s->records) {
		return true;
	}
	if (!ws_session_open_server(s, err)) {
		return false;
	}
	struct ws_shared_results_config config = {
		.server = s->server,
		.write = remote->access == WS_REMOTE_WRITE,
		.key = remote->key,
		.trust = remote->trust,
		.trust_count = remote->trust_count,
		.store = &s->store,
		.events = &s->events,
	};
	s->records = ws_shared_results_open(&config, s->a, err);
	s->fetch.shared = ws_shared_results_interface(s->records);
	return s->records != NULL;
}

bool
ws_session_open_execution(struct ws_session *s, bool falls_back, struct ws_err *err)
{
	const struct ws_user_remote *remote = &s->user.remote;
	if (!ws_session_open_server(s, err)) {
		return remote->endpoint ? false : ws_err_wrap(err, "no build farm");
	}
	if (!s->server->is_grpc) {
		ws_err_set(err, WS_ERR_CONFIG,
			"no build farm: the server of shared results speaks http and cannot run commands");
		return ws_err_cure(err, SERVER_CURE);
	}
	struct ws_execution_config config = {
		.rpc = s->server->rpc,
		.instance = s->server->config.instance,
		.properties = remote->properties,
		.property_count = remote->property_count,
		.slots = remote->slots,
		.helper = ws_path_join(s->a, ws_path_dir(s->a, s->program), "wheelsmith-exec", NULL),
		.falls_back = falls_back,
		.store = &s->store,
		.ledger = s->ledger,
		.events = &s->events,
		.stop = &s->stop,
	};
	s->execution = ws_execution_open(&config, s->a, err);
	return s->execution != NULL;
}

void
ws_session_close(struct ws_session *s)
{
	ws_shared_results_close(s->records);
	ws_execution_close(s->execution);
	if (s->has_net) {
		ws_git_close(s->fetch.git);
		ws_http_close(s->fetch.http);
	}
	ws_store_close(&s->store);
	ws_arena_drop(s->a);
}

bool
ws_command_options(struct ws_session *s, struct ws_usage *usage, struct ws_err *err)
{
	usage->common = s->common;
	usage->common_count = WS_COMMON_OPTIONS;
	if (s->completes) {
		ws_options_complete(usage, s->argc, s->argv, &s->out);
		return false;
	}
	bool parsed = ws_options_parse(usage, s->argc, s->argv, false, s->a, &s->words, err);
	if (!parsed && err->kind == WS_ERR_NONE) {
		ws_options_help(usage, &s->out);
	}
	return parsed;
}

void
ws_session_print_json(const struct ws_session *s, const struct ws_table *table, const void *record)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_table_text(table, record, WS_JSON_PRETTY, &text);
	ws_out_result(&s->out, "%s", ws_buf_text(&text));
}
