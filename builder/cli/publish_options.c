#include "cli/publish_options.h"

#include "base/fs.h"
#include "net/url.h"

static bool
find_place(struct ws_publish_options *o, struct ws_arena *a, struct ws_err *err)
{
	const char *shown = ws_url_shown(o->to, a);
	o->to_store = ws_starts_with(o->to, "s3://");
	if (!strstr(o->to, "://")) {
		return true;
	}
	if (!o->to_store) {
		ws_err_set(err, WS_ERR_USAGE, "--to '%s' is not a folder or s3://BUCKET/PREFIX", shown);
		return ws_starts_with(o->to, "http")
			? ws_err_cure(err, "for a package server:  twine upload --repository-url %s %s/*.whl",
				shown, o->sources.len > 0 ? o->sources.at[0] : "dist")
			: false;
	}
	if (ws_url_has_login(o->to)) {
		ws_err_set(err, WS_ERR_USAGE,
			"--to '%s': other users of this host could read a login in the URL", shown);
		return ws_err_cure(err,
			"put it into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a file (--login FILE)");
	}
	/* A ".." could address another bucket: URLs are normalised on their way. */
	const char *name = o->to + strlen("s3://");
	const char *bare = ws_arena_copy(a, name, strlen(name) - ws_ends_with(name, "/"));
	return (ws_path_is_inside(bare) && !strpbrk(bare, "?@"))
		|| ws_err_set(err, WS_ERR_USAGE, "--to '%s' is not s3://BUCKET/PREFIX", shown);
}

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
	return o->yank || o->unyank || o->variants || o->key || o->title || o->sources.len > 0
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
	if (!find_place(o, a, err)) {
		return false;
	}
	const struct {
		const char *option;
		bool given, for_store;
	} rows[] = {
		{"--login", o->login, true},
		{"--snapshots", o->keep, false},
		{"--variants", o->variants, false},
		{"--verify", o->verify, false},
		{"--rollback", o->roll_back, false},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		if (rows[i].given && rows[i].for_store != o->to_store) {
			return ws_err_set(err, WS_ERR_USAGE, "%s is for %s", rows[i].option,
				rows[i].for_store ? "an object store (s3://...)" : "an index in a folder");
		}
	}
	return tasks == 1 || check_edits(o, err);
}
