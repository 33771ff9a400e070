/**
 * rule_err.h - the error of an archive that breaks a rule
 *
 * One wording for every reader: archive, rule, member, detail. Names come from strangers, so
 * what a terminal would obey becomes '?'.
 */
#ifndef WS_ARCHIVE_RULE_ERR_H
#define WS_ARCHIVE_RULE_ERR_H

#include "base/err.h"

#include <stdarg.h>

/**
 * "'x.whl' breaks the zip rule 'overlap' at 'a/b.h': detail". @a what is "zip", "archive", ...;
 * @a member may be NULL. WS_ERR_FETCH. Returns false.
 */
bool ws_rule_err(struct ws_err *err, const char *archive, const char *what, const char *rule,
	const char *member, const char *format, va_list values) WS_PRINTF(6, 0);

#endif
