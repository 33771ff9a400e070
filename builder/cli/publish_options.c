/* publish_options.c - a table of the options and of the kinds of index that each is for; then what
 * excludes what. */
#include "cli/publish_options.h"

#include "base/fs.h"
#include "net/url.h"

#include <string.h>

static const char *
place_name(unsigned places)
{
	switch (places) {
	case WS_PUBLISH_FOLDER:
		return "an index in a folder";
	case WS_PUBLISH_SERVER:
		return "a server (https://...)";
	case WS_PUBLISH_FOLDER | WS_PUBLISH_STORE:
		return "an index in a folder or in an object store (s3://...)";
	default:
		return "an object store (s3://...) or a server (https://...)";
	}
}

static bool
check_places(const struct ws_publish_options *o, struct ws_err *err)
{
	enum { OURS = WS_PUBLISH_FOLDER | WS_PUBLISH_STORE }; /* a server makes its index itself */
	const struct {
		const char *option;
		bool given;
		unsigned places;
	} rows[] = {
		{"--login", o->login, WS_PUBLISH_STORE | WS_PUBLISH_SERVER},
		{"--check-url", o->check_url, WS_PUBLISH_SERVER},
		{"--key", o->key, OURS},
		{"--trust", o->trust, OURS},
		{"--sign-unsigned", o->sign_unsigned, OURS},
		{"--valid", o->valid_days, OURS},
		{"--snapshots", o->keep, WS_PUBLISH_FOLDER},
		{"--variants", o->variants, WS_PUBLISH_FOLDER},
		{"--verify", o->verify, WS_PUBLISH_FOLDER},
		{"--rollback", o->roll_back, WS_PUBLISH_FOLDER},
		{"--title", o->title, OURS},
		{"--yank", o->yank, OURS},
		{"--unyank", o->unyank, OURS},
		{"--reason", o->reason, OURS},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		if (rows[i].given && !(rows[i].places & o->place)) {
			return ws_err_set(
				err, WS_ERR_USAGE, "%s is for %s", rows[i].option, place_name(rows[i].places));
		}
	}
	return true;
}

static bool
refuse_login(const struct ws_publish_options *o, const char *option, const char *url,
	struct ws_arena *a, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_USAGE, "%s '%s': a login in the URL would be seen by others", option,
		ws_url_shown(url, a));
	return ws_err_cure(err, "put it into %s, or a file (--login FILE)",
		o->place == WS_PUBLISH_STORE ? "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
									 : "netrc, WHEELSMITH_UPLOAD_USER and _PASSWORD");
}

/* A ".." would be another bucket: URLs are made shorter on the way. */
static bool
is_bucket(const char *to, struct ws_arena *a)
{
	const char *name = to + strlen("s3://");
	const char *bare = ws_arena_copy(a, name, strlen(name) - ws_ends_with(name, "/"));
	return ws_path_is_inside(bare) && !strpbrk(bare, "?@");
}

static bool
find_place(struct ws_publish_options *o, struct ws_arena *a, struct ws_err *err)
{
	const char *shown = ws_url_shown(o->to, a);
	if (!strstr(o->to, "://")) {
		o->place = WS_PUBLISH_FOLDER;
		return true;
	}
	bool is_http = ws_starts_with(o->to, "https://") || ws_starts_with(o->to, "http://");
	if (!is_http && !ws_starts_with(o->to, "s3://")) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--to '%s' is not a folder, an http(s) URL or s3://BUCKET/PREFIX", shown);
	}
	o->place = is_http ? WS_PUBLISH_SERVER : WS_PUBLISH_STORE;
	if (ws_url_has_login(o->to)) {
		return refuse_login(o, "--to", o->to, a, err);
	}
	if (o->check_url && ws_url_has_login(o->check_url)) {
		return refuse_login(o, "--check-url", o->check_url, a, err);
	}
	return is_http || is_bucket(o->to, a)
		|| ws_err_set(err, WS_ERR_USAGE, "--to '%s' is not s3://BUCKET/PREFIX", shown);
}

/* Of what changes the index. */
static bool
check_edits(const struct ws_publish_options *o, struct ws_err *err)
{
	if (o->yank && o->unyank) {
		return ws_err_set(err, WS_ERR_USAGE, "--yank and --unyank exclude each other");
	}
	if ((o->yank != NULL) != (o->reason != NULL)) {
		return ws_err_set(
			err, WS_ERR_USAGE, o->yank ? "--yank needs --reason TEXT" : "--reason is for --yank");
	}
	if (o->sign_unsigned && !o->key) {
		return ws_err_set(err, WS_ERR_USAGE, "--sign-unsigned needs --key FILE");
	}
	bool ours = o->place != WS_PUBLISH_SERVER;
	return (ours && (o->yank || o->unyank || o->variants || o->key || o->title))
		|| o->sources.len > 0
		|| ws_err_set(err, WS_ERR_USAGE, "no wheels named: give folders that have some");
}

bool
ws_publish_options_check(struct ws_publish_options *o, struct ws_arena *a, struct ws_err *err)
{
	int tasks = (o->new_key != NULL) + o->verify + (o->roll_back != NULL);
	bool edits = o->yank || o->unyank || o->title || o->variants || o->sources.len > 0;
	if (tasks > 1 || (tasks == 1 && edits)) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--new-key, --verify and --rollback are separate tasks: give one of them, without "
			"wheels");
	}
	if (o->new_key) {
		return true;
	}
	if (!o->to) {
		return ws_err_set(err, WS_ERR_USAGE, "no index named: give --to FOLDER");
	}
	return find_place(o, a, err) && check_places(o, err) && (tasks == 1 || check_edits(o, err));
}
