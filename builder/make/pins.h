/**
 * pins.h - the lock of a selection while it is used: reading, comparing, extending, saving
 *
 * Read once, extended by downloads, written when pins were added. A new pin is added and a
 * changed one replaced, with a note; under --locked both are errors with the difference. Other
 * processes may extend the same file: saving merges the changes of this process into the file as it
 * is by then. Pins of a matrix in a read-only folder are kept in the store.
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
	bool bundled; /**< the matrix and lock of a bundle: the store keeps none of their pins */

	const char *path;    /**< where the file is, or would be, written */
	struct ws_lock lock; /**< what is pinned now */
	struct ws_lock was;  /**< the file as it was read */
	/** Pins of toolkits and torch releases that builds with this store made, when it was read. */
	struct ws_lock of_store;
	bool changed; /**< a pin was added, changed or forgotten since it was read */
	/** Pins to make again: "torch", a package, "all"; cached results for them are ignored. */
	const char *const *renewed;
	size_t renewed_count;
};

/** Reads the file at @a path, and the pins that the store keeps for it. */
bool ws_pins_read(struct ws_pins *pins, const char *path, struct ws_err *err);

/**
 * Removes the pins that @a names name; cached results for them are ignored. WS_ERR_USAGE: the lock
 * has no such pin.
 */
bool ws_pins_renew(
	struct ws_pins *pins, const char *const *names, size_t count, struct ws_err *err);

/**
 * Compares @a found with its pin and pins it. A result that matches its pin changes nothing,
 * whatever its origin. WS_ERR_CONFIG: it differs under --locked.
 */
bool ws_pins_put(
	struct ws_pins *pins, enum ws_pin_kind kind, const void *found, struct ws_err *err);

/**
 * Writes the file if pins changed. WS_ERR_CONFIG when the file is no longer a lock: it stays as it
 * is.
 */
bool ws_pins_save(struct ws_pins *pins, struct ws_err *err);

#endif
