/**
 * schema.h - the JSON Schema of a record, generated from its table
 *
 * Serves test_base_schemas.c, which compares the files in schemas/ with the tables. An object whose
 * table has a name ("a place") becomes a definition, "#/$defs/place"; others are described in
 * place.
 */
#ifndef WS_TESTS_UNIT_SCHEMA_H
#define WS_TESTS_UNIT_SCHEMA_H

#include "base/table.h"

/** A file or an output that has a schema. */
struct ws_schema {
	const char *name; /**< "verify-1": schemas/verify-1.json */
	const char *title;
	const char *description; /**< NULL: none */
	const struct ws_table *table;
	bool closed; /**< a person writes it: other keys are mistakes, lists are not empty */
};

/** Appends the text of the schema (JSON Schema 2020-12). */
void ws_schema_write(const struct ws_schema *schema, struct ws_arena *a, struct ws_buf *out);

#endif
