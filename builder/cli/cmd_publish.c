/* cmd_publish.c - wheelsmith publish: wheels into a private index. What an index is, is index/'s. */
#include "base/fs.h"
#include "base/json_write.h"
#include "base/sign.h"
#include "cli/command.h"
#include "cli/publish_remote.h"
#include "net/url.h"
#include "publish/folder/audit.h"
#include "publish/folder/publish.h"
#include "sys/clock.h"

#include <string.h>

#define DAY_S 86400

struct publishing {
	struct ws_session *s;
	const char *to, *key, *trust, *yank, *unyank, *reason, *roll_back, *new_key, *login, *check_url;
	unsigned valid_days, keep;
	bool force, verify, variants;
	ws_words sources, gpu_checks;
	struct ws_index_order order;
};

static bool
parse(struct ws_session *s, struct publishing *p, int argc, const char *const *argv,
	struct ws_err *err)
{
	const struct ws_option rows[] = {
		{"to", 0, WS_OPTION_TEXT, &p->to, "TARGET", "a folder; s3://BUCKET/PREFIX; a server's URL"},
		{"login", 0, WS_OPTION_TEXT, &p->login, "FILE",
			"for a URL: user and password, a line each"},
		{"check-url", 0, WS_OPTION_TEXT, &p->check_url, "URL",
			"its simple index, if not .../simple/"},
		{"key", 0, WS_OPTION_TEXT, &p->key, "FILE", "sign with this private key"},
		{"trust", 0, WS_OPTION_TEXT, &p->trust, "FILE", "public key of the index as it is"},
		{"valid", 0, WS_OPTION_NUMBER, &p->valid_days, "DAYS", "of a signature; default: 90"},
		{"snapshots", 0, WS_OPTION_NUMBER, &p->keep, "N", "how many stay; default: 30"},
		{"force", 0, WS_OPTION_FLAG, &p->force, NULL, "publish wheels that are wrong; recorded"},
		{"require-gpu-check", 0, WS_OPTION_LIST, &p->gpu_checks, "FILE",
			"results of GPU checks: wheels must have passed"},
		{"variants", 0, WS_OPTION_FLAG, &p->variants, NULL,
			"wheel variants too (draft PEP 825), in variants/"},
		{"verify", 0, WS_OPTION_FLAG, &p->verify, NULL, "only check the index, every byte"},
		{"rollback", 0, WS_OPTION_TEXT, &p->roll_back, "SNAPSHOT",
			"show an older one: @2026-11-21.1"},
		{"yank", 0, WS_OPTION_TEXT, &p->yank, "WHEEL", "a file, or NAME==VERSION; with --reason"},
		{"unyank", 0, WS_OPTION_TEXT, &p->unyank, "WHEEL", "take that back"},
		{"reason", 0, WS_OPTION_TEXT, &p->reason, "TEXT", "why it is yanked"},
		{"new-key", 0, WS_OPTION_TEXT, &p->new_key, "FILE", "only make a key pair: FILE, FILE.pub"},
	};
	struct ws_usage usage = {
		.command = "publish",
		.synopsis = "DIR... --to FOLDER|URL [options]\n--verify --to FOLDER [--trust FILE]",
		.summary = "Makes, or extends, a package index of static files for any web server: all or\n"
				   "nothing. Or uploads to a server of packages. The same again changes nothing.",
		.options = rows,
		.option_count = WS_LEN(rows),
		.most = 1000,
	};
	return ws_command_options(s, &usage, argc, argv, &p->sources, err);
}

static bool
is_stored(const struct publishing *p)
{
	return ws_starts_with(p->to, "s3://");
}

static bool
refuse_login(const struct publishing *p, const char *option, const char *url, const char *cure,
	struct ws_err *err)
{
	ws_err_set(err, WS_ERR_USAGE, "%s '%s': a login in the URL would be seen by others", option,
		ws_url_shown(url, p->s->a));
	return ws_err_cure(err, "put it into %s, or a file (--login FILE)", cure);
}

static bool
check_stored(const struct publishing *p, struct ws_err *err)
{
	const char *shown = ws_url_shown(p->to, p->s->a);
	const char *name = p->to + strlen("s3://");
	size_t len = strlen(name);
	if (ws_url_has_login(p->to)) {
		return refuse_login(p, "--to", p->to, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", err);
	}
	/* A ".." would be another bucket: URLs are made shorter on the way. */
	const char *bare = ws_arena_copy(p->s->a, name, ws_ends_with(name, "/") ? len - 1 : len);
	if (!ws_path_is_inside(bare) || strpbrk(bare, "?@")) {
		return ws_err_set(err, WS_ERR_USAGE, "--to '%s' is not s3://BUCKET/PREFIX", shown);
	}
	return !(p->verify || p->roll_back || p->variants || p->check_url)
		|| ws_err_set(err, WS_ERR_USAGE,
			"--verify, --rollback and --variants are for an index in a folder, --check-url for a "
			"URL");
}

/* A server of packages keeps its index itself; in an object store the index is ours. */
static bool
check_remote(const struct publishing *p, struct ws_err *err)
{
	const char *shown = ws_url_shown(p->to, p->s->a);
	if (is_stored(p)) {
		return check_stored(p, err);
	}
	if (!ws_starts_with(p->to, "https://") && !ws_starts_with(p->to, "http://")) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--to '%s' is not a folder, an http(s) URL or s3://BUCKET/PREFIX", shown);
	}
	bool in_check = p->check_url && ws_url_has_login(p->check_url);
	if (in_check || ws_url_has_login(p->to)) {
		return refuse_login(p, in_check ? "--check-url" : "--to", in_check ? p->check_url : p->to,
			"netrc, WHEELSMITH_UPLOAD_USER and _PASSWORD", err);
	}
	if (p->key || p->trust || p->verify || p->roll_back || p->yank || p->unyank || p->variants) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--key, --trust, --verify, --rollback, --yank, --unyank and --variants are for an "
			"index in a folder");
	}
	return p->sources.len > 0
		|| ws_err_set(err, WS_ERR_USAGE, "no wheels named: give folders that have some");
}

static bool
publish_remote(struct publishing *p, struct ws_err *err)
{
	const struct ws_publish_remote order = {
		.to = p->to,
		.login = p->login,
		.check_url = p->check_url,
		.sources = &p->sources,
		.gpu_checks = &p->gpu_checks,
		.force = p->force,
	};
	return ws_publish_remote(p->s, &order, err);
}

/* What excludes what. */
static bool
check_usage(const struct publishing *p, struct ws_err *err)
{
	bool edits = p->yank || p->unyank || p->variants;
	int modes = (p->new_key != NULL) + p->verify + (p->roll_back != NULL);
	if (modes > 1 || (modes == 1 && (edits || p->sources.len > 0))) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--new-key, --verify and --rollback are separate tasks: give one of them, without "
			"wheels");
	}
	if (p->new_key) {
		return true;
	}
	if (!p->to) {
		return ws_err_set(err, WS_ERR_USAGE, "no index named: give --to FOLDER");
	}
	if (strstr(p->to, "://")) {
		return check_remote(p, err);
	}
	if (p->login || p->check_url) {
		return ws_err_set(err, WS_ERR_USAGE, "--login and --check-url are for a URL");
	}
	if (p->yank && (p->unyank || !p->reason)) {
		return ws_err_set(err, WS_ERR_USAGE,
			p->unyank ? "--yank and --unyank exclude each other" : "--yank needs --reason TEXT");
	}
	return modes == 1 || edits || p->key || p->sources.len > 0
		|| ws_err_set(err, WS_ERR_USAGE, "no wheels named: give folders that have some");
}

/* ---- what is reported ---- */

static void
tell_wait(void *self, const char *path)
{
	const struct publishing *p = self;
	ws_out_note(&p->s->out, "waiting for another publisher of '%s'\n", path);
}

static void
tell_wrong(void *self, const char *file, const char *wrong)
{
	const struct publishing *p = self;
	ws_out_warn(&p->s->out, "published although it is wrong: '%s': %s", file, wrong);
}

static void
print_json(const struct publishing *p, const struct ws_index_outcome *o)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", "wheelsmith.publish/1");
	ws_json_add_text(w, "index", p->to);
	ws_json_add_text(w, "snapshot", o->snapshot);
	ws_json_add_bool(w, "changed", o->changed);
	ws_json_add_u64(w, "added", o->added);
	ws_json_add_u64(w, "wheels", o->wheels);
	ws_json_add_u64(w, "variants", o->variants);
	ws_json_add_u64(w, "unplaced", o->unplaced);
	ws_json_add_texts(w, "paths", o->paths, o->path_count);
	ws_json_add_u64(w, "pages", o->pages);
	ws_json_add_u64(w, "new_pages", o->new_pages);
	ws_json_add_u64(w, "removed_snapshots", o->removed);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&p->s->out, "%s", ws_buf_text(&text));
}

static void
print(const struct publishing *p, const struct ws_index_outcome *o)
{
	const struct ws_out *out = &p->s->out;
	if (!o->changed) {
		ws_out_result(out, "%s: %zu wheels, nothing to do\n", p->to, o->wheels);
		return;
	}
	for (size_t i = 0; i < o->path_count; i++) {
		ws_out_result(out, "%s/%s/simple/\n", p->to, o->paths[i]);
	}
	if (p->variants) {
		ws_out_note(out, "%zu wheel variant%s new (draft PEP 825)\n", o->variants,
			o->variants == 1 ? " is" : "s are");
	}
	if (o->unplaced > 0) {
		ws_out_note(out,
			"%zu of the new wheels are in all/ alone: no build.json says where they load\n",
			o->unplaced);
	}
	ws_out_note(out, "@%s: %zu wheels, %zu of them new; %zu of %zu pages written%s\n", o->snapshot,
		o->wheels, o->added, o->new_pages, o->pages, p->key ? ", signed" : "");
}

/* ---- the works ---- */

static bool
verify(struct publishing *p, struct ws_err *err)
{
	struct ws_sign_key *key = p->trust ? ws_sign_key_read_public(p->trust, err) : NULL;
	struct ws_index_audit audit;
	bool fine = (!p->trust || key)
		&& ws_index_audit(p->to, key, ws_clock_file_ns() / 1000, &p->s->stop, p->s->a, &audit, err);
	ws_sign_key_drop(key);
	if (fine) {
		ws_out_result(&p->s->out, "@%s: %zu pages and %zu wheels are what was published; %s\n",
			audit.snapshot, audit.pages, audit.wheels,
			!audit.is_signed ? "not signed"
				: p->trust   ? "the signature holds"
							 : "signed, by whom was not asked (--trust FILE)");
	}
	return fine;
}

static bool
publish(struct publishing *p, struct ws_err *err)
{
	struct ws_sign_key *key = p->key ? ws_sign_key_read(p->key, err) : NULL;
	struct ws_sign_key *trust = p->trust ? ws_sign_key_read_public(p->trust, err) : NULL;
	struct ws_index_outcome outcome;
	bool done = (!p->key || key) && (!p->trust || trust);
	p->order.key = key;
	p->order.trust = trust;
	done = done
		&& (is_stored(p) ? ws_publish_stored(p->s, &p->order, p->login, &outcome, err)
						 : ws_index_publish(&p->order, p->s->a, &outcome, err));
	ws_sign_key_drop(key);
	ws_sign_key_drop(trust);
	if (done) {
		(p->s->globals.json ? print_json : print)(p, &outcome);
	}
	return done;
}

static bool
roll_back(struct publishing *p, struct ws_err *err)
{
	if (!ws_index_roll_back(&p->order, p->roll_back, p->s->a, err)) {
		return false;
	}
	ws_out_note(
		&p->s->out, "%s shows %s%s\n", p->to, p->roll_back[0] == '@' ? "" : "@", p->roll_back);
	return true;
}

static bool
make_key(struct publishing *p, struct ws_err *err)
{
	if (!ws_sign_key_make(p->new_key, err)) {
		return false;
	}
	ws_out_note(
		&p->s->out, "keep '%s' secret; give '%s.pub' to those who check\n", p->new_key, p->new_key);
	return true;
}

bool
ws_cmd_publish(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct publishing p = {.s = s, .valid_days = 90, .keep = 30};
	if (!parse(s, &p, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!check_usage(&p, err)) {
		return false;
	}
	if (p.new_key) {
		return make_key(&p, err);
	}
	if (strstr(p.to, "://") && !is_stored(&p)) {
		return publish_remote(&p, err);
	}
	if (!ws_session_open_store(s, false, err)) {
		return false;
	}
	p.order = (struct ws_index_order){
		.target = p.to,
		.sources = p.sources.at,
		.source_count = p.sources.len,
		.valid_s = (uint64_t)p.valid_days * DAY_S,
		.keep = p.keep,
		.gpu_checks = p.gpu_checks.at,
		.gpu_check_count = p.gpu_checks.len,
		.variants = p.variants,
		.force = p.force,
		.yank = p.yank ? p.yank : p.unyank,
		.reason = p.yank ? p.reason : NULL,
		.ledger = s->ledger,
		.stop = &s->stop,
		.now_us = ws_clock_file_ns() / 1000,
		.wait = tell_wait,
		.warn = tell_wrong,
		.self = &p,
	};
	return p.verify ? verify(&p, err) : p.roll_back ? roll_back(&p, err) : publish(&p, err);
}
