/**
 * stub.h - shared libraries without code, to link against
 *
 * An extension must name torch's libraries in its DT_NEEDED, in torch's order, or its import
 * fails. The linker only needs their names. So a stub has a name and no symbols, and its bytes
 * depend on the name alone: torch releases share link results. Symbols are checked against export
 * lists (exports.h).
 *
 * A stub of the system's libraries also has symbols with versions, so that a link takes the
 * versions of an older libc (kit/floor/floor.h).
 */
#ifndef WS_ELF_STUB_H
#define WS_ELF_STUB_H

#include "base/err.h"
#include "base/text.h"

/** An exported name, with its default version. */
struct ws_stub_symbol {
	const char *name;    /**< "memcpy" */
	const char *version; /**< "GLIBC_2.14" */
	uint64_t size;       /**< of an object that a program may copy; 0: a function */
	bool tls;
};

struct ws_stub {
	const char *soname;
	unsigned machine; /**< e_machine; 0: x86-64 */
	WS_VEC(struct ws_stub_symbol) symbols;
};

/**
 * Appends an ELF64 shared library to @a out. One without symbols: link with `-Wl,--no-as-needed`. A
 * name that is empty, longer than 255 bytes or has a slash is WS_ERR_INTERNAL.
 */
bool ws_elf_stub(const struct ws_stub *stub, struct ws_buf *out, struct ws_err *err);

#endif
