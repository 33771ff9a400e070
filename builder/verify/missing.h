/**
 * missing.h - why a symbol is not there, as far as its name tells
 *
 * Part of symbols.h: called for the few names that nobody exports.
 */
#ifndef WS_VERIFY_MISSING_H
#define WS_VERIFY_MISSING_H

#include "verify/closure.h"
#include "verify/symbols.h"

/**
 * Fills in reason, library and verdict of @a missing by its name. False when there is no reason to
 * think that it is missing: by its name it is of a library that nobody has read, which is then
 * @a missing's.
 */
bool ws_missing_explain(struct ws_missing *missing, const struct ws_closure *c,
	const struct ws_surroundings *around, struct ws_arena *a);

/**
 * Looks in the export list for names that differ from missing ones only by the ABI of strings;
 * their reason becomes WS_MISSING_ABI.
 */
bool ws_missing_find_twins(struct ws_missing *missing, size_t count,
	const struct ws_surroundings *around, struct ws_arena *a, struct ws_err *err);

/** The library that exports what begins like @a library's stem: "libcublas" of "libcublas.so.12". */
bool ws_library_is_of(const char *library, const char *stem);

/** Is @a name a library of CUDA or its driver, of any version? */
bool ws_library_is_cuda(const char *name);

#endif
