/**
 * cure.h - what to do about an error, in the language of whoever asked
 *
 * Below cli/ a cure is a code (base/err.h). Here it gets its words: an option for who typed
 * options, a key for who wrote a matrix, a whole command that runs as it is printed.
 */
#ifndef WS_CLI_CURE_H
#define WS_CLI_CURE_H

#include "cli/session.h"

/** Turns the codes of @a err into lines of its cure. Call before printing or keeping the cure. */
void ws_cures_word(const struct ws_session *s, struct ws_err *err);

#endif
