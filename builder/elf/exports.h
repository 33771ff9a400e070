/**
 * exports.h - lists of the names that libraries export, for libraries that are not on this host
 *
 * One file for each torch release (matrix/facts/exports/torch-V.zst), and one for each library
 * that its wheel requires or contains: 3 to 4 GB of libraries in all. A list is read from front
 * to back and not kept in memory: the caller keeps the names that it needs. Names in anonymous
 * namespaces are left out. ws_exports_begin starts a new list.
 *
 * The text inside the zstd frame, one item a line, in this order:
 *
 *     wheelsmith.exports/1
 *     torch 2.5.1                                           only in the list of a release
 *     wheel torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl    each source wheel
 *     python cp311                                           each tag that has a block of its own
 *     library libc10.so                                      DT_SONAME; blocks sorted by name
 *     needed libc.so.6                                       DT_NEEDED, in order
 *     names 1529                                             number of lines that follow, sorted by
 *                                                            bytes
 *     12<TAB>suffix                                          12 bytes of the name before, then this
 *     objects 3                                              the same, each with a tab and its size
 *                                                            in bytes
 *     tls 3                                                  the same for thread-local variables
 *     version GOMP_1.0                                       of the names, objects and tls that
 *                                                            follow
 *     library libtorch_python.so                             the part that all Pythons share
 *     library libtorch_python.so cp311                       the rest for this Python
 *     internals __pybind11_internals_v4_...__                pybind11's id in that library
 *     end
 */
#ifndef WS_ELF_EXPORTS_H
#define WS_ELF_EXPORTS_H

#include "elf/elf.h"

#define WS_EXPORTS_SCHEMA "wheelsmith.exports/1"

struct ws_exports {
	const char *release;        /**< "2.5.1"; NULL: not the list of a torch release */
	const char *const *pythons; /**< "cp311", "cp313t": Pythons that have a block */
	size_t python_count;
};

enum ws_export_kind {
	WS_EXPORT_NAME,      /**< text: an exported function or object */
	WS_EXPORT_TLS,       /**< text: an exported thread-local variable */
	WS_EXPORT_NEEDED,    /**< text: DT_NEEDED of the library */
	WS_EXPORT_INTERNALS, /**< text: pybind11's internals id */
	WS_EXPORT_END,       /**< the end */
};

/** One line. Borrowed until the next one is read. */
struct ws_export {
	enum ws_export_kind kind;
	const char *library; /**< whose: "libtorch_cpu.so" */
	const char *version; /**< of a NAME or TLS: "GOMP_1.0"; NULL: none */
	const char *text;
	size_t len;    /**< of text */
	uint64_t size; /**< of an object, in bytes; 0 in lists without sizes */
};

/**
 * Opens the list for the Python with ABI tag @a python ("cp311"); NULL: only the part that all
 * share. WS_ERR_UNKNOWN when a release's list does not have the tag.
 */
struct ws_exports *ws_exports_open(
	const char *path, const char *python, struct ws_arena *a, struct ws_err *err);

/** The next line; its kind is WS_EXPORT_END after the last. A damaged list is WS_ERR_IO. */
bool ws_exports_next(struct ws_exports *list, struct ws_export *line, struct ws_err *err);

/** NULL is fine. */
void ws_exports_close(struct ws_exports *list);

WS_RELEASED_BY(ws_auto_exports, struct ws_exports, ws_exports_close)

/** `WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(...)`. */
#define WS_AUTO_EXPORTS __attribute__((cleanup(ws_auto_exports)))

/* ---- writing a list ---- */

struct ws_exports_maker;

/** @a release is "2.5.1"; NULL: not a torch release. The maker and its texts live in @a a. */
struct ws_exports_maker *ws_exports_begin(const char *release, struct ws_arena *a);

/** Adds the file name of a source wheel. */
void ws_exports_add_wheel(struct ws_exports_maker *maker, const char *filename);

/**
 * Ends the listing of names in C++. NVIDIA's libraries export internals by accident
 * (libcusparseLt 80,000 kernels, 26 MB), which no header declares.
 */
void ws_exports_only_c(struct ws_exports_maker *maker);

/**
 * Adds the exports and needs of @a elf, which may be deleted afterwards. @a python is the ABI tag
 * ("cp311") of a library that each Python has separately, NULL for a shared one. A library
 * without DT_SONAME is WS_ERR_FETCH.
 */
bool ws_exports_add(struct ws_exports_maker *maker, const struct ws_elf *elf, const char *python,
	struct ws_err *err);

/**
 * The file name of the last library, by which others need it: a copy in a repaired wheel,
 * "libgomp-a34b3233.so.1", keeps its DT_SONAME. The list gets a library of that name that needs
 * the real one.
 */
void ws_exports_add_name(struct ws_exports_maker *maker, const char *name);

/** Appends the text to @a out. */
void ws_exports_text(const struct ws_exports_maker *maker, struct ws_buf *out);

/** Writes the text, packed, to @a path in one step. */
bool ws_exports_write(const struct ws_exports_maker *maker, const char *path, struct ws_err *err);

#endif
