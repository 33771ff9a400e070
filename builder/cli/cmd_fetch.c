/* cmd_fetch.c - wheelsmith fetch: everything a build needs, for later and for without a network. */
#include "cli/selecting.h"
#include "produce/lock_file.h"
#include "produce/resolve.h"
#include "produce/supply.h"
#include "report/status.h"
#include "sys/stop.h"

#include <string.h>

static bool
parse(struct ws_session *s, struct ws_selecting *selecting, int argc, const char *const *argv,
	struct ws_err *err)
{
	struct ws_option rows[WS_SELECTING_ROWS];
	ws_selecting_rows(selecting, rows);
	struct ws_usage usage = {
		.command = "fetch",
		.synopsis = WS_SELECTING_SYNOPSIS,
		.summary = "Brings all that a build needs into the store, for `build --offline`.",
		.options = rows,
		.option_count = WS_LEN(rows),
		.most = 1000,
	};
	ws_words words = {0};
	if (!ws_command_options(s, &usage, argc, argv, &words, err)) {
		return false;
	}
	return ws_selecting_finish(s, selecting, &words, err);
}

static bool
fetch_product(struct ws_resolver *resolver, const struct ws_product *product, struct ws_err *err)
{
	const char *exports;
	if (!ws_resolve_outside(resolver, product, err)) {
		return false;
	}
	for (size_t i = 0; product->binding < WS_BINDING_C_ABI && i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		if (point->torch
			&& !ws_resolve_exports(resolver, point->torch, point->python, &exports, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_cmd_fetch(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct ws_selecting selecting = {0};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_context ctx;
	struct ws_selection sel;
	if (!parse(s, &selecting, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	selecting.options.resolve = true;
	selecting.options.candidates = true;
	if (!ws_selecting_plan(s, &selecting, true, a, &ctx, &sel, err)
		|| !ws_selecting_has_work(s, &selecting, &sel, err)) {
		return false;
	}
	struct ws_resolver *resolver = ws_resolver_open(&ctx);
	struct ws_supplies supplies;
	size_t wanted = 0, prebuilt = 0;
	bool done = true;
	ws_supplies_open(&supplies, &sel.plan, a);
	for (size_t i = 0; i < supplies.count && done; i++) {
		if (!ws_supply_is_open(&supplies.at[i])) {
			continue;
		}
		if (ws_supply_is_prebuilt(&supplies.at[i])) {
			prebuilt++; /* resolving has brought it */
			done = supplies.at[i].product->chosen || ws_supply_fail_prebuilt(&supplies.at[i], err);
			continue;
		}
		wanted++;
		done = fetch_product(resolver, supplies.at[i].product, err);
	}
	ws_status_clear(s->status);
	if (!ws_lock_file_save(&ctx, done ? err : NULL) || !done) {
		return false;
	}
	if (ws_stop_asked(ctx.stop)) {
		return ws_stop_err(ctx.stop, err);
	}
	if (prebuilt > 0) {
		ws_out_note(&s->out, "%zu prebuilt wheel%s in the store '%s'\n", prebuilt,
			prebuilt == 1 ? " is" : "s are", s->store.path);
	}
	if (wanted > 0) {
		ws_out_note(&s->out, "%zu product%s can be built from the store '%s'\n", wanted,
			wanted == 1 ? "" : "s", s->store.path);
	}
	return true;
}
