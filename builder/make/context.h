/**
 * context.h - what building one selection needs
 *
 * Services and choices, filled by cli/ from options and an open session; borrowed and constant.
 * Pins are in pins.h.
 */
#ifndef WS_MAKE_CONTEXT_H
#define WS_MAKE_CONTEXT_H

#include "config/document.h"
#include "fetch/fetch.h"
#include "kit/cuda/cuda.h"
#include "kit/torch/torch.h"
#include "plan/input.h"

struct ws_executor;
struct ws_shared;

struct ws_context {
	struct ws_arena *a;
	const struct ws_user_env *env;
	const char *program; /**< our own executable, for actions */
	const struct ws_data *data;
	const struct ws_facts *facts;
	const struct ws_host *host;
	const struct ws_store *store;
	struct ws_ledger *ledger;
	struct ws_fetch *fetch;
	const struct ws_index_config *indexes; /**< NULL: not read */
	const struct ws_events *events;
	struct ws_stop *stop;
	enum ws_kits_choice kits;
	struct ws_shared *shared;     /**< results of other hosts; NULL: there are none */
	struct ws_executor *executor; /**< other hosts that run commands; NULL: none does */
	unsigned jobs;                /**< 0: decide */
	uint64_t memory_bytes;        /**< 0: decide */
};

#endif
