/**
 * replay.h - whether units are what another run makes of them
 *
 * nvcc's own commands make a unit (compile/split.h). Here one nvcc makes it as well, and PTX,
 * cubins and objects are compared. Stored results of nvcc's commands are compared as they are:
 * wheels contain them. A unit that a farm compiled whole is compiled once more.
 */
#ifndef WS_MAKE_REPLAY_H
#define WS_MAKE_REPLAY_H

#include "engine/engine.h"

/**
 * Makes at most @a count units of @a graph, which has run, both ways; chance decides which. With
 * @a farms those are the ones that may go there. Notes say how many, and what was compared, a
 * warning what differs or was not made. WS_ERR_VERIFY: something differs; other kinds: the run
 * could not go on, or a command of it failed.
 */
bool ws_replay_check(const struct ws_engine *engine, struct ws_graph *graph, size_t count,
	bool farms, struct ws_err *err);

#endif
