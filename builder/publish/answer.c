/* answer.c - markup is left out by hand: what an answer says is quoted, not interpreted. */
#include "publish/answer.h"

#include <string.h>
#include <strings.h>

/* The end of the element at @a at, where a browser does not show its text: <head>, <style>,
 * <script>; else NULL. */
static const char *
skip_element(const char *at)
{
	static const char *const names[][2] = {
		{"<head", "</head"}, {"<style", "</style"}, {"<script", "</script"}};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (strncasecmp(at, names[i][0], strlen(names[i][0])) == 0) {
			const char *end = strcasestr(at, names[i][1]);
			return end ? end : at + strlen(at);
		}
	}
	return NULL;
}

/* The first words of a page, without markup. */
static const char *
first_words(const struct ws_buf *page, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	bool markup = false, space = false;
	for (const char *c = ws_buf_text(page); *c && text.len < 200; c++) {
		const char *behind = *c == '<' ? skip_element(c) : NULL;
		c = behind ? behind : c;
		if (*c == '<' || *c == '>') {
			markup = *c == '<';
			space = true;
		} else if ((unsigned char)*c <= ' ' || *c == 0x7f) {
			space = true;
		} else if (!markup && *c) {
			ws_buf_puts(&text, space && text.len > 0 ? " " : "");
			ws_buf_putc(&text, (unsigned char)*c < 0x80 ? *c : '?');
			space = false;
		}
		if (!*c) {
			break;
		}
	}
	return ws_buf_copy(&text, a);
}

void
ws_answer_quote(const struct ws_buf *answer, const struct ws_login *login, struct ws_arena *a,
	struct ws_err *err)
{
	const char *words = first_words(answer, a);
	if (ws_login_is_in(login, ws_buf_text(answer), a)) {
		ws_err_cure(err, "the server says something with the login in it, which is not shown");
	} else if (words[0]) {
		ws_err_cure(err, "the server says: %s", words);
	}
}

bool
ws_answer_is_page(const struct ws_buf *answer, const char *type)
{
	const char *text = ws_buf_text(answer);
	text += strspn(text, " \t\r\n");
	return text[0]
		&& (strcmp(type, "text/html") == 0 || strncasecmp(text, "<!doctype html", 14) == 0
			|| strncasecmp(text, "<html", 5) == 0);
}
