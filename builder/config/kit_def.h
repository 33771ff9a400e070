/**
 * kit_def.h - matrix/kits/<name>.json into model/kit_def.h
 */
#ifndef WS_CONFIG_KIT_DEF_H
#define WS_CONFIG_KIT_DEF_H

#include "base/json.h"
#include "model/kit_def.h"

/**
 * From a document, whose texts it borrows. Every path of a map, a file, a link stays inside the
 * kit: a definition that leaves it is a mistake.
 */
bool ws_kit_def_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err);

bool ws_kit_def_read(
	const char *path, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err);

#endif
