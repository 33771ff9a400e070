/**
 * answer.h - what a server answers, as far as people read it
 */
#ifndef WS_PUBLISH_ANSWER_H
#define WS_PUBLISH_ANSWER_H

#include "base/text.h"
#include "publish/login.h"

/**
 * Adds the first words of an answer to @a err, without markup, where it has any. The words are left
 * out where the login is among them.
 */
void ws_answer_quote(const struct ws_buf *answer, const struct ws_login *login, struct ws_arena *a,
	struct ws_err *err);

/** A page of HTML with something on it. @a type is its Content-Type. */
bool ws_answer_is_page(const struct ws_buf *answer, const char *type);

#endif
