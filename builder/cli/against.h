/**
 * against.h - --against INDEX: what need not be made again, because it is published
 */
#ifndef WS_CLI_AGAINST_H
#define WS_CLI_AGAINST_H

#include "cli/session.h"
#include "plan/input.h"

/** An index that is on a server: asking it needs the network. */
bool ws_against_is_url(const char *index);

/**
 * The wheels that @a index has of the matrix's packages, but for yanked ones: a folder that `publish` made, or the
 * URL of a simple index, for which the network must be open.
 */
bool ws_against_read(struct ws_session *s, const char *index, const struct ws_matrix *matrix,
	struct ws_arena *a, struct ws_plan_against *against, struct ws_err *err);

#endif
