/**
 * session.h - what a command has: options common to all, and doors that open when they are needed
 *
 * One for the process, made by main.c. `plan` never opens the network; `doctor` never locks the
 * store; nothing is opened twice.
 */
#ifndef WS_CLI_SESSION_H
#define WS_CLI_SESSION_H

#include "base/user_env.h"
#include "cli/options.h"
#include "config/document.h"
#include "config/facts.h"
#include "config/recipes.h"
#include "config/user.h"
#include "fetch/fetch.h"
#include "net/index_config.h"
#include "remote/execution.h"
#include "remote/shared_results.h"
#include "sys/host.h"
#include "sys/stop.h"

struct ws_command;
struct ws_selecting;

/** Options that every command understands. */
struct ws_globals {
	const char *store;
	const char *recipes;
	const char *debian_mirror;
	const char *kits; /**< "host", "archive"; NULL: as it comes */
	ws_words indexes;
	bool json, quiet;
	unsigned verbosity;
};

struct ws_session {
	struct ws_arena *a;
	struct ws_user_env env; /**< of the process: nothing else asks for it */
	struct ws_out out;
	struct ws_globals globals;
	const struct ws_command *commands; /**< main.c's table */
	size_t command_count;
	bool completes; /**< commands answer a shell that completes their line, and end */
	const struct ws_selecting *selecting; /**< what was selected; NULL: nothing yet. For cures. */
	const char *program;                  /**< our own executable, for children */
	struct ws_data data;
	struct ws_user_config user;
	struct ws_facts facts;
	struct ws_host host;
	struct ws_stop stop;
	struct ws_events events;
	struct ws_sink *status;
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_index_config indexes;
	struct ws_fetch fetch;
	struct ws_server *server; /**< of the user's configuration; NULL: not opened, or none */
	struct ws_shared_results *records; /**< NULL: not opened, or none are shared */
	struct ws_execution *execution;    /**< NULL: not opened */
	bool has_facts, has_store, has_indexes, has_net;
};

/** A command: parses its own options; false with @a err set, printed by main. */
typedef bool (*ws_command_run_fn)(
	struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/** One row of main.c's table. */
struct ws_command {
	const char *name;
	ws_command_run_fn run;
	const char *help; /**< one line; NULL: not listed */
	bool resumes;     /**< after Ctrl-C the same command continues where it ended */
};

void ws_session_init(struct ws_session *s, const char *program);

/** The rows of the common options, filling s->globals. */
const struct ws_option *ws_session_options(struct ws_session *s, size_t *count);

/** Data, user configuration, facts, host. */
bool ws_session_open_facts(struct ws_session *s, struct ws_err *err);

/**
 * The recipes of --recipes, of @a matrix (a folder that a matrix names; NULL), of the user and the
 * program's own. On failure the catalog is empty.
 */
bool ws_session_list_recipes(const struct ws_session *s, const char *matrix,
	struct ws_recipe_catalog *catalog, struct ws_err *err);

/** Where the store is, or would be. Needs the user's configuration. */
const char *ws_session_store_path(const struct ws_session *s);

/** Store, ledger, signals, and the status line as the first sink. To @a look makes no store. */
bool ws_session_open_store(struct ws_session *s, bool look, struct ws_err *err);

/** Which indexes there are; @a roles are the matrix's own. Asks none. */
bool ws_session_read_indexes(
	struct ws_session *s, const struct ws_index_role *roles, size_t count, struct ws_err *err);

/** HTTP and indexes; @a roles are the matrix's own. Needs the store. */
bool ws_session_open_net(struct ws_session *s, const struct ws_index_role *roles, size_t count,
	bool offline, struct ws_err *err);

/** What other hosts made and downloaded, where the user's configuration names a place; after the
 * network. */
bool ws_session_open_records(struct ws_session *s, struct ws_err *err);

/** The server of the user's configuration. WS_ERR_CONFIG: there is none, or it cannot be used. */
bool ws_session_open_server(struct ws_session *s, struct ws_err *err);

/** The build farm of the user's configuration. WS_ERR_CONFIG: there is none. As above. */
bool ws_session_open_execution(struct ws_session *s, bool falls_back, struct ws_err *err);

/**
 * The Debian mirror to use, and who says so: the option, the user's configuration, else this host's
 * own where it is Debian's. NULL: none serves.
 */
const char *ws_session_debian_mirror(const struct ws_session *s, const char **from);

void ws_session_close(struct ws_session *s);

/* ---- commands ---- */

bool ws_cmd_build(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_cache(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_doctor(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_explain(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_fetch(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_inspect(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_lock(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_plan(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_publish(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_shell(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_verify(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_internal(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);
bool ws_cmd_recipe(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/**
 * Parses the options of a command, common ones included. True: go on. False: help was printed, or
 * the usage was all that was wanted, and @a err is empty (kind WS_ERR_NONE); or @a err says what is
 * wrong.
 */
bool ws_command_options(struct ws_session *s, struct ws_usage *usage, int argc,
	const char *const *argv, ws_words *words, struct ws_err *err);

#endif
