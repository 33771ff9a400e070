/* models.c - which kernels a model needs: the table of them, its config.json, and what is there. */
#include "base/fs.h"
#include "config/values.h"
#include "doctor/doctor.h"

/* One row of the table: the kernels of these types of models. */
struct row {
	const char *const *types;
	size_t type_count;
	const struct ws_model_kernel *kernels;
	size_t kernel_count;
};

struct models {
	const struct row *rows;
	size_t row_count;
};

#define NAMES WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED

static const struct ws_field kernel_fields[] = {
	{WS_ONE(struct ws_model_kernel, package, "package", ws_type_package),
		.flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_model_kernel, functions, function_count, "functions", ws_type_line),
		.flags = NAMES},
	{WS_ONE(struct ws_model_kernel, optional, "optional", ws_value_bool)},
};
static const struct ws_table kernel_table = {"a kernel", kernel_fields, WS_LEN(kernel_fields)};
static const struct ws_type type_kernel = WS_BY_TABLE(struct ws_model_kernel, kernel_table);

static const struct ws_field row_fields[] = {
	{WS_MANY(struct row, types, type_count, "types", ws_type_line), .flags = NAMES},
	{WS_MANY(struct row, kernels, kernel_count, "kernels", type_kernel),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table row_table = {"a model", row_fields, WS_LEN(row_fields)};
static const struct ws_type type_row = WS_BY_TABLE(struct row, row_table);

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_MANY(struct models, rows, row_count, "models", type_row),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table table = {"the kernels of models", fields, WS_LEN(fields)};

static bool
read_models(const char *facts, struct ws_arena *a, struct models *models, struct ws_err *err)
{
	struct ws_document document;
	*models = (struct models){0};
	if (!ws_document_read(
			ws_path_join(a, facts, "models.json", NULL), "facts file", a, &document, err)) {
		return false;
	}
	struct ws_reader r = {.doc = document.doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, document.doc->root, &table, models);
}

static bool
read_model(const struct models *models, const char *path, struct ws_arena *a,
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
		const struct row *row = &models->rows[i];
		bool is_its = ws_is_among(type, row->types, row->type_count);
		for (size_t j = 0; is_its && j < row->kernel_count; j++) {
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

/* ---- rows ---- */

void
ws_doctor_model_read(struct ws_doctor *d)
{
	struct models *models = WS_NEW(d->a, struct models);
	struct ws_model *wants = WS_NEW(d->a, struct ws_model);
	struct ws_err err = {0};
	if (d->model && read_models(d->data->facts, d->a, models, &err)
		&& read_model(models, d->model, d->a, wants, &err)) {
		d->wants = wants;
	} else if (d->model) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
	}
}

/* "selective_scan_fn, mamba_inner_fn": those that were not found, whatever module they are in, or
 * with which something is wrong; "" none. */
static const char *
missing_of(const struct ws_doctor *d, const struct ws_model_kernel *kernel)
{
	WS_AUTO_BUF struct ws_buf list = {0};
	for (size_t i = 0; i < kernel->function_count; i++) {
		const struct ws_entry_point *found = NULL;
		for (size_t k = 0; k < d->entry_points.len && !found; k++) {
			const struct ws_entry_point *entry = &d->entry_points.at[k];
			const char *last = strrchr(entry->name, '.');
			bool same = last && strcmp(last + 1, kernel->functions[i]) == 0;
			found = same && strcmp(entry->group, kernel->package) == 0 ? entry : NULL;
		}
		if (!found || (found->state != WS_ENTRY_WORKS && found->state != WS_ENTRY_IMPORTED)) {
			ws_buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", kernel->functions[i]);
		}
	}
	return ws_buf_copy(&list, d->a);
}

/* Adds the kernel; returns whether it is to be built. */
static bool
add_kernel(struct ws_doctor *d, const struct ws_model_kernel *kernel)
{
	const char *missing = d->kit.version ? missing_of(d, kernel) : NULL;
	bool needed = !kernel->optional || d->wants->asks_flash;
	bool fails = missing && missing[0] && needed;
	const char *text = !missing ? "{.type} looks for {package}{.when}"
		: !missing[0]           ? "{package}  is there"
		: needed                ? "{.type} needs {package}, of which it lacks: {missing}"
								: "{package}  is not installed; {.type} works without it";
	ws_rows_add(&d->rows, "model.kernels[]", text,
		"package %s needed %d functions %p %zu missing %s .type %s .when %s", kernel->package,
		needed, (const void *)kernel->functions, kernel->function_count, missing, d->wants->type,
		needed ? "" : ", where it is asked to")
		->problem = fails ? WS_PROBLEM_FAILS : WS_PROBLEM_NONE;
	return !missing || missing[0];
}

/* The matrix that makes the packages, on one line. */
static const char *
write_matrix(const struct ws_doctor *d, const char *const *packages, size_t count)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_arch_set archs = ws_gpu_archs(&d->gpus, d->a);
	const char *arch = ws_arch_set_text(&archs, d->a);
	const char *python = d->kit.version ? d->kit.interpreter : "3.12";
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_texts(w, "packages", packages, count);
	ws_json_add_text(w, "torch", "installed");
	ws_json_add_texts(w, "python", &python, 1);
	if (archs.count > 0) {
		ws_json_add_texts(w, "arch", &arch, 1);
	}
	ws_json_finish(w, WS_JSON_COMPACT, &text);
	return ws_buf_copy(&text, d->a);
}

void
ws_doctor_model(struct ws_doctor *d)
{
	const struct ws_model *wants = d->wants;
	WS_VEC(const char *) missing = {0};
	if (!wants) {
		return;
	}
	ws_rows_add(&d->rows, "model",
		wants->kernel_count == 0 ? "{type}: no kernel is known that it looks for" : NULL, "type %s",
		wants->type);
	ws_rows_list(&d->rows, "model.kernels[]");
	for (size_t i = 0; i < wants->kernel_count; i++) {
		const char *package = wants->kernels[i]->package, *version = NULL; /* the newest recipe's */
		for (size_t k = 0; k < d->catalog->count; k++) {
			const struct ws_recipe_file *file = &d->catalog->files[k];
			version = strcmp(file->name, package) == 0 ? file->version.text : version;
		}
		if (add_kernel(d, wants->kernels[i]) && version) {
			*ws_vec_push(&missing, d->a) = ws_arena_printf(d->a, "%s==%s", package, version);
		}
	}
	const char *matrix = missing.len > 0 ? write_matrix(d, missing.at, missing.len) : NULL;
	ws_rows_add(&d->rows, "model", matrix ? "the matrix that makes it:  {matrix}" : NULL,
		"matrix %s", matrix);
}
