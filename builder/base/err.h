/**
 * err.h - error values: what went wrong, and what to do about it
 *
 * A value on the caller's stack: `struct ws_err err = {0};`. The code that sees the fault sets
 * it, callers wrap it where they know more, cli/ prints it. Every function here returns false, so
 * a failing call is one line: `return ws_err_set(err, WS_ERR_FETCH, "no torch '%s'", version);`.
 *
 * A text is one line in lower case without a full stop, with the subject in single quotes.
 * ws_err_cure adds lines with the remedy. Long texts end in "...", control characters are '?'.
 *
 * Below cli/ no option or command has a name: a cure that names one is a code (enum ws_cure), and
 * cli/selecting.c words it for the command line or for a matrix.
 */
#ifndef WS_BASE_ERR_H
#define WS_BASE_ERR_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/** Kinds of faults; each has an exit code (ws_err_exit_code). */
enum ws_err_kind {
	WS_ERR_NONE,        /**< exit 0 */
	WS_ERR_NEGATIVE,    /**< 1: a negative verdict, or failures of several kinds */
	WS_ERR_USAGE,       /**< 2: the command line */
	WS_ERR_CONFIG,      /**< 3: a file a person wrote, or a world in which it cannot be met */
	WS_ERR_FETCH,       /**< 4: a server, a download, what a download held */
	WS_ERR_BUILD,       /**< 5: a compiler, a linker, their kits */
	WS_ERR_IO,          /**< 5: this host's files: no space, no permission */
	WS_ERR_VERIFY,      /**< 6: our own wheel was judged bad, or not known to load */
	WS_ERR_UNKNOWN,     /**< 7: no verdict could be reached */
	WS_ERR_EXCLUDED,    /**< 9: a wheel's own METADATA rules the place out */
	WS_ERR_PUBLISH,     /**< 8: an index that is not made, or is not what was published */
	WS_ERR_INTERNAL,    /**< 70: our own fault */
	WS_ERR_STOPPED,     /**< 75: SIGTERM, SIGHUP or --timeout; the next run continues */
	WS_ERR_INTERRUPTED, /**< 130: Ctrl-C; the next run continues */
};

/** Cures by code, each with the meaning of its subject. cli/ words them. */
enum ws_cure {
	WS_CURE_FREE_SPACE,      /**< the disk is full: free space, or use other folders */
	WS_CURE_READ_ONLY,       /**< the file system is read-only: use other folders */
	WS_CURE_OUTPUT,          /**< another output folder */
	WS_CURE_STORE,           /**< another store */
	WS_CURE_TORCH,           /**< a value for this axis: "2.5.1" */
	WS_CURE_CUDA,            /**< likewise: "12.4" */
	WS_CURE_PYTHON,          /**< likewise: "3.11", a path */
	WS_CURE_ARCH,            /**< likewise: "8.6" */
	WS_CURE_INDEX,           /**< an index or a mirror of one; subject: its role, or NULL */
	WS_CURE_DEBIAN_MIRROR,   /**< a mirror of Debian's archives */
	WS_CURE_KITS_ARCHIVE,    /**< a toolkit made of archives in place of the host's */
	WS_CURE_FETCH,           /**< fetch first, where there is a network */
	WS_CURE_LOCK,            /**< look it up and pin it */
	WS_CURE_ASK_AGAIN,       /**< for prebuilt wheels that are newer; subject: package */
	WS_CURE_LOCK_UPDATE,     /**< pin anew; subject: what ("torch", a package), or NULL: pin more */
	WS_CURE_UNLOCKED,        /**< let the lock change */
	WS_CURE_RECIPE,          /**< draft a recipe; subject: "demo==1.0", or the name alone */
	WS_CURE_FIRST_SIGNATURE, /**< sign an index that has no signature */
	WS_CURE_SYNC,            /**< publish to a folder and copy the folder; subject: the target */
	WS_CURE_ACTION_TIMEOUT,  /**< a longer time limit for one command */
};

/** Cures by code that one error can carry; more are left out. */
#define WS_ERR_CURES 4

struct ws_err {
	enum ws_err_kind kind;
	int os;            /**< errno, where ws_err_sys set it; else 0 */
	char place[300];   /**< "file:line:column" in a person's text, or "" */
	char text[1024];   /**< the one line */
	char excerpt[700]; /**< the line of that text and a caret below, each ending in \n, or "" */
	char cure[2048];   /**< lines without indentation, each ending in \n, or "" */
	struct {
		enum ws_cure code;
		char subject[120]; /**< "" where there is none */
	} cures[WS_ERR_CURES]; /**< for cli/ to word, behind the lines of cure */
	size_t cure_count;
};

/** Replaces the contents of @a err, which may be NULL in every function here. */
bool ws_err_set(struct ws_err *err, enum ws_err_kind kind, const char *format, ...) WS_PRINTF(3, 4);

/** As ws_err_set, followed by ": " and strerror(errno). Adds cures for full and read-only disks
 * and for too many open files. */
bool ws_err_sys(struct ws_err *err, enum ws_err_kind kind, const char *format, ...) WS_PRINTF(3, 4);

/** Puts "text: " in front: `ws_err_wrap(err, "reading recipe '%s'", path)`. */
bool ws_err_wrap(struct ws_err *err, const char *format, ...) WS_PRINTF(2, 3);

/** Adds one line of cure. */
bool ws_err_cure(struct ws_err *err, const char *format, ...) WS_PRINTF(2, 3);

/** Adds a cure by code, once. @a subject may be NULL. */
bool ws_err_cure_code(struct ws_err *err, enum ws_cure code, const char *subject);

/** True when there is a cure, as a line or as a code. */
bool ws_err_has_cure(const struct ws_err *err);

/** The name of a code ("index"), for tests and for errors that cli/ does not word. */
extern const char *const ws_cure_words[];

/**
 * Sets place and excerpt: the fault is at byte @a offset of @a text, the whole file, and @a len
 * bytes long (at least one caret is drawn).
 */
bool ws_err_at(struct ws_err *err, const char *file, const char *text, size_t offset, size_t len);

int ws_err_exit_code(enum ws_err_kind kind);

/** The kind of an exit code: WS_ERR_IO for 5, WS_ERR_INTERNAL for an unknown code. */
enum ws_err_kind ws_err_kind_of(int exit_code);

/** True for a stop by signal or deadline, which is not a fault. */
bool ws_err_is_stop(const struct ws_err *err);

/**
 * The whole message for people, ending in \n: "place: error: text", excerpt, cures. A code that
 * cli/ has not worded is printed as "(cure: index torch)". @a text holds WS_ERR_PRINTED bytes.
 * Returns @a text.
 */
#define WS_ERR_PRINTED 6000
const char *ws_err_print(const struct ws_err *err, char *text);

#endif
