/* cmd_fetch.c - wheelsmith fetch and lock: download what a build needs, and pin it. */
#include "bundle/bundle.h"
#include "cli/selecting.h"
#include "make/resolve.h"
#include "report/format.h"
#include "report/status.h"

/* ---- both ---- */

struct resolved {
	size_t built, prebuilt; /* supplies */
	bool changed;           /* the pins */
};

/* Resolves all open supplies by @resolve and saves the pins. With @keeps a failure leaves the lock
 * file as it was: old pins are better than none. */
static bool
resolve_supplies(struct ws_session *s, const struct ws_context *ctx, struct ws_selection *sel,
	const struct ws_supplies *supplies, bool keeps,
	bool (*resolve)(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err),
	struct resolved *resolved, struct ws_err *err)
{
	struct ws_resolver *resolver = ws_resolver_open(ctx, &sel->pins);
	bool done = true;
	for (size_t i = 0; i < supplies->count && done; i++) {
		const struct ws_supply *supply = &supplies->at[i];
		if (ws_supply_is_prebuilt(supply)) { /* planning has fetched its wheel */
			resolved->prebuilt++;
			done = supply->product->chosen || ws_supply_fail_prebuilt(supply, err);
		} else if (ws_supply_is_open(supply)) {
			resolved->built++;
			done = resolve(resolver, supply->product, err);
		}
	}
	ws_status_clear(s->status);
	resolved->changed = sel->pins.changed;
	bool saves = done || !keeps;
	if ((saves && !ws_pins_save(&sel->pins, done ? err : NULL)) || !done) {
		return false;
	}
	return !ws_stop_asked(ctx->stop) || ws_stop_err(ctx->stop, err);
}

/* ---- fetch ---- */

struct fetching {
	struct ws_selecting selecting;
	const char *bundle; /* a file to write; NULL: none */
};

static bool
parse_fetch(
	struct ws_session *s, struct fetching *f, int argc, const char *const *argv, struct ws_err *err)
{
	const struct ws_option own[] = {
		{"bundle", 0, WS_OPTION_TEXT, &f->bundle, "FILE",
			"write all downloads into one file, for another host"},
	};
	const struct ws_usage usage = {
		.command = "fetch",
		.summary = "Downloads everything that a build needs, for `build --offline`.",
		.options = own,
		.option_count = WS_LEN(own),
	};
	ws_words words = {0};
	if (!ws_selecting_options(s, &f->selecting, &usage, argc, argv, &words, err)) {
		return false;
	}
	if (f->bundle && !f->selecting.options.matrix) {
		return ws_err_set(err, WS_ERR_USAGE, "--bundle needs --matrix FILE");
	}
	f->selecting.options.afresh = f->bundle != NULL;
	return (!f->bundle || ws_bundle_may_write(f->bundle, err))
		&& ws_selecting_finish(s, &f->selecting, &words, err);
}

/* Writes all downloads and pins into one file. */
static bool
write_bundle(struct ws_session *s, const struct fetching *f, const struct ws_context *ctx,
	struct ws_selection *sel, const struct ws_supplies *supplies, struct ws_err *err)
{
	char size[WS_FORMAT_BYTES];
	struct ws_bundle_made made;
	struct ws_bundle_order order = {
		.path = f->bundle,
		.asked =
			{
				.only = f->selecting.options.only,
				.shard = f->selecting.shard,
				.policy = ws_policy_words[sel->matrix.policy], /* it may be the user's */
				.debug_info = f->selecting.debug_info,
				.glibc = f->selecting.glibc,
				.kits = s->globals.kits,
				.torch_window = f->selecting.options.torch_window,
			},
		.selection = sel,
		.supplies = supplies,
		.store = &s->store,
	};
	if (!ws_bundle_write(ctx, &order, &made, err)) {
		return false;
	}
	ws_out_note(&s->out, "'%s': %s, sha256 %s\n", f->bundle, ws_format_size(made.bytes, size),
		made.digest.hex);
	return true;
}

/* A Python that is missing here may be on the host that builds. How many products need one. */
static size_t
warn_of_missing(const struct ws_context *ctx, const struct ws_supplies *supplies)
{
	size_t count = 0;
	for (size_t i = 0; i < supplies->count; i++) {
		struct ws_err missing = {0};
		const struct ws_supply *supply = &supplies->at[i];
		if (ws_supply_is_open(supply) && !ws_supply_is_prebuilt(supply)
			&& !ws_resolve_can_build(supply->product, &missing)) {
			ws_events_warn(ctx->events, "it can be built on another host only: %s", missing.text);
			count++;
		}
	}
	return count;
}

bool
ws_cmd_fetch(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct fetching f = {0};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_context ctx;
	struct ws_selection sel;
	if (!parse_fetch(s, &f, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	f.selecting.options.resolve = true;
	f.selecting.options.builds_elsewhere = true;
	f.selecting.options.candidates = true;
	if (!ws_selecting_plan(s, &f.selecting, true, a, &ctx, &sel, err)
		|| !ws_selecting_has_work(s, &f.selecting, &sel, err)) {
		return false;
	}
	struct ws_supplies supplies;
	struct resolved resolved = {0};
	ws_supplies_open(&supplies, &sel.plan, a);
	size_t elsewhere = f.bundle ? 0 : warn_of_missing(&ctx, &supplies);
	if (!resolve_supplies(s, &ctx, &sel, &supplies, false, ws_resolve_downloads, &resolved, err)) {
		return false;
	}
	size_t wanted = resolved.built, prebuilt = resolved.prebuilt;
	if (prebuilt > 0) {
		ws_out_note(&s->out, "%zu prebuilt wheel%s in the store '%s'\n", prebuilt,
			prebuilt == 1 ? " is" : "s are", s->store.path);
	}
	if (wanted > 0) {
		ws_out_note(&s->out, "%zu product%s can be built from the store '%s'\n", wanted - elsewhere,
			wanted - elsewhere == 1 ? "" : "s", s->store.path);
	}
	return !f.bundle || write_bundle(s, &f, &ctx, &sel, &supplies, err);
}

/* ---- lock ---- */

struct locking {
	struct ws_selecting selecting;
	ws_words update;
};

static bool
parse_lock(
	struct ws_session *s, struct locking *l, int argc, const char *const *argv, struct ws_err *err)
{
	const struct ws_option own[] = {
		{"update", 'u', WS_OPTION_LIST, &l->update, "NAME",
			"pin again: torch, cuda, a package, or 'all'"},
	};
	const struct ws_usage usage = {
		.command = "lock",
		.summary = "Pins sources, kits and torch wheels in the file beside the matrix.",
		.options = own,
		.option_count = WS_LEN(own),
	};
	ws_words words = {0};
	if (!ws_selecting_options(s, &l->selecting, &usage, argc, argv, &words, err)) {
		return false;
	}
	l->selecting.options.forget = l->update.at;
	l->selecting.options.forget_count = l->update.len;
	l->selecting.options.resolve = true;
	l->selecting.options.builds_elsewhere = true;
	l->selecting.options.candidates = true;
	return ws_selecting_finish(s, &l->selecting, &words, err);
}

bool
ws_cmd_lock(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct locking l = {.selecting.whole = true};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_context ctx;
	struct ws_selection sel;
	if (!parse_lock(s, &l, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!ws_selecting_plan(s, &l.selecting, true, a, &ctx, &sel, err)) {
		return false;
	}
	struct ws_supplies supplies;
	struct resolved resolved = {0};
	ws_supplies_open(&supplies, &sel.plan, a);
	if (!resolve_supplies(
			s, &ctx, &sel, &supplies, l.update.len > 0, ws_resolve_outside, &resolved, err)) {
		return false;
	}
	const struct ws_lock *lock = &sel.pins.lock;
	size_t wheels = lock->prebuilt.len;
	ws_out_note(&s->out, "%s: %zu sources, %zu CUDA kits, %zu torch releases%s%s\n", sel.pins.path,
		lock->sources.len, lock->cuda.len, lock->torch.len,
		wheels ? ws_arena_printf(a, ", %zu prebuilt wheels", wheels) : "",
		resolved.changed ? "" : ", as before");
	return true;
}
