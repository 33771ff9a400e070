/**
 * pins.h - what is pinned: the lock of a selection, and all that may change it
 *
 * Read once, extended by whoever brings something from outside, written when pins were made. A new
 * pin is added and a changed one replaced, with a note; under --locked both are errors that say
 * what differs. Other processes may be extending the same file: what is written is the file as it
 * is by then, with what this process did to its own. Pins of a matrix in a read-only folder are
 * kept in the store.
 */
#ifndef WS_MAKE_PINS_H
#define WS_MAKE_PINS_H

#include "base/event.h"
#include "model/lock.h"
#include "store/store.h"

struct ws_stop;

struct ws_pins {
	struct ws_arena *a;
	const struct ws_store *store;
	const struct ws_events *events;
	struct ws_stop *stop; /**< while another process writes the file */
	bool locked;          /**< --locked: a pin that would be added or changed is an error */
	bool bundled; /**< of a bundle's matrix and lock: nothing is remembered by what they say */

	const char *path;    /**< where the file is, or would be, written */
	struct ws_lock lock; /**< what is pinned now */
	struct ws_lock was;  /**< the file as it was read */
	/** Pins of toolkits and torch releases that builds with this store made, when it was read. */
	struct ws_lock of_store;
	bool changed; /**< a pin was added, changed or forgotten since it was read */
	/** Pins that are made anew: "torch", a package, "all"; what is remembered of them does not
	 * count. */
	const char *const *renewed;
	size_t renewed_count;
};

/** Reads the file at @a path, and from the store those pins that could not be written there. */
bool ws_pins_read(struct ws_pins *pins, const char *path, struct ws_err *err);

/**
 * Forgets the pins that @a names mean, and has what is remembered of them not count. WS_ERR_USAGE:
 * there is none.
 */
bool ws_pins_renew(
	struct ws_pins *pins, const char *const *names, size_t count, struct ws_err *err);

/** Are the pins of @a package to be made anew? */
bool ws_pins_are_renewed(const struct ws_pins *pins, const char *package);

/**
 * Holds what was found against what is pinned, and pins it. What came as it is pinned changes
 * nothing, wherever it came from. WS_ERR_CONFIG under --locked. Returns true.
 */
bool ws_pins_put(
	struct ws_pins *pins, enum ws_pin_kind kind, const void *found, struct ws_err *err);

/**
 * Writes the file if pins changed. WS_ERR_CONFIG when it can no longer be read as a lock: then it
 * is left alone.
 */
bool ws_pins_save(struct ws_pins *pins, struct ws_err *err);

#endif
