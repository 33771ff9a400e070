/* publish_remote.c - logins and environment for servers. What is sent is publish/'s. */
#include "cli/publish_remote.h"

#include "base/fs.h"
#include "base/json.h"
#include "model/git_url.h"
#include "net/url.h"
#include "publish/server/upload.h"
#include "store/store.h"

#include <string.h>

#define LONGEST_LOGIN 4096
#define LARGEST_NETRC ((size_t)1 << 20)

/* ---- logins ---- */

static bool
read_login(struct ws_session *s, const char *path, struct ws_login *login, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return ws_fs_read_stream(path, LONGEST_LOGIN, &text, err)
		&& ws_login_read(ws_buf_str(&text), path, s->a, login, err);
}

/* Ours first, then those that twine's users have set; else netrc's. */
static void
find_login(const struct ws_session *s, const char *host, struct ws_login *login)
{
	static const char *const names[][2] = {
		{"WHEELSMITH_UPLOAD_USER", "WHEELSMITH_UPLOAD_PASSWORD"},
		{"TWINE_USERNAME", "TWINE_PASSWORD"},
	};
	WS_AUTO_BUF struct ws_buf netrc = {0};
	const char *home = ws_user_env_get(&s->env, "HOME");
	const char *path = s->indexes.netrc_path ? s->indexes.netrc_path
		: home                               ? ws_path_join(s->a, home, ".netrc", NULL)
											 : NULL;
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *user = ws_user_env_get(&s->env, names[i][0]);
		const char *password = ws_user_env_get(&s->env, names[i][1]);
		if (password) {
			*login = (struct ws_login){user ? user : "__token__", password};
			return;
		}
	}
	if (path && ws_fs_read_at_most(path, LARGEST_NETRC, &netrc, NULL)) {
		ws_login_find_netrc(ws_buf_str(&netrc), host, s->a, login);
	}
}

static bool
set_up_login(struct ws_session *s, const struct ws_publish_remote *order, struct ws_login *login,
	struct ws_err *err)
{
	struct ws_url url;
	*login = (struct ws_login){0};
	if (!ws_url_parse(order->to, s->a, &url, err)
		|| (order->login && !read_login(s, order->login, login, err))) {
		return false;
	}
	if (!order->login) {
		find_login(s, url.host, login);
	}
	if (!login->password) {
		return true;
	}
	if (!url.is_https && !ws_host_is_loopback(ws_str_of(url.host))) {
		ws_out_warn(&s->out,
			"the password for '%s' goes over the network without encryption: use https", url.host);
	}
	return ws_http_login(s->fetch.http, order->to, login->user, login->password, err);
}

/* ---- object stores ---- */

static const char *
first_set(const struct ws_session *s, const char *const *names, size_t count, const char *otherwise)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = ws_user_env_get(&s->env, names[i]);
		if (value) {
			return value;
		}
	}
	return otherwise;
}

/* Of a login in a file the region alone is the environment's. */
static bool
check_environment(const struct ws_session *s, bool login_file, struct ws_err *err)
{
	static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};
	for (size_t i = 0; i < (login_file ? 2 : WS_LEN(names)); i++) {
		if (!ws_login_check(names[i], ws_user_env_get(&s->env, names[i]), err)) {
			return false;
		}
	}
	return true;
}

/* Names of AWS's own tools. */
static bool
open_bucket(struct ws_session *s, const char *to, const char *login_file, struct ws_bucket *b,
	struct ws_err *err)
{
	static const char *const endpoints[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
	static const char *const regions[] = {"AWS_REGION", "AWS_DEFAULT_REGION"};
	const char *name = to + strlen("s3://");
	const char *region = first_set(s, regions, WS_LEN(regions), "us-east-1");
	const char *endpoint = first_set(s, endpoints, WS_LEN(endpoints),
		ws_arena_printf(s->a, "https://s3.%s.amazonaws.com", region));
	struct ws_login login = {
		ws_user_env_get(&s->env, "AWS_ACCESS_KEY_ID"),
		ws_user_env_get(&s->env, "AWS_SECRET_ACCESS_KEY"),
	};
	size_t len = strlen(endpoint);
	*b = (struct ws_bucket){
		.http = s->fetch.http,
		.endpoint = ws_arena_copy(s->a, endpoint, endpoint[len - 1] == '/' ? len - 1 : len),
		.name = ws_ends_with(name, "/") ? name : ws_arena_printf(s->a, "%s/", name),
		.region = region,
		.token = login_file ? NULL : ws_user_env_get(&s->env, "AWS_SESSION_TOKEN"),
		.a = s->a,
	};
	if (!check_environment(s, login_file, err)
		|| (login_file && !read_login(s, login_file, &login, err))) {
		return false;
	}
	return !login.user || !login.password
		|| ws_http_login(b->http, b->endpoint, login.user, login.password, err);
}

bool
ws_publish_stored(struct ws_session *s, const struct ws_index_order *order, const char *login,
	struct ws_index_outcome *outcome, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch work = {.fd = -1};
	struct ws_bucket bucket;
	return ws_session_open_net(s, NULL, 0, false, err)
		&& open_bucket(s, order->target, login, &bucket, err)
		&& ws_scratch_make(
			ws_path_join(s->a, s->store.path, "partial", NULL), "publish-", s->a, &work, err)
		&& ws_index_publish_stored(&bucket, order, work.path, s->a, outcome, err);
}

/* ---- what is reported ---- */

static void
report_wrong(void *session, const char *file, const char *wrong)
{
	const struct ws_session *s = session;
	ws_out_warn(&s->out, "uploaded with --force although '%s' failed a check: %s", file, wrong);
}

static void
report_restricted(void *session, const char *file, const char *licence)
{
	const struct ws_session *s = session;
	ws_out_warn(
		&s->out, "'%s': its licence restricts who may use it or hand it on: %s", file, licence);
}

static void
report_sent(void *session, const char *file, bool was_there)
{
	const struct ws_session *s = session;
	ws_out_note(&s->out, "%s  %s\n", file, was_there ? "is there already" : "uploaded");
}

static void
print_json(const struct ws_session *s, const char *to, const struct ws_upload_outcome *o)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.upload/1");
	ws_json_add_text(w, "target", ws_url_shown(to, s->a));
	ws_json_add_u64(w, "sent", o->sent);
	ws_json_add_u64(w, "there", o->there);
	ws_json_add_u64(w, "sent_bytes", o->sent_bytes);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&s->out, "%s", ws_buf_text(&text));
}

bool
ws_publish_remote(struct ws_session *s, const struct ws_publish_remote *order, struct ws_err *err)
{
	struct ws_upload_outcome outcome;
	struct ws_login login;
	if (!ws_session_open_store(s, false, err) || !ws_session_open_net(s, NULL, 0, false, err)
		|| !set_up_login(s, order, &login, err)) {
		return false;
	}
	const struct ws_upload_order upload = {
		.url = order->to,
		.simple = order->check_url,
		.login = &login,
		.sources = order->sources->at,
		.source_count = order->sources->len,
		.gpu_checks = order->gpu_checks->at,
		.gpu_check_count = order->gpu_checks->len,
		.force = order->force,
		.http = s->fetch.http,
		.ledger = s->ledger,
		.stop = &s->stop,
		.warn = report_wrong,
		.restricted = report_restricted,
		.sent = report_sent,
		.self = s,
	};
	if (!ws_index_upload(&upload, s->a, &outcome, err)) {
		return false;
	}
	if (s->globals.json) {
		print_json(s, order->to, &outcome);
	} else {
		ws_out_result(&s->out, "%s: %zu uploaded, %zu there already\n", order->to, outcome.sent,
			outcome.there);
	}
	return true;
}
