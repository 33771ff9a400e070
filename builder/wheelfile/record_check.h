/**
 * record_check.h - compares a wheel, or an installed package, with its RECORD
 *
 * Every file needs a line, every line a file, no line is repeated, and the bytes match. Each
 * difference is reported as one line for people.
 */
#ifndef WS_WHEELFILE_RECORD_CHECK_H
#define WS_WHEELFILE_RECORD_CHECK_H

#include "archive/zip.h"
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

/** Compares the names of both. */
void ws_held_record_names(const struct ws_held_record *r, const struct ws_zip *zip);

/** Compares a file with its line: true where the line has a digest, and both match. */
bool ws_held_record_file(const struct ws_held_record *r, const char *name, uint64_t size_bytes,
	const struct ws_digest *digest);

/**
 * Compares all at once. @a wrong is the first difference, in @a a, or NULL. False when RECORD or a
 * member cannot be read.
 */
bool ws_record_held(struct ws_zip *zip, struct ws_str record, struct ws_arena *a,
	const char **wrong, struct ws_err *err);

#endif
