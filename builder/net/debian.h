/**
 * debian.h - the Debian mirror that this host uses
 *
 * Read from apt's lists: sources.list(5), one line per source, and the deb822 form. Archives of
 * third parties and security archives have other files; they are recognised by keyring, path and
 * components. Sends no request.
 */
#ifndef WS_NET_DEBIAN_H
#define WS_NET_DEBIAN_H

#include "base/arena.h"

struct ws_debian_mirror {
	const char *url;  /**< above "pool/" and "dists/", without '/' at the end */
	const char *file; /**< the list that names it, without root */
};

/**
 * The mirror of the distribution's main archive; the most certain one, then the first named. False:
 * there is none: no apt, only third parties, or Ubuntu's archive, which has other files. @a root is
 * "" or the folder that holds etc/.
 */
bool ws_debian_mirror_find(const char *root, struct ws_arena *a, struct ws_debian_mirror *mirror);

#endif
