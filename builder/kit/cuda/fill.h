/**
 * fill.h - what is learned from a toolkit's own files, wherever it came from
 */
#ifndef WS_KIT_CUDA_FILL_H
#define WS_KIT_CUDA_FILL_H

#include "kit/cuda/cuda.h"

/**
 * From path and tree: fingerprint, runtime and limits. Files of a tree have their digests
 * in its listing, others in the ledger.
 */
bool ws_cuda_fill(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err);

#endif
