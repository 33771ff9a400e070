/**
 * loopback.h - which names of a host are this very machine
 *
 * By text alone: what goes there in the clear is seen by nobody else. A name that only begins like
 * an address ("127.example.org") is not one.
 */
#ifndef WS_MODEL_LOOPBACK_H
#define WS_MODEL_LOOPBACK_H

#include "base/str.h"

/** localhost, [::1] and 127.0.0.0/8; @a host without a port. */
bool ws_host_is_loopback(struct ws_str host);

#endif
