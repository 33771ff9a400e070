/**
 * ledger.h - what past runs cost
 *
 * For every action that ran: how long, how much memory, how it ended. Predictions come from here.
 * Beside it, which digest a file had when it was last hashed, so that it is hashed once, and what
 * programs said. A unit is named without its package's version, so the next release starts with a
 * good guess. The ledger never decides what is built; losing it costs estimates and hashing.
 */
#ifndef WS_STORE_LEDGER_H
#define WS_STORE_LEDGER_H

#include "base/crypto.h"
#include "base/text.h"
#include "store/store.h"

#include <sys/stat.h>

struct ws_ledger;

/** What is known or guessed about an action. */
struct ws_estimate_of {
	uint64_t wall_ms;   /**< 0: not known */
	uint64_t cpu_ms;    /**< 0: not known */
	uint64_t rss_bytes; /**< peak; 0: not known */
};

/** One run that ended. */
struct ws_ledger_run {
	const char *unit;    /**< "causal-conv1d/csrc/causal_conv1d_bwd.cu" */
	const char *stage;   /**< "compile", "link", ... */
	const char *variant; /**< what else moves the cost: "cu12.4 sm86" */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	bool killed; /**< by the kernel, for memory: rss_bytes is what it held then */
};

/** Opened and closed by the store that it belongs to. */
struct ws_ledger *ws_ledger_open(const char *path, struct ws_err *err);
void ws_ledger_close(struct ws_ledger *ledger);

bool ws_ledger_add(struct ws_ledger *ledger, const struct ws_ledger_run *run, struct ws_err *err);

/**
 * From the last five successful runs: the largest peak, the latest times. A kill after the last
 * success doubles what was held then. Another variant of the unit serves when this one never ran.
 * All zero when nothing is known.
 */
struct ws_estimate_of ws_ledger_estimate(
	struct ws_ledger *ledger, const char *unit, const char *stage, const char *variant);

/**
 * The SHA-256 of a file outside every tree, hashed only when size, mtime, ctime, inode or device
 * moved since it was last asked. Files changed in the last two seconds are hashed every time: a
 * second change in the same tick would go unseen. False when the file cannot be read.
 */
bool ws_ledger_file_digest(struct ws_ledger *ledger, const char *path, struct ws_digest *digest);

/**
 * Notes the digest of a file of our own, for as long as its size, mtime, ctime, inode and device
 * are those of @a status. Nothing depends on it: a note that is lost costs the hashing. Other
 * processes know it once something was added, and when the ledger is closed.
 */
void ws_ledger_note(struct ws_ledger *ledger, const char *path, const struct stat *status,
	const struct ws_digest *digest);

/** What was noted; false when nothing was, or the file is not the same any more. */
bool ws_ledger_recall(struct ws_ledger *ledger, const char *path, const struct stat *status,
	struct ws_digest *digest);

/** What a program said to the question @a key, and how things looked then (answer_cache.h).
 * Appends; false: not known. */
bool ws_ledger_answer(
	struct ws_ledger *ledger, const char *key, struct ws_buf *answer, struct ws_digest *looks);
void ws_ledger_note_answer(
	struct ws_ledger *ledger, const char *key, const char *answer, const struct ws_digest *looks);

#endif
