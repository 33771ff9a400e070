/**
 * facts.h - matrix/facts/torch.json and cuda.json into model/facts.h
 */
#ifndef WS_CONFIG_FACTS_H
#define WS_CONFIG_FACTS_H

#include "base/json.h"
#include "model/facts.h"
#include "model/recipe.h"

/** Reads both files of @a folder. */
bool ws_facts_read(
	const char *folder, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/** From documents, whose texts it borrows. */
bool ws_facts_parse(const struct ws_json_doc *torch, const struct ws_json_doc *cuda,
	struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/* ---- known-bad.json ---- */

/** Fills facts->shared_bad. */
bool ws_known_bad_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/**
 * Gives @a recipe the facts' rules about its package: those about building among its own, those
 * about published wheels as bad_wheels.
 */
void ws_known_bad_add(struct ws_recipe *recipe, const struct ws_facts *facts, struct ws_arena *a);

#endif
