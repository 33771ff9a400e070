/**
 * link.h - what a link depended on
 *
 * The reads of link actions: startup files, libgcc, libstdc++ and the like come from the linker's
 * own dependency file; objects and stubs are inputs already.
 */
#ifndef WS_COMPILE_LINK_H
#define WS_COMPILE_LINK_H

#include "engine/action.h"

/** Name of the dependency file that every link command must write. */
#define WS_LINK_DEPFILE "link.d"

/** For struct ws_action.find_reads. */
bool ws_link_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

#endif
