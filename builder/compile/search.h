/**
 * search.h - where a compiler looks for headers, by its words
 *
 * gcc's rules: -iquote for "x" alone, then -I, -isystem, the compiler's own folders, -idirafter; a
 * folder of -I that comes again as one of the system's counts there. nvcc's -I comes before its own.
 */
#ifndef WS_COMPILE_SEARCH_H
#define WS_COMPILE_SEARCH_H

#include "engine/action.h"

struct ws_search {
	ws_name_list folders; /**< in order, as written */
	size_t quote_count;   /**< the first of them are for "x" alone */
	ws_name_list forced;  /**< of -include and -imacros */
	ws_name_list defines; /**< of -D: "NAME=BODY" */
};

/** Reads @a action's words; its own `search` are the compiler's folders. @a work tells what is the same. */
struct ws_search ws_search_read(
	const struct ws_action *action, const char *work, struct ws_arena *a);

#endif
