/**
 * exports_make.h - writing the list of what libraries export
 *
 * Takes the libraries one after another, so that each can be deleted before the next one is
 * fetched, and keeps their names only. The same libraries give the same text. The format and the
 * reader: exports.h. Fetching the libraries is kit's.
 */
#ifndef WS_ELF_EXPORTS_MAKE_H
#define WS_ELF_EXPORTS_MAKE_H

#include "base/buf.h"
#include "elf/elf.h"

struct ws_exports_maker;

/** @a release is "2.5.1"; NULL: not a torch release. Lives in @a a, with the names it is given. */
struct ws_exports_maker *ws_exports_begin(const char *release, struct ws_arena *a);

/** The file name of a wheel that libraries were taken from. */
void ws_exports_add_wheel(struct ws_exports_maker *maker, const char *filename);

/**
 * From now on names in C++ are left out. NVIDIA's libraries export some of their insides by
 * accident (libcusparseLt 80,000 kernels, 26 MB), and no header declares them.
 */
void ws_exports_only_c(struct ws_exports_maker *maker);

/**
 * Adds what @a elf exports and needs; nothing of it is kept. @a python is the ABI tag ("cp311")
 * of a library of which every Python has its own, NULL for one that all share. A library that
 * has no name of its own (DT_SONAME) is WS_ERR_FETCH.
 */
bool ws_exports_add(struct ws_exports_maker *maker, const struct ws_elf *elf, const char *python,
	struct ws_err *err);

/**
 * The last library's file is called @a name, and others need it by that name: a copy in a repaired
 * wheel, "libgomp-a34b3233.so.1", keeps its DT_SONAME. The list has it as a library that needs the
 * real one.
 */
void ws_exports_add_name(struct ws_exports_maker *maker, const char *name);

/** Appends the text to @a out. */
void ws_exports_text(const struct ws_exports_maker *maker, struct ws_buf *out);

/** Writes the text, packed, to @a path in one step. */
bool ws_exports_write(const struct ws_exports_maker *maker, const char *path, struct ws_err *err);

#endif
