/**
 * probe.h - what planning must be told of pins, sources and torch releases: the store's and the
 * index's answers
 */
#ifndef WS_PRODUCE_PROBE_H
#define WS_PRODUCE_PROBE_H

#include "make/context.h"
#include "make/pins.h"
#include "plan/input.h"

/**
 * Fills input->lock and known: the selection's pins, with the sources as they are now. A local
 * folder is read for that; of everything else the store is asked. Only keys see the difference.
 */
void ws_probe_pins(
	const struct ws_context *ctx, const struct ws_pins *pins, struct ws_plan_input *input);

/**
 * Fills input->listings from trees in the store, so that a glob is planned file by file. A recipe
 * whose sources were never brought keeps none.
 */
void ws_probe_sources(
	const struct ws_context *ctx, const struct ws_lock *lock, struct ws_plan_input *input);

/**
 * A torch release that neither facts nor lock know is looked for on the index. Found is enough (the
 * plan warns of it); not found is WS_ERR_CONFIG at its place with near releases, an index that does
 * not answer WS_ERR_FETCH. Where nobody may be asked it is WS_ERR_CONFIG with a cure that names
 * `lock`.
 */
bool ws_probe_torch_releases(const struct ws_context *ctx, const struct ws_lock *lock,
	const struct ws_matrix *matrix, struct ws_err *err);

#endif
