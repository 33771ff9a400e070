/**
 * exports_child.h - an export list, made by a child process
 *
 * Libraries of unknown origin are not read in our own process, and their names would not fit in its
 * memory: `wheelsmith internal names` reads them all and writes the list.
 */
#ifndef WS_KIT_TORCH_EXPORTS_CHILD_H
#define WS_KIT_TORCH_EXPORTS_CHILD_H

#include "base/arena.h"
#include "sys/stop.h"

struct ws_exports_library {
	const char *path;   /**< absolute */
	const char *name;   /**< for errors */
	const char *python; /**< as in ws_exports_add */
	const char *called; /**< a name of its file, by which others need it as well; NULL: none */
	bool is_optional;   /**< left out if it cannot be read */
	bool is_c;          /**< names in C++ are left out, of those behind it too */
};

struct ws_exports_order {
	const char *release;         /**< "2.5.1"; NULL: of no torch */
	const char *path;            /**< of the list, absolute */
	WS_VEC(const char *) wheels; /**< file names of those that libraries were taken from */
	WS_VEC(struct ws_exports_library) libraries;
};

/** Has the list written. @a program is our own executable, @a folder one for the order; @a stop may
 * be NULL. */
bool ws_exports_child_ask(const struct ws_exports_order *order, const char *program,
	const char *folder, struct ws_stop *stop, struct ws_err *err);

/** The child: works in the current folder. */
bool ws_exports_child_run(struct ws_err *err);

#endif
