/**
 * facts.h - matrix/facts/torch.json, cuda.json and known-bad.json into model/facts.h
 */
#ifndef WS_CONFIG_FACTS_H
#define WS_CONFIG_FACTS_H

#include "base/json.h"
#include "model/facts.h"
#include "model/recipe.h"

enum ws_facts_file {
	WS_FACTS_TORCH,
	WS_FACTS_CUDA,
	WS_FACTS_KNOWN_BAD,
};

/** Reads the files of @a folder. */
bool ws_facts_read(
	const char *folder, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/** Adds to @a facts one file's, from a document, whose texts it borrows. */
bool ws_facts_parse(enum ws_facts_file file, const struct ws_json_doc *doc, struct ws_arena *a,
	struct ws_facts *facts, struct ws_err *err);

/**
 * Gives @a recipe the facts' rules about its package: those about building among its own, those
 * about published wheels as bad_wheels.
 */
void ws_known_bad_add(struct ws_recipe *recipe, const struct ws_facts *facts, struct ws_arena *a);

#endif
