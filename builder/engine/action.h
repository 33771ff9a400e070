/**
 * action.h - one command: the unit that is keyed, cached and run
 *
 * Compiling, linking, judging and packing are all actions. An action names its files by
 * canonical names, relative to a private work folder, so equal work has equal text on every
 * host:
 *
 *   mounts    links in the work folder: "src", "torch", "cuda", "python" -> folders
 *   inputs    files placed there before the run: stored files, and outputs of earlier actions
 *   outputs   files that the command must create there
 *   tokens    parts of argv and env that differ between hosts: "{cxx}", and "{work}" for the
 *             folder itself
 *
 * An action maps one to one to a Command of the Remote Execution API and its input root. Plain
 * data: action_key.h computes its keys, engine.h runs it.
 */
#ifndef WS_ENGINE_ACTION_H
#define WS_ENGINE_ACTION_H

#include "store/tree.h"
#include "sys/host.h"
#include "sys/spawn.h"

struct ws_node;
struct ws_worker_files;

/** The resources of one job. */
struct ws_need {
	unsigned cpus;      /**< whole slots, at least 1 */
	uint64_t rss_bytes; /**< predicted peak, summed over the job's processes */
};

/** The program that an action runs. */
struct ws_tool {
	const char *name;        /**< "nvcc", for messages */
	const char *program;     /**< path; may be relative to the work folder or contain tokens */
	const char *fingerprint; /**< digest of everything that can change its output */
};

/** A word that differs between hosts. The key contains the name, the command the value. */
struct ws_token {
	const char *name; /**< "{cxx}" */
	const char *value;
};

/** A folder, linked into the work folder. */
struct ws_mount {
	const char *name;           /**< one path component */
	const char *path;           /**< absolute */
	const struct ws_tree *tree; /**< NULL: its files may change, so each is checked by itself */
};

/** A file that is placed in the work folder. */
struct ws_input {
	const char *name;
	const struct ws_node
		*from;       /**< the action that creates it; NULL: `digest` names a stored file */
	unsigned output; /**< which output of `from` */
	const char *digest;
	bool executable;
};

typedef WS_VEC(const char *) ws_name_list;

/** Appends @a names: @a count of them, or those before a NULL. */
static inline void
ws_name_list_add(ws_name_list *list, const char *const *names, size_t count, struct ws_arena *a)
{
	for (size_t i = 0; i < count && names[i]; i++) {
		*ws_vec_push(list, a) = names[i];
	}
}

/** The dependencies of a command, found after its run, as canonical names. */
struct ws_reads {
	ws_name_list files;   /**< files that it read */
	ws_name_list absent;  /**< names that did not exist; one that appears may change what is read */
	ws_name_list present; /**< files whose existence was tested, not their contents */
	ws_name_list
		passed; /**< existing files that were not read: if one is new, it may have appeared too late */
	ws_name_list folders;    /**< folders followed by "..": must not become links */
	const char *uncacheable; /**< why the result must not be cached (`__TIME__`); NULL: it may */
	const char *
		opaque; /**< a file with dependencies that could not be listed: the result is valid only under the same trees; NULL: none */
};

/** How a child of the tool ended, by the end of a log. */
enum ws_log_says {
	WS_LOG_SAYS_NOTHING,
	WS_LOG_SAYS_KILLED,  /**< a child was killed for lack of memory */
	WS_LOG_SAYS_CRASHED, /**< a child crashed: a fault of the tool, not of the sources */
};

#define WS_LOG_END_BYTES 16384

struct ws_graph;
typedef WS_VEC(struct ws_node *) ws_node_list;

/**
 * Splits an action into parts that create its outputs together, like the commands of a compiler
 * driver. First member of the implementation's struct.
 */
struct ws_split {
	/**
	 * Adds the parts to @a graph, makers before users; the last part has the outputs of the
	 * whole action, in the same order. No parts: the action runs as one command, and @a why is
	 * the reason. False with @a err: the action cannot be built.
	 */
	bool (*expand)(const struct ws_split *self, struct ws_graph *graph, ws_node_list *parts,
		const char **why, struct ws_err *err);
};

struct ws_action {
	const char *subject; /**< for messages: "causal_conv1d_bwd.cu" */
	const char *group;   /**< name of the cell that first requested it */
	const char *unit;    /**< for the ledger: "causal-conv1d/csrc/causal_conv1d_bwd.cu" */
	const char *stage;   /**< "compile", "link", "check", "pack" */
	const char *variant; /**< for the ledger: "cu12.4 sm86" */
	struct ws_tool tool;
	const char *const *argv; /**< NULL-terminated */
	const char *const *env;  /**< NULL-terminated "NAME=value", sorted; the complete environment */
	const struct ws_token *tokens;
	size_t token_count;
	const struct ws_mount *mounts;
	size_t mount_count;
	const struct ws_input *inputs;
	size_t input_count;
	const char *const *outputs;
	size_t output_count;
	const char *const *seeds; /**< names in mounts that the command always reads: the source file */
	size_t seed_count;
	const char *const
		*search; /**< for find_reads: search folders of the tool, after those of argv */
	size_t search_count;
	/**
	 * Finds what the command read besides its inputs, after it succeeded in @a work with the log
	 * file @a log. NULL: the command reads only its inputs, so the key is known before the run.
	 */
	bool (*find_reads)(const struct ws_action *action, const char *work, const char *log,
		struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);
	/** Changes outputs in @a work before they are stored; the tool's fingerprint must include
	 * this. NULL: no change. */
	bool (*amend)(const struct ws_action *action, const char *work, struct ws_err *err);
	/** Classifies the end of a log, at most WS_LOG_END_BYTES: drivers print errors last. NULL:
	 * not classified. */
	enum ws_log_says (*log_says)(const char *tail);
	struct ws_need need; /**< used until the ledger has measurements */
	uint64_t cpu_ms;     /**< likewise; 0: unknown */
	/**
	 * Its outputs are large and cheap: the store keeps their digests only. The files exist while
	 * the run needs them; when they are needed again, the action runs again.
	 */
	bool transient;
	const struct ws_split
		*split; /**< used when the store has no result; NULL: always one command */
	/**
	 * Host files that the tool's fingerprint covers. Another host with the same files may run
	 * the action. Without these and without tool_files it runs on this host only.
	 */
	const struct ws_host_file *host_files;
	size_t host_file_count;
	/**
	 * Tool files that belong to a tree: they are sent with the action. A token whose value is
	 * the path of such a file, or of its folder, gets the path on the worker (remote_order.h).
	 */
	const struct ws_host_file *tool_files;
	size_t tool_file_count;
	struct ws_worker_files *platform; /**< workers that must run it; NULL: this host may */
	struct ws_limits limits;          /**< timeout_ms 0: ten times the last run; see engine.h */
};

/** Words of argv or env with tokens replaced, "{work}" by @a dir. NULL-terminated. */
const char *const *ws_action_words(
	const struct ws_action *action, const char *const *words, const char *dir, struct ws_arena *a);

/** The program to start, tokens replaced. */
const char *ws_action_program(const struct ws_action *action, const char *dir, struct ws_arena *a);

/* ---- canonical names ---- */

/** The mount that contains @a name, and the rest of the name; NULL: no mount. */
const struct ws_mount *ws_mount_of(
	const struct ws_action *action, const char *name, const char **rest);

/** True if @a name is in no tree of @a action: its digest may change between runs. */
bool ws_names_is_outside(const struct ws_action *action, const char *name);

/** The path on this host; may be @a name itself. */
const char *ws_names_path(const struct ws_action *action, const char *name, struct ws_arena *a);

#endif
