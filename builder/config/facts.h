/**
 * facts.h - matrix/facts/torch.json and cuda.json into model/facts.h
 */
#ifndef WS_CONFIG_FACTS_H
#define WS_CONFIG_FACTS_H

#include "base/json.h"
#include "model/facts.h"

/** Reads both files of @a folder. */
bool ws_facts_read(
	const char *folder, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

/** From documents, whose texts it borrows. */
bool ws_facts_parse(const struct ws_json_doc *torch, const struct ws_json_doc *cuda,
	struct ws_arena *a, struct ws_facts *facts, struct ws_err *err);

#endif
