/**
 * other_abi.h - the same function under the other _GLIBCXX_USE_CXX11_ABI
 *
 * Two mangled names are the same function when their demangled texts differ only by the marks of
 * the new std::string. Demangling every name of a list would take seconds; most names are excluded
 * by the bytes that both ABIs must share.
 */
#ifndef WS_VERIFY_OTHER_ABI_H
#define WS_VERIFY_OTHER_ABI_H

#include "verify/missing_symbols.h"

/** The demangled text @a text without the parts that differ between the ABIs. */
const char *ws_abi_neutral_text(const char *text, struct ws_arena *a);

/**
 * How many bytes of a mangled name both ABIs agree on: what stands before its first string, and
 * before the end of its first nested name, where "B5cxx11" may be put for what it returns.
 */
size_t ws_abi_agreed_bytes(const char *name);

/**
 * Looks for @a count missing names under the other ABI in torch's list, which is read once more:
 * one that is found goes into `other_abi`, in @a a, and the reason becomes WS_MISSING_ABI. False
 * only when a list could not be read.
 */
bool ws_other_abi_find(const struct ws_load_place *place, struct ws_missing *const *missing,
	size_t count, struct ws_arena *a, struct ws_err *err);

#endif
