/**
 * object.h - what an object file leaves to others
 *
 * A compiler's output (ET_REL), before a linker made it part of a library: the loader never sees
 * one, so elf.h does not open it.
 */
#ifndef WS_ELF_OBJECT_H
#define WS_ELF_OBJECT_H

#include "base/arena.h"
#include "base/str.h"

/**
 * The names that @a file, of any machine of 64 bits, wants and does not define, weak ones left out;
 * how many. They lie in its bytes. None where it is something else or malformed.
 */
size_t ws_elf_object_wants(struct ws_str file, struct ws_arena *a, const char *const **names);

#endif
