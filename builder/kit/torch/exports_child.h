/**
 * exports_child.h - an export list, made by a child process
 *
 * Libraries of unknown origin are not read in our own process, and their names would not fit in its
 * memory: `wheelsmith internal names RELEASE FILE` holds them until the list is written to FILE; "-"
 * is a list of no release.
 * Parent and child speak lines over one socket, the child's stdin and stdout:
 *
 *     wheel torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl
 *     library /.../library.so                           of all Pythons
 *     library cp311 /.../library.so                     of this one
 *     beside /.../libgomp.so.1                          the same, if it is a library and not known yet
 *     name libgomp-a34b3233.so.1                        of the last library's file
 *     only-c                                            names in C++ are left out from now on
 *     write                                             and end
 *
 * Each is answered "0", or by the number and text of an error, after which the child ends.
 */
#ifndef WS_KIT_TORCH_EXPORTS_CHILD_H
#define WS_KIT_TORCH_EXPORTS_CHILD_H

#include "base/err.h"
#include "sys/spawn.h"

/** A child that gathers names. */
struct ws_exports_child {
	struct ws_child process;
	int socket; /**< -1: it is gone */
};

/** Starts it: @a program is our own executable, @a release "2.5.1". */
bool ws_exports_child_start(struct ws_exports_child *child, const char *program,
	const char *release, const char *path, struct ws_err *err);

/** The file name of a wheel that libraries were taken from. */
bool ws_exports_child_add_wheel(
	struct ws_exports_child *child, const char *filename, struct ws_err *err);

/** Has the library at @a path read, which may be gone afterwards. @a python as in ws_exports_add. */
bool ws_exports_child_add(
	struct ws_exports_child *child, const char *path, const char *python, struct ws_err *err);

/**
 * Has a library read that lies beside torch's own, called by its file's name as well; one that cannot be
 * read is left out. With @a only_c names in C++ are left out from now on.
 */
bool ws_exports_child_add_beside(
	struct ws_exports_child *child, const char *path, bool only_c, struct ws_err *err);

/** Has the list written. */
bool ws_exports_child_write(struct ws_exports_child *child, struct ws_err *err);

/** Ends the child. Again is fine. */
void ws_exports_child_end(struct ws_exports_child *child);

/** The child: serves stdin until the list is written. An error was sent to the parent; it need not be printed. */
bool ws_exports_child_serve(const char *release, const char *path, struct ws_err *err);

#endif
