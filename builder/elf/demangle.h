/**
 * demangle.h - C++ names for people
 *
 * Names come from files of unknown origin. A crafted name of a hundred bytes can expand to
 * gigabytes, and libstdc++ does not stop it. So a child process with limits (sys/spawn.h) reads
 * such files: without memory the name stays mangled, without time the child ends.
 */
#ifndef WS_ELF_DEMANGLE_H
#define WS_ELF_DEMANGLE_H

#include "base/arena.h"

/**
 * As libstdc++ writes it: "c10::Error::Error(c10::SourceLocation, std::string)". The name itself
 * when it is not mangled or is longer than 8192 bytes (torch's longest have 1,995).
 */
const char *ws_demangle(const char *name, struct ws_arena *a);

/**
 * Shortened for messages: default template arguments that the standard library adds are left out
 * and strings have their short names, so that "std::__cxx11::string" and "std::string" (the two
 * ABIs) stay apart.
 */
const char *ws_demangle_short(const char *name, struct ws_arena *a);

#endif
