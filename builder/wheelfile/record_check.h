/**
 * record_check.h - is everything in a wheel, or of an installed package, as its RECORD says?
 *
 * Every file has a line, every line a file, no line is repeated, and the bytes are those of the
 * lines. Each thing that is not so is reported as one line for people.
 */
#ifndef WS_WHEELFILE_RECORD_CHECK_H
#define WS_WHEELFILE_RECORD_CHECK_H

#include "archive/zip.h"
#include "base/arena.h"
#include "wheel/record_file.h"

struct ws_held_record {
	void (*on_wrong)(void *self, const char *what); /**< "'x.py' is repeated", in `a` */
	void *self;
	struct ws_arena *a;
	WS_VEC(struct ws_record_entry) lines; /**< filled in, by path; views of the text */
};

/** Its lines; false where the text breaks a rule (record.h), after those that came before. */
bool ws_held_record_read(
	struct ws_held_record *r, struct ws_str text, bool installed, struct ws_err *err);

/** Names on both sides. */
void ws_held_record_names(const struct ws_held_record *r, const struct ws_zip *zip);

/** A file beside its line: true where it has one with a digest, and is what that says. */
bool ws_held_record_file(const struct ws_held_record *r, const char *name, uint64_t size_bytes,
	const struct ws_digest *digest);

/**
 * All of it at once. @a wrong is the first thing, in @a a, or NULL where nothing is. The bytes of
 * members for which @a passes is true were held before; NULL: of none. False when RECORD or a
 * member cannot be read.
 */
bool ws_record_held(struct ws_zip *zip, struct ws_str record, bool (*passes)(const char *name),
	struct ws_arena *a, const char **wrong, struct ws_err *err);

#endif
