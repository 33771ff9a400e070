/**
 * failed_action.h - a failed action as people need it
 *
 * What was run, in which words, where its log and its folder are. Why it failed is the engine's to
 * say; printing it is cli/'s.
 */
#ifndef WS_MAKE_FAILED_ACTION_H
#define WS_MAKE_FAILED_ACTION_H

#include "base/crypto.h"
#include "engine/graph.h"
#include "judge/asking.h"

struct ws_failed_action {
	const char *cell, *subject, *stage;
	const struct ws_err *err;
	const char *command;         /**< the command line, quoted for a shell */
	const char *log;             /**< path of its log in the output folder; NULL: it said nothing */
	struct ws_digest log_digest; /**< of the log in the cas; "" none */
	bool elsewhere;              /**< on other hosts, by a compiler of theirs */
	const char *folder;          /**< --keep-work: where it ran; else NULL */
	const struct ws_asking *asks; /**< of a check: who asks for what it misses */
	size_t ask_count;
};

/**
 * Describes @a node, which is FAILED; `log` is left to whoever delivers it. The failure of a check
 * is made a verdict (WS_ERR_VERIFY).
 */
struct ws_failed_action ws_failed_action_of(
	const struct ws_node *node, bool keep_work, const struct ws_store *store, struct ws_arena *a);

#endif
