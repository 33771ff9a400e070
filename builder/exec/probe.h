/**
 * probe.h - what this host is, for one that wants to compile on it
 */
#ifndef WS_EXEC_PROBE_H
#define WS_EXEC_PROBE_H

#include "base/err.h"

/** Answers what lies in the working directory: engine/remote_order.h says which files. Not
 * @a whole: names alone. */
bool ws_exec_probe(bool whole, struct ws_err *err);

#endif
