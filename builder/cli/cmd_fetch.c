/* cmd_fetch.c - wheelsmith fetch and lock: download what a build needs, and pin it. */
#include "bundle/bundle.h"
#include "cli/selecting.h"
#include "make/resolve.h"
#include "report/format.h"
#include "report/status.h"

/* The state of either command. */
struct fetching {
	struct ws_selecting selecting;
	const char *bundle; /* fetch: a file to write; NULL: none */
	ws_words update;    /* lock: what is pinned again */
	struct ws_supplies supplies;
	size_t built, prebuilt; /* supplies of each kind */
	bool changed;           /* the pins, before they were saved */
};

/* Resolves all open supplies by @resolve and saves the pins. With `update` a failure leaves the
 * lock file as it was: old pins are better than none. */
static bool
resolve_supplies(struct ws_session *s, struct fetching *f,
	bool (*resolve)(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err),
	struct ws_err *err)
{
	const struct ws_context *ctx = &f->selecting.ctx;
	struct ws_pins *pins = &f->selecting.sel.pins;
	const struct ws_plan *plan = &f->selecting.sel.plan;
	struct ws_resolver *resolver = ws_resolver_open(ctx, pins, plan->products, plan->product_count);
	bool done = true;
	for (size_t i = 0; i < f->supplies.count && done; i++) {
		const struct ws_supply *supply = &f->supplies.at[i];
		if (ws_supply_is_prebuilt(supply)) { /* planning has fetched its wheel */
			f->prebuilt++;
			done = supply->product->chosen || ws_supply_fail_prebuilt(supply, err);
		} else if (ws_supply_is_open(supply)) {
			f->built++;
			done = resolve(resolver, supply->product, err);
		}
	}
	ws_status_clear(s->status);
	f->changed = pins->changed;
	bool saves = done || f->update.len == 0;
	if ((saves && !ws_pins_save(pins, done ? err : NULL)) || !done) {
		return false;
	}
	return !ws_stop_asked(ctx->stop) || ws_stop_err(ctx->stop, err);
}

/* Writes all downloads and pins into one file. */
static bool
write_bundle(struct ws_session *s, struct fetching *f, struct ws_err *err)
{
	char size[WS_FORMAT_BYTES];
	struct ws_bundle_made made;
	struct ws_selection *sel = &f->selecting.sel;
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
		.supplies = &f->supplies,
		.store = &s->store,
	};
	if (!ws_bundle_write(&f->selecting.ctx, &order, &made, err)) {
		return false;
	}
	ws_out_note(&s->out, "'%s': %s, sha256 %s\n", f->bundle, ws_format_size(made.bytes, size),
		made.digest.hex);
	return true;
}

bool
ws_cmd_fetch(struct ws_session *s, struct ws_err *err)
{
	struct fetching f = {
		.selecting.options = {.resolve = true, .builds_elsewhere = true, .candidates = true}};
	const struct ws_option own[] = {
		{"bundle", 0, WS_OPTION_TEXT, &f.bundle, "FILE",
			"write all downloads into one file, for another host"},
	};
	const struct ws_usage usage = {
		.command = "fetch",
		.summary = "Downloads everything that a build needs, for `build --offline`.",
		WS_OPTIONS(own),
	};
	if (!ws_selecting_options(s, &f.selecting, &usage, err)) {
		return false;
	}
	if (f.bundle && !f.selecting.options.matrix) {
		return ws_err_set(err, WS_ERR_USAGE, "--bundle needs --matrix FILE");
	}
	f.selecting.options.afresh = f.bundle != NULL;
	if ((f.bundle && !ws_bundle_may_write(f.bundle, err))
		|| !ws_selecting_finish(s, &f.selecting, err)
		|| !ws_selecting_plan(s, &f.selecting, true, err)
		|| !ws_selecting_has_work(s, &f.selecting, err)) {
		return false;
	}
	ws_supplies_open(&f.supplies, &f.selecting.sel.plan, s->a);
	/* A Python that is missing here may be on the host that builds. */
	size_t elsewhere = 0;
	for (size_t i = 0; i < f.supplies.count && !f.bundle; i++) {
		const struct ws_supply *supply = &f.supplies.at[i];
		const struct ws_product *product = supply->product;
		const struct ws_plan_python *python = product->point.python->interpreter;
		if (ws_supply_is_open(supply) && !ws_supply_is_prebuilt(supply) && product->includes_python
			&& python && python->missing) {
			ws_events_warn(&s->events, "it can be built on another host only: %s: %s",
				product->cells[0]->name, python->missing->text);
			elsewhere++;
		}
	}
	if (!resolve_supplies(s, &f, ws_resolve_downloads, err)) {
		return false;
	}
	if (f.prebuilt > 0) {
		ws_out_note(&s->out, "%zu prebuilt wheel%s in the store '%s'\n", f.prebuilt,
			f.prebuilt == 1 ? " is" : "s are", s->store.path);
	}
	if (f.built > 0) {
		ws_out_note(&s->out, "%zu product%s can be built from the store '%s'\n",
			f.built - elsewhere, f.built - elsewhere == 1 ? "" : "s", s->store.path);
	}
	return !f.bundle || write_bundle(s, &f, err);
}

bool
ws_cmd_lock(struct ws_session *s, struct ws_err *err)
{
	struct fetching l = {
		.selecting = {.whole = true,
			.options = {.resolve = true, .builds_elsewhere = true, .candidates = true}}};
	const struct ws_option own[] = {
		{"update", 'u', WS_OPTION_LIST, &l.update, "NAME",
			"pin again: torch, cuda, a package, or 'all'"},
	};
	const struct ws_usage usage = {
		.command = "lock",
		.summary = "Pins sources, kits and torch wheels in the file beside the matrix.",
		WS_OPTIONS(own),
	};
	if (!ws_selecting_options(s, &l.selecting, &usage, err)) {
		return false;
	}
	l.selecting.options.forget = l.update.at;
	l.selecting.options.forget_count = l.update.len;
	if (!ws_selecting_finish(s, &l.selecting, err)
		|| !ws_selecting_plan(s, &l.selecting, true, err)) {
		return false;
	}
	ws_supplies_open(&l.supplies, &l.selecting.sel.plan, s->a);
	if (!resolve_supplies(s, &l, ws_resolve_outside, err)) {
		return false;
	}
	const struct ws_pins *pins = &l.selecting.sel.pins;
	const struct ws_lock *lock = &pins->lock;
	size_t wheels = lock->prebuilt.len;
	ws_out_note(&s->out, "%s: %zu sources, %zu CUDA kits, %zu torch releases%s%s\n", pins->path,
		lock->sources.len, lock->cuda.len, lock->torch.len,
		wheels ? ws_arena_printf(s->a, ", %zu prebuilt wheels", wheels) : "",
		l.changed ? "" : ", as before");
	return true;
}
