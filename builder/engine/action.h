/**
 * action.h - one command: the thing that is keyed, cached and run
 *
 * Compiling, linking, judging and packing are all actions. An action names its files by canonical
 * names, relative to a private work folder, so equal work has equal text on every host:
 *
 *   mounts    links in the work folder: "src", "torch", "cuda", "python" -> folders
 *   inputs    files put there before it runs: a stored file, or an output of another action
 *   outputs   files it must leave there
 *   tokens    words of argv and env that differ by host: "{cxx}", and "{work}" for the folder
 *             itself
 *
 * It maps one to one to a Remote Execution Command and its input root. Plain data; action_key.h
 * makes keys of it, engine.h runs it.
 */
#ifndef WS_ENGINE_ACTION_H
#define WS_ENGINE_ACTION_H

#include "base/arena.h"
#include "base/crypto.h"
#include "engine/budget.h"
#include "store/tree.h"
#include "sys/host.h"
#include "sys/spawn.h"

struct ws_node;
struct ws_worker_files;

/** What an action is run with. */
struct ws_tool {
	const char *name;        /**< "nvcc", for people */
	const char *program;     /**< path; may be relative to the work folder or hold tokens */
	const char *fingerprint; /**< of everything that makes it what it is */
};

/** A word that differs by host. The key keeps the name, the command gets the value. */
struct ws_token {
	const char *name; /**< "{cxx}" */
	const char *value;
};

/** A folder that appears in the work folder as a link. */
struct ws_mount {
	const char *name;           /**< one path component */
	const char *path;           /**< absolute */
	const struct ws_tree *tree; /**< NULL: its files may change, each is watched by itself */
};

/** A file that is put into the work folder. */
struct ws_input {
	const char *name;
	const struct ws_node *from; /**< the action that makes it; NULL: `digest` is a stored file */
	unsigned output;            /**< which output of `from` */
	const char *digest;
	bool executable;
};

typedef WS_VEC(const char *) ws_name_list;

/** What a command turned out to depend on, in canonical names. */
struct ws_reads {
	ws_name_list files;   /**< it read these */
	ws_name_list absent;  /**< had one of these existed, it would have read other files */
	ws_name_list present; /**< that these exist was asked, not what they hold */
	ws_name_list
		passed; /**< these exist and were not read: one that is new may have come too late */
	ws_name_list folders;    /**< ".." was used in these: folders, not links to one */
	const char *uncacheable; /**< why the result must not be kept (`__TIME__`); NULL: it may */
	const char
		*opaque; /**< a file that may have asked for more than could be listed: the result counts
	                         only where the trees are the same; NULL: none */
};

/** What the end of a failed command's log says about a child of the tool. */
enum ws_log_says {
	WS_LOG_SAYS_NOTHING,
	WS_LOG_SAYS_KILLED,  /**< it was killed, for memory */
	WS_LOG_SAYS_CRASHED, /**< it crashed: the tool's fault, not the sources' */
};

#define WS_LOG_END_BYTES 16384

struct ws_graph;
typedef WS_VEC(struct ws_node *) ws_node_list;

/**
 * Other actions that make an action's outputs together, as the commands of which a compiler driver
 * consists. First member of the struct of whoever knows them.
 */
struct ws_split {
	/**
	 * Adds them to @a graph, makers before users; the last one has the outputs of the whole, in
	 * that order. None: the whole is run as it is, and @a why says why. False with @a err: it
	 * cannot be made at all.
	 */
	bool (*expand)(const struct ws_split *self, struct ws_graph *graph, ws_node_list *parts,
		const char **why, struct ws_err *err);
};

struct ws_action {
	const char *subject; /**< for people: "causal_conv1d_bwd.cu" */
	const char *group;   /**< what it is for: the cell that first wanted it */
	const char *unit;    /**< for the ledger: "causal-conv1d/csrc/causal_conv1d_bwd.cu" */
	const char *stage;   /**< "compile", "link", "check", "pack" */
	const char *variant; /**< for the ledger: "cu12.4 sm86" */
	struct ws_tool tool;
	const char *const *argv; /**< NULL-terminated */
	const char *const *env;  /**< NULL-terminated "NAME=value", sorted; the whole environment */
	const struct ws_token *tokens;
	size_t token_count;
	const struct ws_mount *mounts;
	size_t mount_count;
	const struct ws_input *inputs;
	size_t input_count;
	const char *const *outputs;
	size_t output_count;
	const char *const
		*seeds; /**< names in mounts whose contents it certainly reads: the source file */
	size_t seed_count;
	const char *const *search; /**< for find_reads: folders the tool searches after those of argv */
	size_t search_count;
	/**
	 * Says what the command read beyond its inputs, after it succeeded in @a work and wrote the
	 * file
	 * @a log. NULL: nothing else; then the key is complete before it runs.
	 */
	bool (*find_reads)(const struct ws_action *action, const char *work, const char *log,
		struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);
	/** Changes what the command left in @a work before it is taken; a key's tool must say so. NULL:
	 * nothing. */
	bool (*amend)(const struct ws_action *action, const char *work, struct ws_err *err);
	/** Reads the end of a log, of so many bytes at most: drivers speak last. NULL: nothing. */
	enum ws_log_says (*log_says)(const char *tail);
	struct ws_need need; /**< used until the ledger knows better */
	uint64_t cpu_ms;     /**< likewise; 0: unknown */
	/**
	 * Its outputs are large and cheap: the store keeps what they were, not the files. They live as
	 * long as the run does and somebody needs them; who needs them later has them made again.
	 */
	bool transient;
	bool fresh; /**< it is never looked up and never recorded: it runs, to be compared */
	const struct ws_split
		*split; /**< asked when the store has no result; NULL: it is run as it is */
	/**
	 * The files of a host that its tool's fingerprint stands for. Another host that has just these
	 * may run it. None of them and of tool_files: it runs here alone.
	 */
	const struct ws_host_file *host_files;
	size_t host_file_count;
	/**
	 * The same where they are of a tree: they go along. A token whose value is the path of one, or
	 * of its folder, is another there (remote_order.h).
	 */
	const struct ws_host_file *tool_files;
	size_t tool_file_count;
	struct ws_worker_files *platform; /**< other hosts, where alone it runs; NULL: this one may */
	struct ws_limits limits;          /**< timeout_ms 0: the engine's rule; output is not limited */
};

/** Words of argv or env with tokens replaced, "{work}" by @a dir. NULL-terminated. */
const char *const *ws_action_words(
	const struct ws_action *action, const char *const *words, const char *dir, struct ws_arena *a);

/** The program to start, tokens replaced. */
const char *ws_action_program(const struct ws_action *action, const char *dir, struct ws_arena *a);

/* ---- in which mount a canonical name lies ---- */

/** The mount that @a name lies in, and the rest of the name; NULL when in none. */
const struct ws_mount *ws_mount_of(
	const struct ws_action *action, const char *name, const char **rest);

/** True when the name lies in no tree of @a action: its digest may change between two runs. */
bool ws_names_is_outside(const struct ws_action *action, const char *name);

/** Where the file is on this host; @a name may be all of it. */
const char *ws_names_path(const struct ws_action *action, const char *name, struct ws_arena *a);

#endif
