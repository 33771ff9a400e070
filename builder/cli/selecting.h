/**
 * selecting.h - how plan, build, fetch, lock and shell select cells
 *
 * matrix_options.h makes a matrix of PKG, --here and the other axes on the command line. This file
 * reads the options, opens a matrix and plans it; its .c words the cures of errors.
 */
#ifndef WS_CLI_SELECTING_H
#define WS_CLI_SELECTING_H

#include "cli/matrix_options.h"
#include "cli/session.h"
#include "produce/selection.h"

/** The parsed options. */
struct ws_selecting {
	struct ws_selection_options options;
	struct ws_matrix_options typed;
	struct ws_matrix *made; /**< made from options; NULL: from a file */
	ws_words only;
	const char *against;                             /**< an index, as typed; NULL: not given */
	const char *shard, *policy, *debug_info, *glibc; /**< as typed; NULL: not given */
	enum ws_policy policy_value;                     /**< options point here */
	enum ws_debug_info debug_info_value;
	bool offline;
	unsigned jobs;
	uint64_t memory_bytes;
	bool whole;            /**< the command concerns all cells: it has no --only and no --shard */
	struct ws_context ctx; /**< set by ws_selecting_plan, like the next */
	struct ws_selection sel;
};

/**
 * Parses --matrix --only --shard --here --torch --python --arch --cuda --cxx11abi --debug-info
 * --glibc --policy --torch-window, and behind these the command's own options, those of @a own.
 */
bool ws_selecting_options(struct ws_session *s, struct ws_selecting *selecting,
	const struct ws_usage *own, struct ws_err *err);

/**
 * Takes the session's words (PKG or PKG==V), makes a matrix of options where no file is named,
 * reads --only, --shard and --policy, and tells the session; call after parsing. Mistakes are
 * WS_ERR_USAGE.
 */
bool ws_selecting_finish(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err);

/**
 * Opens store and, with @a network, the network (with the matrix's own indexes), and plans. The
 * plan lives in the session's arena.
 */
bool ws_selecting_plan(
	struct ws_session *s, struct ws_selecting *selecting, bool network, struct ws_err *err);

/**
 * Another command for the same selection: "wheelsmith fetch --matrix m.json --only 'a*' --store s".
 * @a command may bring words of its own, quoted: "shell CELL --unit a.cu". Passwords are left out,
 * and with @a elsewhere --store: other hosts have stores of their own.
 */
const char *ws_selecting_command(const struct ws_session *s, const struct ws_selecting *selecting,
	const char *command, bool elsewhere);

/**
 * True if there is something to build, or a shard is empty, which is printed. Any other selection
 * without work is WS_ERR_CONFIG.
 */
bool ws_selecting_has_work(
	const struct ws_session *s, const struct ws_selecting *selecting, struct ws_err *err);

/* ---- cures ---- */

/** Turns the codes of @a err into lines of its cure. Call before printing or keeping the cure. */
void ws_cures_word(const struct ws_session *s, struct ws_err *err);

#endif
