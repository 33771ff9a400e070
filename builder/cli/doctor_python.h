/**
 * doctor_python.h - `wheelsmith doctor --python`: do the CUDA extensions of that Python work there?
 *
 * Each extension is judged against the torch beside it, and the functions that model libraries look for
 * are called in a child: the one part of doctor that runs code of an environment, and that opens the
 * store. Fact, verdict, cure.
 */
#ifndef WS_CLI_DOCTOR_PYTHON_H
#define WS_CLI_DOCTOR_PYTHON_H

#include "cli/doctor_rows.h"
#include "kit/cuda/gpu.h"
#include "kit/python/python.h"

/** What to look at. */
struct ws_doctor_python {
	struct ws_session *s;
	struct ws_rows *rows;
	const struct ws_python_kit *python; /**< asked; NULL: none was named, nothing is run */
	const struct ws_gpus *gpus;
	const char *model; /**< a model's config.json; NULL: none */
};

/** Adds the parts "extensions", "functions" and "model". */
void ws_doctor_python_look(const struct ws_doctor_python *look);

#endif
