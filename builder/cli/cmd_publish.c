/* cmd_publish.c - wheelsmith publish: wheels into a private index, in a folder or an object store.
 * Reads logins: no argument, message or report contains them. */
#include "base/fs.h"
#include "cli/publish_options.h"
#include "cli/session.h"
#include "publish/bucket/stored.h"
#include "publish/folder/audit.h"
#include "sys/clock.h"

#define DAY_S 86400
#define LONGEST_LOGIN 4096

struct publishing {
	struct ws_session *s;
	struct ws_publish_options o;
	struct ws_index_order order;
};

static bool
parse(struct ws_session *s, struct ws_publish_options *o, struct ws_err *err)
{
	const struct ws_option rows[] = {
		{"to", 0, WS_OPTION_TEXT, &o->to, "TARGET", "a folder, or s3://BUCKET/PREFIX"},
		{"login", 0, WS_OPTION_TEXT, &o->login, "FILE",
			"of an object store: key and secret, a line each"},
		{"key", 0, WS_OPTION_TEXT, &o->key, "FILE", "sign with this private key"},
		{"trust", 0, WS_OPTION_TEXT, &o->trust, "FILE", "public key that signed the index"},
		{"sign-unsigned", 0, WS_OPTION_FLAG, &o->sign_unsigned, NULL,
			"with --key: sign an index that has no signature"},
		{"valid", 0, WS_OPTION_NUMBER, &o->valid_days, "DAYS", "of a signature; default: 90"},
		{"snapshots", 0, WS_OPTION_NUMBER, &o->keep, "N", "how many to keep; default: 30"},
		{"force", 0, WS_OPTION_FLAG, &o->force, NULL,
			"publish wheels that fail a check, and record why"},
		{"require-gpu-check", 0, WS_OPTION_LIST, &o->gpu_checks, "FILE",
			"results of GPU checks: wheels must have passed"},
		{"variants", 0, WS_OPTION_FLAG, &o->variants, NULL,
			"also wheel variants (draft PEP 825), in variants/"},
		{"verify", 0, WS_OPTION_FLAG, &o->verify, NULL, "only check every byte of the index"},
		{"rollback", 0, WS_OPTION_TEXT, &o->roll_back, "SNAPSHOT",
			"show an older one: @2026-11-21.1"},
		{"title", 0, WS_OPTION_TEXT, &o->title, "TEXT",
			"title of the page for people; kept until changed"},
		{"yank", 0, WS_OPTION_TEXT, &o->yank, "WHEEL", "a file, or NAME==VERSION; with --reason"},
		{"unyank", 0, WS_OPTION_TEXT, &o->unyank, "WHEEL", "undo a yank"},
		{"reason", 0, WS_OPTION_TEXT, &o->reason, "TEXT", "why it is yanked"},
		{"new-key", 0, WS_OPTION_TEXT, &o->new_key, "FILE", "only make a key pair: FILE, FILE.pub"},
	};
	struct ws_usage usage = {
		.command = "publish",
		.synopsis = "DIR... --to FOLDER [options]\n--verify --to FOLDER [--trust FILE]",
		.summary =
			"Makes or extends a package index of static files for any web server. Publishes\n"
			"all wheels or none; the same wheels again change nothing.",
		WS_OPTIONS(rows),
		.most = 1000,
	};
	bool given = ws_command_options(s, &usage, err);
	o->sources = s->words;
	return given;
}

/* ---- object stores ---- */

static const char *
env_or(const struct ws_session *s, const char *name, const char *otherwise)
{
	const char *value = ws_user_env_get(&s->env, name);
	return value ? value : otherwise;
}

/* Values that are sent as part of a header. */
static bool
check_header(const char *name, const char *value, struct ws_err *err)
{
	return !value || !ws_has_control(value)
		|| ws_err_set(err, WS_ERR_CONFIG, "%s has a control character, perhaps a line break", name);
}

static bool
read_login(struct ws_session *s, const char *path, const char **key, const char **secret,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read_stream(path, LONGEST_LOGIN, &text, err)) {
		return false;
	}
	struct ws_str rest = ws_buf_str(&text);
	*key = ws_str_copy(ws_str_trim(ws_str_cut(&rest, '\n')), s->a);
	*secret = rest.s ? ws_str_copy(ws_str_trim(ws_str_cut(&rest, '\n')), s->a) : "";
	if (!*key[0] || !*secret[0]) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is not a login: key and secret, a line each", path);
	}
	const char *shown = ws_arena_printf(s->a, "'%s'", path);
	return check_header(shown, *key, err) && check_header(shown, *secret, err);
}

/* By the variables of AWS's own tools. */
static bool
open_bucket(struct ws_session *s, const struct ws_publish_options *o, struct ws_bucket *b,
	struct ws_err *err)
{
	static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};
	const char *name = o->to + strlen("s3://");
	const char *key = ws_user_env_get(&s->env, "AWS_ACCESS_KEY_ID");
	const char *secret = ws_user_env_get(&s->env, "AWS_SECRET_ACCESS_KEY");
	for (size_t i = 0; i < (o->login ? 2 : WS_LEN(names)); i++) {
		if (!check_header(names[i], ws_user_env_get(&s->env, names[i]), err)) {
			return false;
		}
	}
	if (o->login && !read_login(s, o->login, &key, &secret, err)) {
		return false;
	}
	const char *region = env_or(s, "AWS_REGION", env_or(s, "AWS_DEFAULT_REGION", "us-east-1"));
	const char *endpoint = ws_arena_printf(s->a, "https://s3.%s.amazonaws.com", region);
	endpoint = env_or(s, "AWS_ENDPOINT_URL_S3", env_or(s, "AWS_ENDPOINT_URL", endpoint));
	*b = (struct ws_bucket){
		.http = s->fetch.http,
		.endpoint = ws_arena_copy(s->a, endpoint, strlen(endpoint) - ws_ends_with(endpoint, "/")),
		.name = ws_ends_with(name, "/") ? name : ws_arena_printf(s->a, "%s/", name),
		.region = region,
		.token = o->login ? NULL : ws_user_env_get(&s->env, "AWS_SESSION_TOKEN"),
		.a = s->a,
	};
	return !key || !secret || ws_http_login(b->http, b->endpoint, key, secret, err);
}

/* ---- reports ---- */

static void
report_wait(void *self, const char *path)
{
	const struct publishing *p = self;
	ws_out_note(&p->s->out, "waiting for another publisher of '%s'\n", path);
}

static void
report_wrong(void *self, const char *file, const char *wrong)
{
	const struct publishing *p = self;
	ws_out_warn(&p->s->out, "published with --force although '%s' failed a check: %s", file, wrong);
}

static void
report_restricted(void *self, const char *file, const char *licence)
{
	const struct publishing *p = self;
	ws_out_warn(
		&p->s->out, "'%s': its licence restricts who may use it or hand it on: %s", file, licence);
}

/* The JSON output. */
struct report {
	const char *index;
	struct ws_index_outcome done;
};

#define REPORT struct report
static const struct ws_field report_fields[] = {
	WS_FIXED("schema", "wheelsmith.publish/1"),
	WS_VALUE("index", REPORT, index, WS_ALWAYS, "--to, as it was written"),
	WS_VALUE("snapshot", REPORT, done.snapshot, WS_ALWAYS, "the visible one"),
	WS_VALUE("changed", REPORT, done.changed, WS_ALWAYS, "false: there was nothing to do"),
	WS_VALUE("added", REPORT, done.added, WS_ALWAYS, "new wheels"),
	WS_VALUE("restored", REPORT, done.restored, WS_ALWAYS,
		"published wheels that were damaged or missing"),
	WS_VALUE("wheels", REPORT, done.wheels, WS_ALWAYS, "all wheels"),
	WS_VALUE("variants", REPORT, done.variants, WS_ALWAYS, "new wheel variants"),
	WS_VALUE("unplaced", REPORT, done.unplaced, WS_ALWAYS, "new wheels that are in all/ only"),
	WS_LIST("paths", REPORT, done.paths, done.path_count, WS_ALWAYS, "empty: nothing changed"),
	WS_VALUE("pages", REPORT, done.pages, WS_ALWAYS, "0: nothing changed"),
	WS_VALUE("new_pages", REPORT, done.new_pages, WS_ALWAYS,
		"pages that differ from the snapshot before"),
	WS_VALUE("removed_snapshots", REPORT, done.removed, WS_ALWAYS, NULL),
	WS_VALUE("strays", REPORT, done.strays, WS_ALWAYS,
		"files and links not made by publishing, moved to .stray"),
};
const struct ws_table ws_publish_report_table = {NULL, report_fields, WS_LEN(report_fields)};

static const char *
plural_s(size_t count)
{
	return count == 1 ? "" : "s";
}

static void
print(const struct publishing *p, const struct ws_index_outcome *o)
{
	const struct ws_out *out = &p->s->out;
	if (o->strays > 0) {
		ws_out_warn(out, "%zu file%s not made by publishing moved to '%s/.stray'", o->strays,
			plural_s(o->strays), p->o.to);
	}
	if (p->o.variants) {
		ws_out_note(out, "%zu new wheel variant%s (draft PEP 825)%s\n", o->variants,
			plural_s(o->variants),
			o->variants == 0 ? "; only wheels that are bound to a torch have one" : "");
	}
	if (!o->changed) {
		ws_out_result(
			out, "%s: %zu wheel%s, nothing to do\n", p->o.to, o->wheels, plural_s(o->wheels));
		return;
	}
	/* Users install from the paths of an architecture. The path without one mixes wheels for
	 * different GPUs and is not printed beside them. */
	for (size_t i = 0; i < o->path_count; i++) {
		size_t len = strlen(o->paths[i]);
		bool has_archs = false;
		for (size_t k = 0; k < o->path_count; k++) {
			bool below = strncmp(o->paths[k], o->paths[i], len) == 0;
			has_archs = has_archs || (below && ws_starts_with(o->paths[k] + len, "-sm"));
		}
		if (!has_archs) {
			ws_out_result(out, "%s/%s/simple/\n", p->o.to, o->paths[i]);
		}
	}
	if (o->unplaced > 0) {
		ws_out_note(out, "%zu new wheel%s in all/ only, as no build.json lists where %s: '%s'%s\n",
			o->unplaced, plural_s(o->unplaced), o->unplaced == 1 ? "it loads" : "they load",
			o->unplaced_file, o->unplaced > 1 ? ", ..." : "");
	}
	if (o->restored > 0) {
		ws_out_note(
			out, "%zu damaged or missing wheel%s restored\n", o->restored, plural_s(o->restored));
	}
	ws_out_note(out, "@%s: %zu wheel%s, %zu of them new; %zu of %zu pages written%s\n", o->snapshot,
		o->wheels, plural_s(o->wheels), o->added, o->new_pages, o->pages,
		p->o.key ? ", signed" : "");
}

/* ---- tasks ---- */

static bool
verify(struct publishing *p, struct ws_err *err)
{
	struct ws_sign_key *key = p->o.trust ? ws_sign_key_read_public(p->o.trust, err) : NULL;
	struct ws_index_audit audit;
	bool fine = (!p->o.trust || key)
		&& ws_index_audit(
			p->o.to, key, ws_clock_file_ns() / 1000, &p->s->stop, p->s->a, &audit, err);
	ws_sign_key_drop(key);
	if (fine) {
		ws_out_result(&p->s->out, "@%s: %zu pages and %zu wheel%s are as published; %s\n",
			audit.snapshot, audit.pages, audit.wheels, plural_s(audit.wheels),
			!audit.is_signed ? "not signed"
				: p->o.trust ? "the signature holds"
							 : "signed; signer not checked (--trust FILE)");
	}
	return fine;
}

static bool
publish(struct publishing *p, struct ws_err *err)
{
	struct ws_sign_key *key = p->o.key ? ws_sign_key_read(p->o.key, err) : NULL;
	struct ws_sign_key *trust = p->o.trust ? ws_sign_key_read_public(p->o.trust, err) : NULL;
	struct ws_session *s = p->s;
	WS_AUTO_SCRATCH struct ws_scratch work = {.fd = -1};
	struct ws_bucket bucket;
	struct ws_index_outcome outcome;
	bool done = (!p->o.key || key) && (!p->o.trust || trust);
	p->order.key = key;
	p->order.trust = trust;
	if (done && p->o.to_store) {
		const char *partial = ws_path_join(s->a, s->store.path, "partial", NULL);
		done = ws_session_open_net(s, NULL, false, err) && open_bucket(s, &p->o, &bucket, err)
			&& ws_scratch_make(partial, "publish-", s->a, &work, err)
			&& ws_index_publish_stored(&bucket, &p->order, work.path, s->a, &outcome, err);
	} else if (done) {
		done = ws_index_publish(&p->order, s->a, &outcome, err);
	}
	ws_sign_key_drop(key);
	ws_sign_key_drop(trust);
	if (done) {
		if (p->s->globals.json) {
			ws_session_print_json(
				p->s, &ws_publish_report_table, &(struct report){p->o.to, outcome});
		} else {
			print(p, &outcome);
		}
	}
	return done;
}

static bool
roll_back(struct publishing *p, struct ws_err *err)
{
	if (!ws_index_roll_back(&p->order, p->o.roll_back, p->s->a, err)) {
		return false;
	}
	ws_out_note(&p->s->out, "%s shows %s%s\n", p->o.to, p->o.roll_back[0] == '@' ? "" : "@",
		p->o.roll_back);
	return true;
}

bool
ws_cmd_publish(struct ws_session *s, struct ws_err *err)
{
	struct publishing p = {.s = s};
	if (!parse(s, &p.o, err) || !ws_publish_options_check(&p.o, s->a, err)) {
		return false;
	}
	if (p.o.new_key) {
		if (!ws_sign_key_make(p.o.new_key, err)) {
			return false;
		}
		ws_out_note(&p.s->out, "keep '%s' secret; give '%s.pub' to those who check\n", p.o.new_key,
			p.o.new_key);
		return true;
	}
	if (!ws_session_open_store(s, false, err)) {
		return false;
	}
	umask(umask(0) & ~(mode_t)0055); /* a web server reads the index as another user */
	p.order = (struct ws_index_order){
		.target = p.o.to,
		.sources = p.o.sources.at,
		.source_count = p.o.sources.len,
		.valid_s = (uint64_t)(p.o.valid_days ? p.o.valid_days : 90) * DAY_S,
		.keep = p.o.keep ? p.o.keep : 30,
		.gpu_checks = p.o.gpu_checks.at,
		.gpu_check_count = p.o.gpu_checks.len,
		.variants = p.o.variants,
		.force = p.o.force,
		.title = p.o.title,
		.sign_unsigned = p.o.sign_unsigned,
		.yank = p.o.yank ? p.o.yank : p.o.unyank,
		.reason = p.o.yank ? p.o.reason : NULL,
		.ledger = s->ledger,
		.stop = &s->stop,
		.now_us = ws_clock_file_ns() / 1000,
		.wait = report_wait,
		.warn = report_wrong,
		.restricted = report_restricted,
		.self = &p,
	};
	return p.o.verify ? verify(&p, err) : p.o.roll_back ? roll_back(&p, err) : publish(&p, err);
}
