/**
 * context.h - what building one selection needs
 *
 * Filled by cli/ from options and an open session; borrowed by all that works on one selection.
 */
#ifndef WS_MAKE_CONTEXT_H
#define WS_MAKE_CONTEXT_H

#include "base/user_env.h"
#include "config/locate.h"
#include "fetch/fetch.h"
#include "kit/cuda/cuda.h"
#include "kit/python/python.h"
#include "kit/torch/torch.h"
#include "model/facts.h"
#include "model/lock.h"
#include "plan/input.h"
#include "sys/host.h"

struct ws_candidate_book;

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
	struct ws_candidate_book *candidates;  /**< of the selection; NULL: none count */
	const struct ws_events *events;
	struct ws_stop *stop;
	enum ws_kits_choice kits;
	unsigned jobs;           /**< 0: decide */
	uint64_t memory_bytes;   /**< 0: decide */
	struct ws_lock *lock;    /**< extended by resolving */
	struct ws_lock lock_was; /**< the file as it was read; where *lock differs, it is written */
	const char *lock_path;   /**< where it is, or would be, written */
	bool locked;             /**< --locked: a pin that would be added or changed is an error */
	bool is_bundled; /**< a bundle's matrix and lock: nothing is remembered by what they say */
	/** Pins that are made anew: "torch", a package, "all"; what is remembered of them does not count. */
	const char *const *renewed;
	size_t renewed_count;
	bool lock_changed; /**< set when a pin was added or changed */
};

#endif
