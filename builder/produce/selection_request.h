/**
 * selection_request.h - the values of a matrix that this host or an index must be asked about
 *
 * Those of the axes and those of extra points alike, each once. What a value means is
 * plan/axis.h's.
 */
#ifndef WS_PRODUCE_SELECTION_REQUEST_H
#define WS_PRODUCE_SELECTION_REQUEST_H

#include "base/arena.h"
#include "model/matrix.h"

struct ws_requested_python {
	const struct ws_python_value *value; /**< borrowed from the matrix */
	bool extra;                          /**< of `include` */
	/** Its interpreter must be found: it is named by a path or "host", or its own torch is
	 * wanted. */
	bool needed;
};

struct ws_selection_request {
	WS_VEC(const struct ws_torch_value *) torch; /**< releases, without "installed" */
	WS_VEC(struct ws_requested_python) pythons;
	bool installed; /**< torch as some interpreter has it */
	bool gpus;      /**< archs of this host's GPUs */
};

struct ws_selection_request ws_selection_request_of(
	const struct ws_matrix *matrix, struct ws_arena *a);

#endif
