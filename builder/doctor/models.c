/* models.c - the table of a model's kernels, and what a config.json says. */
#include "doctor/models.h"

#include "base/fs.h"
#include "base/vec.h"
#include "config/document.h"
#include "config/values.h"

#include <string.h>

#define NAMES WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED

static const struct ws_field kernel_fields[] = {
	{WS_ONE(struct ws_model_kernel, package, "package", ws_type_package),
		.flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_model_kernel, functions, function_count, "functions", ws_type_line),
		.flags = NAMES},
	{WS_ONE(struct ws_model_kernel, optional, "optional", ws_type_truth)},
};
static const struct ws_table kernel_table = {"a kernel", kernel_fields, WS_LEN(kernel_fields)};
static const struct ws_type type_kernel = WS_BY_TABLE(struct ws_model_kernel, kernel_table);

static const struct ws_field row_fields[] = {
	{WS_MANY(struct ws_model_row, types, type_count, "types", ws_type_line), .flags = NAMES},
	{WS_MANY(struct ws_model_row, kernels, kernel_count, "kernels", type_kernel),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table row_table = {"a model", row_fields, WS_LEN(row_fields)};
static const struct ws_type type_row = WS_BY_TABLE(struct ws_model_row, row_table);

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_MANY(struct ws_models, rows, row_count, "models", type_row),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table table = {"the kernels of models", fields, WS_LEN(fields)};

bool
ws_models_read(const char *facts, struct ws_arena *a, struct ws_models *models, struct ws_err *err)
{
	struct ws_document document;
	*models = (struct ws_models){0};
	if (!ws_document_read(
			ws_path_join(a, facts, "models.json", NULL), "facts file", a, &document, err)) {
		return false;
	}
	struct ws_reader r = {.doc = document.doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, document.doc->root, &table, models);
}

static bool
has_type(const struct ws_model_row *row, const char *type)
{
	for (size_t i = 0; i < row->type_count; i++) {
		if (strcmp(row->types[i], type) == 0) {
			return true;
		}
	}
	return false;
}

bool
ws_model_read(const struct ws_models *models, const char *path, struct ws_arena *a,
	struct ws_model *model, struct ws_err *err)
{
	struct ws_document document;
	WS_VEC(const struct ws_model_kernel *) kernels = {0};
	if (!ws_document_read(path, "model's configuration", a, &document, err)) {
		return false;
	}
	const struct ws_json *root = document.doc->root;
	const char *type = ws_json_text(root, "model_type");
	if (!type) {
		return ws_json_err(document.doc, root, err, "this names no model type (\"model_type\")");
	}
	for (size_t i = 0; i < models->row_count; i++) {
		const struct ws_model_row *row = &models->rows[i];
		for (size_t j = 0; has_type(row, type) && j < row->kernel_count; j++) {
			*ws_vec_push(&kernels, a) = &row->kernels[j];
		}
	}
	const char *attention = ws_json_text(root, "_attn_implementation");
	attention = attention ? attention : ws_json_text(root, "attn_implementation");
	*model = (struct ws_model){
		.type = type,
		.asks_flash = ws_same(attention, "flash_attention_2"),
		.kernels = kernels.at,
		.kernel_count = kernels.len,
	};
	return true;
}
