/**
 * models.h - which kernels a model of Hugging Face's transformers looks for
 *
 * Data, matrix/facts/models.json, by the `model_type` of the model's config.json.
 */
#ifndef WS_DOCTOR_MODELS_H
#define WS_DOCTOR_MODELS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct ws_model_kernel {
	const char *package;          /**< normalised: "mamba-ssm" */
	const char *const *functions; /**< "selective_scan_fn" */
	size_t function_count;
	bool optional; /**< used only where the configuration, or who loads the model, asks for it */
};

struct ws_model_row {
	const char *const *types;
	size_t type_count;
	const struct ws_model_kernel *kernels;
	size_t kernel_count;
};

struct ws_models {
	const struct ws_model_row *rows;
	size_t row_count;
};

/** What one model needs. */
struct ws_model {
	const char *type; /**< "bamba" */
	bool asks_flash;  /**< its configuration asks for flash-attention 2 */
	const struct ws_model_kernel *const *kernels;
	size_t kernel_count; /**< 0: none is known */
};

/** Reads models.json of @a facts, the folder. */
bool ws_models_read(
	const char *facts, struct ws_arena *a, struct ws_models *models, struct ws_err *err);

/** Reads a model's config.json at @a path, which may be anybody's. */
bool ws_model_read(const struct ws_models *models, const char *path, struct ws_arena *a,
	struct ws_model *model, struct ws_err *err);

#endif
