/**
 * log_says.h - what compilers' drivers leave in a log when a part of them was killed or crashed
 *
 * The driver itself ends with an ordinary exit status then. For ws_action.log_says.
 */
#ifndef WS_COMPILE_LOG_SAYS_H
#define WS_COMPILE_LOG_SAYS_H

#include "engine/action.h"

/** For gcc, g++, clang, nvcc and the shells between them. */
enum ws_log_says ws_compile_log_says(const char *tail);

#endif
