/**
 * patch.h - unified diffs, applied exactly
 *
 * Every context line must match at the very line the hunk names: no fuzz, no offset, no renames, no
 * binary parts. A patch that needs guessing is out of date, and its author should know. Paths are
 * as git writes them, with a/ and b/ in front, and stay inside. Works on bytes in memory; touches
 * no file. Errors are WS_ERR_CONFIG at the line of the patch and name the file and the hunk.
 *
 * libgit2's own apply (1.5.1) does not serve: it needs the sources in a repository, reads only the
 * output of git diff, silently drops lines beyond a hunk's counts, and reports a line without its
 * file.
 */
#ifndef WS_FETCH_PATCH_H
#define WS_FETCH_PATCH_H

#include "base/err.h"
#include "base/text.h"

enum ws_patch_kind {
	WS_PATCH_CHANGES,
	WS_PATCH_CREATES,
	WS_PATCH_DELETES,
};

/** A stretch of lines. */
struct ws_patch_hunk {
	size_t offset; /**< of its "@@" line in the patch */
	uint64_t from,
		from_count;     /**< lines it replaces, from 1; with count 0, it goes behind `from` */
	size_t line_count;  /**< of the body */
	struct ws_str body; /**< its lines, each with ' ', '-', '+' or '\' in front */
};

/** The change of one file. */
struct ws_patch_change {
	const char *path;
	enum ws_patch_kind kind;
	int executable; /**< the file's bit afterwards; -1: as it was */
	size_t offset;  /**< of its first line in the patch */
	const struct ws_patch_hunk *hunks;
	size_t hunk_count;
};

/** A patch that was read; borrows its text. */
struct ws_patch_file {
	const char *name; /**< for messages */
	const char *text; /**< NUL-terminated */
	const struct ws_patch_change *changes;
	size_t count;
};

/** Reads a whole patch; text before, between and after the diffs is skipped. */
bool ws_patch_parse(const char *name, const char *text, size_t len, struct ws_arena *a,
	struct ws_patch_file *patch, struct ws_err *err);

/** Replaces what @a after held by @a before with the change made. */
bool ws_patch_apply(const struct ws_patch_file *patch, const struct ws_patch_change *change,
	struct ws_str before, struct ws_buf *after, struct ws_err *err);

/** Sets an error at the line at byte @a offset of the patch. Returns false. */
bool ws_patch_err(const struct ws_patch_file *patch, size_t offset, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);

#endif
