/**
 * session.h - common options, and facts, store and network opened on demand
 *
 * One for the process, made by main.c. Each part opens once, when it is first needed: `plan`
 * without the network, `doctor` without locking the store.
 */
#ifndef WS_CLI_SESSION_H
#define WS_CLI_SESSION_H

#include "cli/options.h"
#include "config/document.h"
#include "config/facts.h"
#include "config/recipes.h"
#include "config/user.h"
#include "fetch/fetch.h"
#include "net/index_config.h"
#include "remote/execution.h"
#include "remote/shared_results.h"

struct ws_command;
struct ws_selecting;
struct ws_matrix;
struct ws_table;

#define WS_COMMON_OPTIONS 8

/** Options of every command. */
struct ws_globals {
	const char *store;
	const char *recipes;
	const char *debian_mirror;
	const char *kits; /**< "host", "archive"; NULL: whichever there is */
	ws_words indexes;
	bool json, quiet;
	unsigned verbosity;
};

struct ws_session {
	struct ws_arena *a;
	struct ws_user_env env; /**< the process's environment, read here only */
	struct ws_out out;
	struct ws_globals globals;
	struct ws_option common[WS_COMMON_OPTIONS]; /**< the rows that fill globals */
	const struct ws_command *commands;          /**< main.c's table */
	size_t command_count;
	int argc; /**< the command's line; argv[0] is its name */
	const char *const *argv;
	ws_words words; /**< its arguments that are not options; set by ws_command_options */
	bool completes; /**< commands answer a shell that completes their line, and end */
	const struct ws_selecting *selecting; /**< the selection, for cures; NULL: not parsed yet */
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

/**
 * A command: parses its own options. False with @a err set, printed by main; false with an empty
 * @a err: help was printed.
 */
typedef bool (*ws_command_run_fn)(struct ws_session *s, struct ws_err *err);

/** One row of main.c's table. */
struct ws_command {
	const char *name;
	ws_command_run_fn run;
	const char *help; /**< one line; NULL: not listed */
	bool resumes;     /**< after Ctrl-C the same command continues where it ended */
};

void ws_session_init(struct ws_session *s, const char *program);

/** Data, user configuration, facts, host. */
bool ws_session_open_facts(struct ws_session *s, struct ws_err *err);

/** The recipes in --recipes, of the user and of the program. On failure the catalog is empty. */
bool ws_session_list_recipes(
	const struct ws_session *s, struct ws_recipe_catalog *catalog, struct ws_err *err);

/** Where the store is, or would be. Needs the user's configuration. */
const char *ws_session_store_path(const struct ws_session *s);

/** Store, ledger, signals, and the status line as the first sink. To @a look makes no store. */
bool ws_session_open_store(struct ws_session *s, bool look, struct ws_err *err);

/** Reads which indexes are configured, without contacting them; @a matrix may name some, or is
 * NULL. */
bool ws_session_read_indexes(
	struct ws_session *s, const struct ws_matrix *matrix, struct ws_err *err);

/** The store, HTTP and indexes. */
bool ws_session_open_net(
	struct ws_session *s, const struct ws_matrix *matrix, bool offline, struct ws_err *err);

/** Shared results and downloads, if the user's configuration names a server; after the network. */
bool ws_session_open_records(struct ws_session *s, struct ws_err *err);

/** The server of the user's configuration. WS_ERR_CONFIG: there is none, or it cannot be used. */
bool ws_session_open_server(struct ws_session *s, struct ws_err *err);

/** The build farm of the user's configuration. WS_ERR_CONFIG: there is none. As above. */
bool ws_session_open_execution(struct ws_session *s, bool falls_back, struct ws_err *err);

/**
 * The Debian mirror and its source: the option, the user's configuration, else this host's own
 * mirror if that is Debian's. NULL: there is none.
 */
const char *ws_session_debian_mirror(const struct ws_session *s, const char **from);

void ws_session_close(struct ws_session *s);

/* ---- commands ---- */

bool ws_cmd_build(struct ws_session *s, struct ws_err *err);
bool ws_cmd_cache(struct ws_session *s, struct ws_err *err);
bool ws_cmd_doctor(struct ws_session *s, struct ws_err *err);
bool ws_cmd_explain(struct ws_session *s, struct ws_err *err);
bool ws_cmd_fetch(struct ws_session *s, struct ws_err *err);
bool ws_cmd_inspect(struct ws_session *s, struct ws_err *err);
bool ws_cmd_lock(struct ws_session *s, struct ws_err *err);
bool ws_cmd_plan(struct ws_session *s, struct ws_err *err);
bool ws_cmd_publish(struct ws_session *s, struct ws_err *err);
bool ws_cmd_shell(struct ws_session *s, struct ws_err *err);
bool ws_cmd_verify(struct ws_session *s, struct ws_err *err);
bool ws_cmd_internal(struct ws_session *s, struct ws_err *err);
bool ws_cmd_recipe(struct ws_session *s, struct ws_err *err);
bool ws_cmd_recipe_check(struct ws_session *s, struct ws_err *err);
bool ws_cmd_recipe_list(struct ws_session *s, struct ws_err *err);
bool ws_cmd_recipe_new(struct ws_session *s, struct ws_err *err);
bool ws_cmd_recipe_update(struct ws_session *s, struct ws_err *err);

/**
 * Parses the options of a command and the common ones. True: run the command. False: help or
 * completions were printed, and @a err is empty (WS_ERR_NONE), or the usage is wrong.
 */
bool ws_command_options(struct ws_session *s, struct ws_usage *usage, struct ws_err *err);

/** Prints a record as JSON. */
void ws_session_print_json(
	const struct ws_session *s, const struct ws_table *table, const void *record);

/* ---- records that --json prints ---- */

extern const struct ws_table ws_cache_result_table, ws_explain_result_table,
	ws_publish_report_table, ws_recipe_check_table, ws_recipe_list_table;

#endif
