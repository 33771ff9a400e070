/**
 * wheel_label.h - what the local label of a wheel's version says
 *
 * Upstreams write what a wheel was built for into its version: "+cu123torch2.4cxx11abiFALSE"
 * (flash-attn, causal-conv1d, mamba-ssm), "+cu124torch2.5", "+pt24cu121",
 * "+cu130torch2110cxx11abitrue.sm80sm90", "+cu.12.8.torch.2.11" (dotted, ours too), "+cu124"
 * (torch's own). Read only: what we write is plan/version_label.c's. A label is a claim; whether it
 * is true is the judge's business.
 */
#ifndef WS_MODEL_WHEEL_LABEL_H
#define WS_MODEL_WHEEL_LABEL_H

#include "model/arch.h"

/** What a label says; zeroed but for cxx11abi -1 it says nothing. */
struct ws_wheel_label {
	const char *torch;        /**< minor: "2.4"; NULL: not said */
	const char *cuda;         /**< "12.3"; "12" is any 12.x; NULL: not said */
	int cxx11abi;             /**< 0, 1; -1: not said */
	const char *torch_cuda;   /**< "12.1": of torch's own build (tcu); NULL: not said */
	bool cpu;                 /**< it says that there is no CUDA in it */
	struct ws_arch_set archs; /**< of our own labels; count 0: not said */
};

/** @a local is a label as struct ws_version has it (lower case, dots); NULL says nothing. */
struct ws_wheel_label ws_wheel_label_read(const char *local, struct ws_arena *a);

/** "12.3" of "123", "11.8" of "118", "12" of "12", "12.4" of "12.4"; NULL: not a CUDA version. */
const char *ws_wheel_label_cuda(const char *digits, struct ws_arena *a);

#endif
