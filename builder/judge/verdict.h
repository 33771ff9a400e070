/**
 * verdict.h - verdict.json: what the child that judges writes, and everybody else reads
 *
 * Of wheels and installed packages the text is what `verify --json` prints (schemas/verify-1.json),
 * to which members are only added. Of modules that were just linked "measured" is what their
 * wheel's wheelsmith.json says (schemas/wheel-1.json).
 */
#ifndef WS_JUDGE_VERDICT_H
#define WS_JUDGE_VERDICT_H

#include "base/arena.h"
#include "base/json.h"
#include "store/store.h"
#include "verify/judge.h"

/** The file, and the only output of an action that judges. */
#define WS_VERDICT_FILE "verdict.json"

/** "loads", "excluded", "fails", "unknown": what a verdict is called. */
const char *ws_verdict_word(enum ws_finding_verdict verdict);

/* ---- reading ---- */

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

/** Of a text that was read; borrows from it. */
void ws_verdict_of(
	const struct ws_json *root, struct ws_arena *a, struct ws_wheel_verdict *verdict);

/** Reads what an action left in the store; @a digest is of its output. */
bool ws_verdict_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err);

/* ---- writing ---- */

typedef WS_VEC(struct ws_finding) ws_finding_list;

/** What came of one place. */
struct ws_judge_outcome {
	const struct ws_json *place; /**< in the order */
	const char *python;          /**< ABI tag of the Python that was judged; NULL: none */
	enum ws_finding_verdict verdict;
	const struct ws_finding *decisive; /**< the first that is as bad; NULL: none is bad */
	ws_finding_list findings;
	struct ws_verdict judged; /**< no modules: nothing was */
};

/** Writes the file for @a order into the current folder. */
bool ws_verdict_write(const struct ws_json *order, const struct ws_judge_outcome *outcomes,
	size_t count, struct ws_arena *a, struct ws_err *err);

#endif
