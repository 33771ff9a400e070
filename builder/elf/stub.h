/**
 * stub.h - shared libraries to link against that hold no code
 *
 * An extension must name torch's libraries in its DT_NEEDED, in torch's order, or its import
 * fails; the linker only looks at their names. So such a stub has a name and nothing else, and its
 * bytes depend on the name alone: links are shared between torch releases. Symbols are judged
 * against export lists instead (exports.h).
 *
 * A stub of the system's libraries has symbols with versions besides: what a link takes from it is
 * what an older libc has (kit/floor/floor.h).
 */
#ifndef WS_ELF_STUB_H
#define WS_ELF_STUB_H

#include "base/arena.h"
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
bool ws_elf_stub_write(const struct ws_stub *stub, struct ws_buf *out, struct ws_err *err);

/** The same for x86-64, without symbols. */
bool ws_elf_stub(const char *soname, struct ws_buf *out, struct ws_err *err);

#endif
