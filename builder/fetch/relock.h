/**
 * relock.h - what to do about something that is not what was locked
 */
#ifndef WS_FETCH_RELOCK_H
#define WS_FETCH_RELOCK_H

#include "fetch/fetch.h"

/**
 * Adds the command that pins @a name anew ("torch", "cuda", a package's name), or what was not pinned
 * yet when @a name is NULL. False, as all that adds to an error.
 */
bool ws_relock_cure(const struct ws_fetch *fetch, const char *name, struct ws_err *err);

#endif
