/**
 * case.h - test cases that are data: a file of sections, the last of which is what to expect
 *
 *   # comment
 *   @case a title                (may be left out when the file holds one case)
 *   @matrix {"packages": ["demo==1.0"]}
 *   @expect
 *   what the test program prints for it
 *
 * A section goes on until the next line that starts with '@'. With WS_UPDATE_GOLDEN=1 in the
 * environment the actual text replaces the expected one: read the difference before you keep it.
 */
#ifndef WS_TESTS_SUPPORT_CASE_H
#define WS_TESTS_SUPPORT_CASE_H

#include "base/text.h"

struct ws_case {
	const char *file;
	const char *title;
	const char *names[12]; /**< of the sections, without '@' */
	const char *texts[12];
	size_t count;
};

/** The text of a section; NULL when the case has none of that name. */
const char *ws_case_text(const struct ws_case *c, const char *name);

/** Runs one case: appends to @a got what is compared with @expect. */
typedef void (*ws_case_run)(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got);

/** Runs every case of every *.case below @a folder, fails the test for those that differ. */
void ws_cases_check(const char *folder, ws_case_run run);

#endif
