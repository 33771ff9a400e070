/**
 * order.h - will a wheel, or an installed package, load in a place? Asked of a child
 *
 * One judge for our wheels and strangers': `wheelsmith internal verify` reads order.json in its working
 * folder, unpacks the wheel's libraries beside it, has verify/ judge them in every place of the order,
 * and writes verdict.json. It bounds its own memory and time: a hostile file ends the child only.
 * A negative verdict is a result, not an error. "Loads" says that names, versions, GPU code and tags
 * agree; it does not say that the code is harmless, nor that layouts of torch's classes are the same.
 *
 * Three ways to ask: ws_judge_wheel_action for engines (remembered by key: the wheel's digest, the
 * contents of lists and libraries, and what the order says), ws_judge_wheel for at once. Which place a
 * torch release or an interpreter is: torch_place.h.
 *
 * Stable: this header, and of verdict.json the members of struct ws_wheel_verdict and its schema
 * (schemas/verify-1.json), to which members are only added. Not stable: order.json.
 */
#ifndef WS_JUDGE_ORDER_H
#define WS_JUDGE_ORDER_H

#include "engine/graph.h"
#include "judge/place.h"
#include "model/known_bad.h"
#include "verify/finding.h"

/** Where it is to be loaded, with what to call that place. */
struct ws_wheel_place {
	const char *torch; /**< release: "2.5.1"; NULL: no torch */
	/** A rule by which the wheel is known not to serve there, whatever is in it; NULL: none. */
	const struct ws_shared_bad *bad;
	struct ws_judge_place place;
};

/** What to judge: a wheel, or files of an installed package. */
struct ws_judge_wheel_order {
	const char
		*name; /**< the wheel's file name: its tags are held against each place; NULL: installed */
	const char *wheel;          /**< path of the file, for ws_judge_wheel */
	const char *digest;         /**< SHA-256 of a stored file, for ws_judge_wheel_action; or: */
	const struct ws_node *pack; /**< the node that packs it */
	unsigned pack_output;
	const char *root;         /**< of an installed package: its site-packages */
	const char *const *files; /**< its libraries, below root */
	size_t file_count;
	/** Import names whose modules decide ("flash_attn_2_cuda"), as a recipe's `check` has them; names
	 * of no module are passed over. Where none is a module's, all modules decide. */
	const char *const *required;
	size_t required_count;
	const struct ws_wheel_place *places; /**< at least one */
	size_t place_count;
	const char *subject; /**< for people: "flash-attn 2.6.1 in torch 2.4.1" */
	const char *unit;    /**< for the ledger; as struct ws_action */
	const char *group;
};

/** The verdict about one place. */
struct ws_wheel_place_verdict {
	enum ws_finding_verdict verdict; /**< OK: loads */
	const char *why;            /**< the first finding that decided, one line; NULL: it loads */
	const char *cause;          /**< its kind, see ws_finding.cause; NULL: it loads */
	const struct ws_json *json; /**< the object of this place */
};

struct ws_wheel_verdict {
	enum ws_finding_verdict verdict;             /**< the worst of the places' */
	const char *why, *cause;                     /**< of the first place that is so */
	const struct ws_wheel_place_verdict *places; /**< in the order's order */
	size_t place_count;
	const struct ws_json *json; /**< the whole: "findings", "measured", "modules", "places" */
};

/** The output of the action. */
#define WS_WHEEL_VERDICT "verdict.json"

/** "loads", "fails", "unknown": what a verdict is called. */
const char *ws_verdict_word(enum ws_finding_verdict verdict);

/** The action; its only output is the verdict. @a program is our own executable. */
const struct ws_action *ws_judge_wheel_action(const struct ws_judge_wheel_order *order,
	const struct ws_store *store, const char *program, struct ws_arena *a, struct ws_err *err);

/** Reads what the action left in the store (@a digest of its output). */
bool ws_judge_wheel_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err);

/**
 * Asks at once: @a folder is an empty one that the caller removes. A child that did not survive the
 * wheel makes the verdict unknown.
 */
bool ws_judge_wheel(const struct ws_judge_wheel_order *order, const char *program,
	const char *folder, struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err);

/** The child: works in the current folder. */
bool ws_judge_wheel_run(struct ws_err *err);

#endif
