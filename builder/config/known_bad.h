/**
 * known_bad.h - reads matrix/facts/known-bad.json
 *
 * {"rules": [{"package", "version", "label", "when", "gcc", "why", "see"}]}:
 * schemas/facts-known-bad-1.json.
 */
#ifndef WS_CONFIG_KNOWN_BAD_H
#define WS_CONFIG_KNOWN_BAD_H

#include "base/json.h"
#include "model/facts.h"
#include "model/recipe.h"

/** Fills facts->shared_bad. */
bool ws_known_bad_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/**
 * Gives @a recipe the facts' rules about its package: those about building among its own, those
 * about published wheels as bad_wheels.
 */
void ws_known_bad_add(struct ws_recipe *recipe, const struct ws_facts *facts, struct ws_arena *a);

#endif
