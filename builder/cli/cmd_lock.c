/* cmd_lock.c - wheelsmith lock: pins of everything that comes from outside. */
#include "cli/selecting.h"
#include "make/resolve.h"
#include "make/supply.h"
#include "report/status.h"
#include "sys/stop.h"

struct locking {
	struct ws_selecting selecting;
	ws_words update;
};

static bool
parse(
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
	if (!parse(s, &l, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!ws_selecting_plan(s, &l.selecting, true, a, &ctx, &sel, err)) {
		return false;
	}
	struct ws_resolver *resolver = ws_resolver_open(&ctx, &sel.pins);
	struct ws_supplies supplies;
	bool done = true;
	ws_supplies_open(&supplies, &sel.plan, a);
	for (size_t i = 0; i < supplies.count && done; i++) {
		const struct ws_supply *supply = &supplies.at[i];
		if (ws_supply_is_prebuilt(supply)) {
			done = supply->product->chosen || ws_supply_fail_prebuilt(supply, err);
		} else if (ws_supply_is_open(supply)) {
			done = ws_resolve_outside(resolver, supply->product, err);
		}
	}
	ws_status_clear(s->status);
	bool changed = sel.pins.changed;
	/* Pins that were to be made anew and could not be are better than none: the file keeps them. */
	bool saves = done || l.update.len == 0;
	if ((saves && !ws_pins_save(&sel.pins, done ? err : NULL)) || !done) {
		return false;
	}
	if (ws_stop_asked(ctx.stop)) {
		return ws_stop_err(ctx.stop, err);
	}
	const struct ws_lock *lock = &sel.pins.lock;
	size_t wheels = lock->prebuilt.len;
	ws_out_note(&s->out, "%s: %zu sources, %zu CUDA kits, %zu torch releases%s%s\n", sel.pins.path,
		lock->sources.len, lock->cuda.len, lock->torch.len,
		wheels ? ws_arena_printf(a, ", %zu prebuilt wheels", wheels) : "",
		changed ? "" : ", as before");
	return true;
}
