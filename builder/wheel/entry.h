/**
 * entry.h - the files that go into a wheel, their names and their order
 *
 * What is true of every list of files we pack: names that every reader takes for the same file, no
 * two of them one file, and one order for one content.
 */
#ifndef WS_WHEEL_ENTRY_H
#define WS_WHEEL_ENTRY_H

#include "base/err.h"

/** One file. Its bytes come from a file on this host, from memory, or from an archive that is packed again. */
struct ws_wheel_entry {
	const char *name;  /**< path in the wheel, '/' between parts */
	const char *file;  /**< path on this host; NULL: the bytes below */
	const void *bytes; /**< with file NULL */
	size_t len;        /**< of bytes */
	const char *again; /**< with neither: its name in that archive (ws_pack_again) */
	bool executable;   /**< mode 0755, else 0644 */
};

/**
 * Sorts by the bytes of the names, everything below @a dist_info last. Refuses (WS_ERR_CONFIG) names
 * that leave the wheel or hold anything but printable ASCII without spaces, and names that differ by
 * letter case only or of which one would be the other's folder.
 */
bool ws_wheel_entries_order(
	struct ws_wheel_entry *entries, size_t count, const char *dist_info, struct ws_err *err);

#endif
