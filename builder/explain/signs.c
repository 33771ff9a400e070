/* signs.c - the table of one sign. */
#include "explain/signs.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/values.h"

static bool
read_pattern(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a text");
	const char *fault = text ? ws_pattern_fault(text) : NULL;
	*(const char **)into = text;
	return text
		&& (!fault || ws_json_err(r->doc, value, r->err, "this is not a pattern: %s", fault));
}

static const struct ws_type type_pattern =
	WS_VALUES(const char *, "a pattern", "patterns", read_pattern);

static const struct ws_field sign_fields[] = {
	{WS_ONE(struct ws_sign, name, "sign", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_sign, texts, text_count, "text", type_pattern),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_sign, cause, "cause", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_sign, cures, cure_count, "cure", ws_type_line), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_sign, build_cures, build_cure_count, "build", ws_type_line),
		.flags = WS_FIELD_LIST},
	{WS_ONE(struct ws_sign, package, "package", ws_type_package)},
	{WS_ONE(struct ws_sign, symbol, "symbol", ws_type_truth)},
	{WS_ONE(struct ws_sign, from, "from", ws_type_line)},
};
static const struct ws_table sign_table = {"a sign", sign_fields, WS_LEN(sign_fields)};
static const struct ws_type type_sign = WS_BY_TABLE(struct ws_sign, sign_table);

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_MANY(struct ws_signs, at, count, "signs", type_sign),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table table = {"the signs of errors", fields, WS_LEN(fields)};

bool
ws_signs_read(const char *facts, struct ws_arena *a, struct ws_signs *signs, struct ws_err *err)
{
	struct ws_document document;
	const char *path = ws_path_join(a, facts, "signs.json", NULL);
	*signs = (struct ws_signs){0};
	if (!ws_document_read(path, "facts file", a, &document, err)) {
		return false;
	}
	struct ws_reader r = {.doc = document.doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, document.doc->root, &table, signs);
}
