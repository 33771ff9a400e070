/**
 * facts_child.h - facts of a file of unknown origin, read by a child
 *
 * `wheelsmith internal facts` reads order.json in its working folder and writes facts.json there.
 * It bounds its own memory and time: a hostile file ends the child alone, and that is reported.
 */
#ifndef WS_INSPECT_FACTS_CHILD_H
#define WS_INSPECT_FACTS_CHILD_H

#include "inspect/facts.h"

/**
 * Has a child make the facts, and appends their JSON text. @a program is our own executable;
 * order->folder is an empty private one, which the caller removes. A child that did not survive is
 * WS_ERR_NEGATIVE; what is not there to be read is the error that it was in the child.
 */
bool ws_facts_ask(enum ws_facts_kind kind, const struct ws_facts_order *order, const char *program,
	struct ws_arena *a, struct ws_buf *json, struct ws_err *err);

/** The child: works in the current folder. */
bool ws_facts_child_run(struct ws_err *err);

#endif
