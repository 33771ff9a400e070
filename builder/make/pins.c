/* pins.c - one function for each kind of pin, one rule for all. */
#include "make/pins.h"

#include <string.h>

/* True when the lock may take the change; @a subject is what is pinned, @a name what `lock` calls it. */
static bool
may_change(struct ws_context *ctx, bool known, const char *name, const char *subject,
	const char *was, const char *is, struct ws_err *err)
{
	if (!ctx->locked) {
		ctx->lock_changed = true;
		if (known && !ws_same(was, is)) {
			ws_events_note(ctx->events, "the lock's pin of %s changes: %.12s is %.12s now", subject,
				was ? was : "nothing", is ? is : "nothing");
		}
		return true;
	}
	if (known) {
		ws_err_set(err, WS_ERR_CONFIG, "%s: not what the lock pins", subject);
		ws_err_cure(err, "locked: %s", was ? was : "nothing");
		ws_err_cure(err, "found:  %s", is ? is : "nothing");
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "the lock has no pin of %s", subject);
	}
	ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, known ? name : NULL);
	return ws_err_cure_code(err, WS_CURE_UNLOCKED, NULL);
}

/* What is no pin but tells where one is found: a lock that may not change has it for this run. */
static void
put_quietly(struct ws_context *ctx, bool changed)
{
	ctx->lock_changed = ctx->lock_changed || (changed && !ctx->locked);
}

bool
ws_pin_torch_kit(
	struct ws_context *ctx, const char *name, const struct ws_torch_kit *kit, struct ws_err *err)
{
	struct ws_pin_torch pin = {
		.version = name,
		.wheel = kit->wheel,
		.sha256 = kit->wheel_sha256,
		.record = kit->record_sha256,
		.tree = kit->tree->digest.hex,
		.cuda = kit->cuda,
		.cxx11abi = kit->cxx11abi,
	};
	const struct ws_pin_torch *known = ws_lock_torch(ctx->lock, name);
	/* Another Python's wheel of the same release gives the same tree: that is not a change. */
	if (known && ws_same(known->tree, pin.tree)) {
		return true;
	}
	const char *subject = ws_arena_printf(ctx->a, "torch %s", name);
	return may_change(ctx, known, "torch", subject, known ? known->tree : NULL, pin.tree, err)
		&& (ws_lock_put(ctx->lock, WS_PIN_TORCH, &pin, ctx->a), true);
}

bool
ws_pin_cuda_kit(struct ws_context *ctx, const struct ws_cuda_choice *choice,
	const struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct ws_pin_cuda pin = {
		.cuda = choice->name,
		.how = kit->how,
		.name = kit->tree ? kit->name : kit->path,
		.digest = kit->tree ? kit->tree->digest.hex : kit->fingerprint,
		.definition = kit->definition,
		.debian = kit->debian,
	};
	const struct ws_pin_cuda *known = ws_lock_cuda(ctx->lock, choice->name);
	if (known && ws_same(known->how, pin.how) && ws_same(known->digest, pin.digest)) {
		return true;
	}
	const char *subject = ws_arena_printf(ctx->a, "CUDA %s", choice->name);
	return may_change(ctx, known, "cuda", subject, known ? known->digest : NULL, pin.digest, err)
		&& (ws_lock_put(ctx->lock, WS_PIN_CUDA, &pin, ctx->a), true);
}

bool
ws_pin_source_found(struct ws_context *ctx, const struct ws_recipe *recipe,
	const struct ws_source_found *found, struct ws_err *err)
{
	const struct ws_source_spec *spec = found->spec;
	struct ws_pin_source pin = {
		.package = recipe->name,
		.version = recipe->version.text,
		.how = ws_source_kind_name(spec->kind),
		.from = spec->file ? spec->file
			: spec->url    ? spec->url
						   : spec->path,
		.sha256 = spec->sha256,
		.commit = spec->commit,
		.tree = ws_arena_strdup(ctx->a, found->tree.digest.hex),
		.definition = found->definition[0] ? found->definition : NULL,
	};
	const struct ws_pin_source *known =
		ws_lock_source(ctx->lock, recipe->name, recipe->version.text);
	if (known && ws_same(known->tree, pin.tree) && ws_same(known->how, pin.how)
		&& ws_same(known->sha256, pin.sha256) && ws_same(known->commit, pin.commit)) {
		bool defined = ws_same(known->definition, pin.definition);
		pin.from = known->from;
		return defined
			|| (put_quietly(ctx, ws_lock_put(ctx->lock, WS_PIN_SOURCE, &pin, ctx->a)), true);
	}
	const char *subject =
		ws_arena_printf(ctx->a, "the sources of %s %s", recipe->name, recipe->version.text);
	return may_change(ctx, known, recipe->name, subject, known ? known->tree : NULL, pin.tree, err)
		&& (ws_lock_put(ctx->lock, WS_PIN_SOURCE, &pin, ctx->a), true);
}

void
ws_pin_export_list(struct ws_context *ctx, const struct ws_pin_exports *pin)
{
	put_quietly(ctx, ws_lock_put(ctx->lock, WS_PIN_EXPORTS, pin, ctx->a));
}

bool
ws_pin_prebuilt_wheel(struct ws_context *ctx, const struct ws_pin_prebuilt *pin, struct ws_err *err)
{
	const struct ws_pin_prebuilt *known = ws_lock_prebuilt(ctx->lock, pin->package, pin->wheel);
	if (known && ws_same(known->sha256, pin->sha256)) {
		return true;
	}
	const char *subject = ws_arena_printf(ctx->a, "the wheel '%s'", pin->wheel);
	return may_change(
			   ctx, known, pin->package, subject, known ? known->sha256 : NULL, pin->sha256, err)
		&& (ws_lock_put(ctx->lock, WS_PIN_PREBUILT, pin, ctx->a), true);
}
