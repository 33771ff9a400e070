/**
 * install.h - how to come by a host compiler that fits, in words
 *
 * Behind hostcc.c, for its messages.
 */
#ifndef WS_KIT_HOSTCC_INSTALL_H
#define WS_KIT_HOSTCC_INSTALL_H

#include "kit/hostcc/hostcc.h"

/**
 * Adds the lines that say how to install a gcc that @a wish takes, on the distribution of @a host.
 * Which packages there are is asked from apt where that is the tool; elsewhere the command that
 * lists them is said.
 */
void ws_hostcc_install_cure(
	const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err);

#endif
