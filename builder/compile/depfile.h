/**
 * depfile.h - the dependency files of compilers and linkers
 *
 * A make rule: "unit.o: src/a.cu /usr/include/stdio.h \", as gcc -MD, nvcc -MD and
 * ld --dependency-file write it (GNU make's quoting: "\ ", "\#", "$$", backslash newline).
 */
#ifndef WS_COMPILE_DEPFILE_H
#define WS_COMPILE_DEPFILE_H

#include "base/vec.h"
#include "engine/action.h"

/**
 * Appends the prerequisites of the first rule, in order, as written. Later rules (ld's phony ones)
 * are skipped. A text that is not a rule is WS_ERR_BUILD.
 */
bool ws_depfile_parse(
	const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err);

/** True for a file that @a action was given, which its key holds already; false for one that it found. */
bool ws_depfile_is_input(const struct ws_action *action, const char *name);

#endif
