/**
 * split.h - compiles a .cu unit by nvcc's own commands
 *
 * The commands that nvcc would run become parts of the unit's action, each with a key by its own
 * tool. So an additional arch costs only its cicc and ptxas, and a torch with other headers no
 * ptxas if the PTX is equal. Callers see one action with its own key, whose result the parts
 * create.
 *
 * One nvcc command compiles the unit if the commands are not understood, if the host compiler is
 * clang, or if the arguments request device debug info or link-time optimization.
 */
#ifndef WS_COMPILE_SPLIT_H
#define WS_COMPILE_SPLIT_H

#include "compile/extension_target.h"
#include "compile/nvcc_steps.h"

/**
 * Appends @a text to @a out, with relative names in markers moved below WS_SOURCE_ROOT: # 1
 * "src/a.cu" becomes # 1 "/wheelsmith/src/a.cu".
 */
void ws_markers_anchor(struct ws_str text, struct ws_buf *out);

/* ---- line markers ----
 * With -lineinfo, cicc writes the file of each line into PTX: for a relative name, after the
 * folder in which it runs, which differs in every run. Absolute names stay as they are. */

/** The path that replaces the unit's in the arguments for ws_split_make; it has the same ending. */
const char *ws_split_stand_in(const char *path, struct ws_arena *a);

/** The dry run for all units of a target with the same ending, made when the first unit is
 * expanded. */
struct ws_split_words {
	const char *stand_in;
	const char *const *
		words; /**< nvcc's arguments for it, NULL-terminated, without program and dependency file */
	bool asked;
	const char *why;     /**< why the units are not split; NULL: `steps` are the commands */
	ws_nvcc_steps steps; /**< in the arena of the graph that was expanded first */
};

/** For struct ws_action.split of @a whole, which compiles @a unit. All borrowed. */
const struct ws_split *ws_split_make(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_action *whole, struct ws_split_words *words, const struct ws_store *store,
	struct ws_arena *a);

#endif
