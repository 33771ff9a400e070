/**
 * pins.h - what was resolved, against the lock
 *
 * A new pin is added and a changed one replaced, with a note; under --locked both are errors that say
 * what differs. Reading and writing the file is config/lock's.
 */
#ifndef WS_MAKE_PINS_H
#define WS_MAKE_PINS_H

#include "fetch/source.h"
#include "make/context.h"
#include "plan/plan.h"

bool ws_pin_torch_kit(
	struct ws_context *ctx, const char *name, const struct ws_torch_kit *kit, struct ws_err *err);

bool ws_pin_cuda_kit(struct ws_context *ctx, const struct ws_cuda_choice *choice,
	const struct ws_cuda_kit *kit, struct ws_err *err);

/** @a found is what came, before any patch. */
bool ws_pin_source_found(struct ws_context *ctx, const struct ws_recipe *recipe,
	const struct ws_source_found *found, struct ws_err *err);

/**
 * A list that was made. Not held against the lock: the same libraries give it, and another program may
 * write it otherwise.
 */
void ws_pin_export_list(struct ws_context *ctx, const struct ws_pin_exports *pin);

/** A wheel that was judged to load. Of a file that is pinned already the bytes are the same. */
bool ws_pin_prebuilt_wheel(
	struct ws_context *ctx, const struct ws_pin_prebuilt *pin, struct ws_err *err);

#endif
