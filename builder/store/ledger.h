/**
 * ledger.h - costs of past runs, for predictions
 *
 * For every action that ran: time, memory and how it ended. It also remembers the digest of each
 * hashed file, so that files are hashed once, and answers of programs. A unit is named without
 * its package's version, so the next release starts with a good estimate. The ledger never
 * decides what is built; without it, estimates are missing and files are hashed again.
 */
#ifndef WS_STORE_LEDGER_H
#define WS_STORE_LEDGER_H

#include "base/crypto.h"
#include "store/store.h"

struct ws_ledger;

/** An estimate for an action. */
struct ws_estimate_of {
	uint64_t wall_ms;   /**< 0: not known */
	uint64_t cpu_ms;    /**< 0: not known */
	uint64_t rss_bytes; /**< peak; 0: not known */
};

/** One run that ended. */
struct ws_ledger_run {
	const char *unit;    /**< "causal-conv1d/csrc/causal_conv1d_bwd.cu" */
	const char *stage;   /**< "compile", "link", ... */
	const char *variant; /**< what else affects the cost: "cu12.4 sm86" */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	bool killed; /**< by the kernel, for lack of memory: rss_bytes is what it held then */
};

/** Opened and closed by the store. */
struct ws_ledger *ws_ledger_open(const char *path, struct ws_err *err);
void ws_ledger_close(struct ws_ledger *ledger);

/** Writes @a run (may be NULL) and the notes about files in one transaction. */
bool ws_ledger_add(struct ws_ledger *ledger, const struct ws_ledger_run *run, struct ws_err *err);

/**
 * From the last five successful runs: the largest peak and the latest times. After a kill, twice
 * the memory held then. If this variant never ran, another variant of the unit is used. All
 * zero: unknown.
 */
struct ws_estimate_of ws_ledger_estimate(
	struct ws_ledger *ledger, const char *unit, const char *stage, const char *variant);

/**
 * The SHA-256 of a file outside every tree. Hashes it only if size, mtime, ctime, inode or
 * device changed since the last call. Files changed in the last two seconds are always hashed,
 * since a second change in the same tick is invisible. False if the file cannot be read.
 */
bool ws_ledger_file_digest(struct ws_ledger *ledger, const char *path, struct ws_digest *digest);

/**
 * Notes the digest of a file of our own, valid while its size, mtime, ctime, inode and device
 * equal @a status. A lost note costs a hash. Other processes see notes after the next
 * ws_ledger_add or ws_ledger_close.
 */
void ws_ledger_note(struct ws_ledger *ledger, const char *path, const struct stat *status,
	const struct ws_digest *digest);

/** The noted digest; false: no note, or the file has changed. */
bool ws_ledger_recall(struct ws_ledger *ledger, const char *path, const struct stat *status,
	struct ws_digest *digest);

/** The cached answer to the question @a key, and the fingerprint of its files (answer_cache.h).
 * Appends; false: unknown. */
bool ws_ledger_answer(
	struct ws_ledger *ledger, const char *key, struct ws_buf *answer, struct ws_digest *looks);
void ws_ledger_note_answer(
	struct ws_ledger *ledger, const char *key, const char *answer, const struct ws_digest *looks);

#endif
