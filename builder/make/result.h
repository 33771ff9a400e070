/**
 * result.h - what came of building a plan
 *
 * Filled by produce/run.c as far as the run came; delivery and reports read it. Plain data.
 */
#ifndef WS_MAKE_RESULT_H
#define WS_MAKE_RESULT_H

#include "engine/engine.h"
#include "make/failed_action.h"
#include "make/supply.h"

struct ws_build_result {
	struct ws_supplies supplies;
	const struct ws_failed_action *failed;
	size_t failed_count;
	struct ws_run_summary actions;
	ws_node_list
		undivided; /**< ran in one command though nvcc's own were wanted: ws_node.undivided */
	ws_node_list on_farm; /**< other hosts ran them: ws_node.elsewhere */
	uint64_t wall_ms;
};

#endif
