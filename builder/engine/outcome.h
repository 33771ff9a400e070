/**
 * outcome.h - what the end of a job means
 *
 * Success, a failure with its sentence, or a kill for want of memory and whether it runs again.
 */
#ifndef WS_ENGINE_OUTCOME_H
#define WS_ENGINE_OUTCOME_H

#include "engine/graph.h"
#include "engine/runner.h"

enum ws_end {
	WS_END_OK,
	WS_END_FAILED,
	WS_END_OUT_OF_MEMORY, /**< SIGKILL that we did not send, to it or to a child of it */
	WS_END_AGAIN,         /**< the same, for the first time: it runs once more, alone */
	WS_END_ANEW,          /**< it did not run: what it takes is made once more first */
	WS_END_STOPPED,
};

/** @a err gets the sentence of all but WS_END_OK, ANEW and STOPPED. */
enum ws_end ws_outcome_of(
	const struct ws_node *node, const struct ws_done *done, struct ws_err *err);

/** WS_END_AGAIN: alone, with twice what it held as its need. */
void ws_outcome_run_alone(struct ws_node *node);

#endif
