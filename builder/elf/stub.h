/**
 * stub.h - empty shared libraries to link against
 *
 * An extension must name torch's libraries in its DT_NEEDED, in torch's order, or its import
 * fails; the linker only looks at their names. So a stub has a name and nothing else, and its
 * bytes depend on the name alone: links are shared between torch releases. Symbols are judged
 * against export lists instead (exports.h).
 */
#ifndef WS_ELF_STUB_H
#define WS_ELF_STUB_H

#include "base/buf.h"
#include "base/err.h"

/**
 * Appends an ELF64 x86-64 shared library whose DT_SONAME is @a soname to @a out. Link with
 * `-Wl,--no-as-needed`: it defines nothing. A name that is empty, longer than 255 bytes or has a
 * slash is WS_ERR_INTERNAL.
 */
bool ws_elf_stub(const char *soname, struct ws_buf *out, struct ws_err *err);

#endif
