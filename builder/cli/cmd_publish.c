/* cmd_publish.c - wheelsmith publish: wheels into a private index. What an index is made of is
 * publish/'s. */
#include "base/crypto.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/publish_options.h"
#include "cli/publish_remote.h"
#include "publish/folder/audit.h"
#include "publish/folder/publish.h"
#include "sys/clock.h"

#include <string.h>
#include <sys/stat.h>

#define DAY_S 86400

struct publishing {
	struct ws_session *s;
	struct ws_publish_options o;
	struct ws_index_order order;
};

static bool
parse(struct ws_session *s, struct ws_publish_options *o, int argc, const char *const *argv,
	struct ws_err *err)
{
	const struct ws_option rows[] = {
		{"to", 0, WS_OPTION_TEXT, &o->to, "TARGET", "a folder; s3://BUCKET/PREFIX; a server's URL"},
		{"login", 0, WS_OPTION_TEXT, &o->login, "FILE",
			"of a store or server: user and password, a line each"},
		{"check-url", 0, WS_OPTION_TEXT, &o->check_url, "URL",
			"its simple index, if not .../simple/"},
		{"key", 0, WS_OPTION_TEXT, &o->key, "FILE", "sign with this private key"},
		{"trust", 0, WS_OPTION_TEXT, &o->trust, "FILE", "public key of the index as it is"},
		{"sign-unsigned", 0, WS_OPTION_FLAG, &o->sign_unsigned, NULL,
			"with --key: an index that has no signature"},
		{"valid", 0, WS_OPTION_NUMBER, &o->valid_days, "DAYS", "of a signature; default: 90"},
		{"snapshots", 0, WS_OPTION_NUMBER, &o->keep, "N", "how many stay; default: 30"},
		{"force", 0, WS_OPTION_FLAG, &o->force, NULL, "publish wheels that are wrong; recorded"},
		{"require-gpu-check", 0, WS_OPTION_LIST, &o->gpu_checks, "FILE",
			"results of GPU checks: wheels must have passed"},
		{"variants", 0, WS_OPTION_FLAG, &o->variants, NULL,
			"wheel variants too (draft PEP 825), in variants/"},
		{"verify", 0, WS_OPTION_FLAG, &o->verify, NULL, "only check the index, every byte"},
		{"rollback", 0, WS_OPTION_TEXT, &o->roll_back, "SNAPSHOT",
			"show an older one: @2026-11-21.1"},
		{"title", 0, WS_OPTION_TEXT, &o->title, "TEXT",
			"of the page for people; stays until changed"},
		{"yank", 0, WS_OPTION_TEXT, &o->yank, "WHEEL", "a file, or NAME==VERSION; with --reason"},
		{"unyank", 0, WS_OPTION_TEXT, &o->unyank, "WHEEL", "take that back"},
		{"reason", 0, WS_OPTION_TEXT, &o->reason, "TEXT", "why it is yanked"},
		{"new-key", 0, WS_OPTION_TEXT, &o->new_key, "FILE", "only make a key pair: FILE, FILE.pub"},
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
	return ws_command_options(s, &usage, argc, argv, &o->sources, err);
}

static bool
publish_remote(struct publishing *p, struct ws_err *err)
{
	const struct ws_publish_remote order = {
		.to = p->o.to,
		.login = p->o.login,
		.check_url = p->o.check_url,
		.sources = &p->o.sources,
		.gpu_checks = &p->o.gpu_checks,
		.force = p->o.force,
	};
	return ws_publish_remote(p->s, &order, err);
}

/* ---- what is reported ---- */

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

static void
print_json(const struct publishing *p, const struct ws_index_outcome *o)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", "wheelsmith.publish/1");
	ws_json_add_text(w, "index", p->o.to);
	ws_json_add_text(w, "snapshot", o->snapshot);
	ws_json_add_bool(w, "changed", o->changed);
	ws_json_add_u64(w, "added", o->added);
	ws_json_add_u64(w, "restored", o->restored);
	ws_json_add_u64(w, "wheels", o->wheels);
	ws_json_add_u64(w, "variants", o->variants);
	ws_json_add_u64(w, "unplaced", o->unplaced);
	ws_json_add_texts(w, "paths", o->paths, o->path_count);
	ws_json_add_u64(w, "pages", o->pages);
	ws_json_add_u64(w, "new_pages", o->new_pages);
	ws_json_add_u64(w, "removed_snapshots", o->removed);
	ws_json_add_u64(w, "strays", o->strays);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&p->s->out, "%s", ws_buf_text(&text));
}

/* Then those are to be installed from: in this one, packages for other GPUs answer side by side. */
static bool
has_arch_paths(const struct ws_index_outcome *o, const char *path)
{
	size_t len = strlen(path);
	bool found = false;
	for (size_t i = 0; i < o->path_count; i++) {
		found = found
			|| (strncmp(o->paths[i], path, len) == 0 && ws_starts_with(o->paths[i] + len, "-sm"));
	}
	return found;
}

static void
print(const struct publishing *p, const struct ws_index_outcome *o)
{
	const struct ws_out *out = &p->s->out;
	if (o->strays > 0) {
		ws_out_warn(out, "%zu file%s or link%s that publishing did not put there: see '%s/.stray'",
			o->strays, o->strays == 1 ? "" : "s", o->strays == 1 ? "" : "s", p->o.to);
	}
	if (!o->changed) {
		ws_out_result(out, "%s: %zu wheels, nothing to do\n", p->o.to, o->wheels);
		return;
	}
	for (size_t i = 0; i < o->path_count; i++) {
		if (!has_arch_paths(o, o->paths[i])) {
			ws_out_result(out, "%s/%s/simple/\n", p->o.to, o->paths[i]);
		}
	}
	if (p->o.variants) {
		ws_out_note(out, "%zu wheel variant%s new (draft PEP 825)\n", o->variants,
			o->variants == 1 ? " is" : "s are");
	}
	if (o->unplaced > 0) {
		ws_out_note(out,
			"%zu of the new wheels are in all/ alone: no build.json says where they load\n",
			o->unplaced);
	}
	if (o->restored > 0) {
		ws_out_note(out, "%zu wheel%s restored, which %s damaged or missing\n", o->restored,
			o->restored == 1 ? "" : "s", o->restored == 1 ? "was" : "were");
	}
	ws_out_note(out, "@%s: %zu wheels, %zu of them new; %zu of %zu pages written%s\n", o->snapshot,
		o->wheels, o->added, o->new_pages, o->pages, p->o.key ? ", signed" : "");
}

/* ---- the works ---- */

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
		ws_out_result(&p->s->out, "@%s: %zu pages and %zu wheels are what was published; %s\n",
			audit.snapshot, audit.pages, audit.wheels,
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
	struct ws_index_outcome outcome;
	bool done = (!p->o.key || key) && (!p->o.trust || trust);
	p->order.key = key;
	p->order.trust = trust;
	done = done
		&& (p->o.place == WS_PUBLISH_STORE
				? ws_publish_stored(p->s, &p->order, p->o.login, &outcome, err)
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
	if (!ws_index_roll_back(&p->order, p->o.roll_back, p->s->a, err)) {
		return false;
	}
	ws_out_note(&p->s->out, "%s shows %s%s\n", p->o.to, p->o.roll_back[0] == '@' ? "" : "@",
		p->o.roll_back);
	return true;
}

static bool
make_key(struct publishing *p, struct ws_err *err)
{
	if (!ws_sign_key_make(p->o.new_key, err)) {
		return false;
	}
	ws_out_note(&p->s->out, "keep '%s' secret; give '%s.pub' to those who check\n", p->o.new_key,
		p->o.new_key);
	return true;
}

bool
ws_cmd_publish(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct publishing p = {.s = s};
	if (!parse(s, &p.o, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!ws_publish_options_check(&p.o, s->a, err)) {
		return false;
	}
	if (p.o.new_key) {
		return make_key(&p, err);
	}
	if (p.o.place == WS_PUBLISH_SERVER) {
		return publish_remote(&p, err);
	}
	if (!ws_session_open_store(s, false, err)) {
		return false;
	}
	umask(umask(0) & ~(mode_t)0055); /* whoever serves an index reads it as another user */
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
