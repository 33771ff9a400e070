/**
 * split.h - a .cu unit as nvcc's own commands
 *
 * What nvcc would run for the unit becomes parts of its action, so that an arch that is added costs
 * its own cicc and ptxas, and a torch with other headers no ptxas where the PTX is equal. Each has
 * a key by its own tool. Whoever asks for the unit sees one action, with its own key, whose result
 * the parts make.
 *
 * One nvcc does it all where its commands are not understood, the host compiler is clang, or the
 * words ask for device debug info or link-time optimization.
 */
#ifndef WS_COMPILE_SPLIT_H
#define WS_COMPILE_SPLIT_H

#include "base/text.h"
#include "compile/extension_target.h"
#include "compile/nvcc_steps.h"

/**
 * Adds @a text to @a out, its markers' relative names below WS_SOURCE_ROOT (extension_target.h):
 * # 1 "src/a.cu" becomes # 1 "/wheelsmith/src/a.cu".
 */
void ws_markers_anchor(struct ws_str text, struct ws_buf *out);

/* ---- actions ---- */

/** The path, in place of the unit's, that words for ws_split_make hold: with the same ending. */
const char *ws_split_stand_in(const char *path, struct ws_arena *a);

/** What nvcc does for all units of a target whose names end alike; it is asked when the first is
 * expanded. */
struct ws_split_words {
	const char *stand_in;
	const char *const
		*words; /**< nvcc's for it, NULL-terminated, without program and dependency file */
	bool asked;
	const char *why;     /**< why one nvcc runs them; NULL: `steps` are its commands */
	ws_nvcc_steps steps; /**< in the arena of the graph that was expanded first */
};

/** For struct ws_action.split of @a whole, which compiles @a unit. All are borrowed. */
const struct ws_split *ws_split_make(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_action *whole, struct ws_split_words *words, const struct ws_store *store,
	struct ws_arena *a);

#define WS_REPLAY_STAGE "replay"

/** A file that nvcc's commands and one nvcc both make. */
struct ws_replay_file {
	const char *name; /**< as nvcc has it: "tmp/x.compute_80.ptx"; the object's */
	const struct ws_node *part;
	unsigned output; /**< which of the part's */
};

/** A unit made both ways. */
struct ws_replay {
	struct ws_node *whole; /**< by one nvcc: it is run and not kept. NULL: nothing is compared */
	const char *why;       /**< why there is nothing to compare */
	WS_VEC(struct ws_replay_file)
	files; /**< in the order of the whole's outputs: PTX, cubins, the object */
	struct ws_replay_file
		name; /**< what the unit's names are made of, where no seed says it; part NULL: none */
};

/** @a name, the text of such a file, was made up of chance and a pid: the unit has no external
 * function. */
bool ws_split_name_is_made_up(const char *name);

/** Adds to @a graph the parts of a unit, found or made as ever, and one nvcc that does it all. */
void ws_split_replay(
	const struct ws_split *split, struct ws_graph *graph, struct ws_replay *replay);

#endif
