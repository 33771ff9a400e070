/* scan.c - looks at lines whose first character is '#'. Comments are not skipped: a directive in
 * one is a directive more, never one less. */
#include "compile/scan.h"

#include <string.h>

struct scan {
	void (*take)(void *self, struct ws_ask ask);
	void *self;
	bool complete;
};

/* Cuts one logical line: backslash newline continues it. */
static struct ws_str
cut_line(struct ws_str *rest)
{
	struct ws_str line = {rest->s, 0};
	for (;;) {
		const char *end = memchr(rest->s + line.n, '\n', rest->n - line.n);
		if (!end) {
			line.n = rest->n;
			*rest = (struct ws_str){NULL, 0};
			return line;
		}
		line.n = (size_t)(end - rest->s);
		size_t last = line.n > 0 && end[-1] == '\r' ? line.n - 1 : line.n;
		if (last == 0 || rest->s[last - 1] != '\\') {
			rest->s = end + 1;
			rest->n -= line.n + 1;
			return line;
		}
		line.n++;
	}
}

static void
skip_blanks(struct ws_str *text)
{
	while (text->n > 0 && (text->s[0] == ' ' || text->s[0] == '\t')) {
		text->s++;
		text->n--;
	}
}

static bool
skip_word(struct ws_str *text, const char *word)
{
	size_t len = strlen(word);
	if (text->n < len || memcmp(text->s, word, len) != 0) {
		return false;
	}
	text->s += len;
	text->n -= len;
	return true;
}

/* A header name at the start of @a text: <...> or "...". */
static bool
read_name(struct ws_str text, struct ws_str *name, bool *angle)
{
	if (text.n < 3 || (text.s[0] != '<' && text.s[0] != '"')) {
		return false;
	}
	*angle = text.s[0] == '<';
	const char *end = memchr(text.s + 1, *angle ? '>' : '"', text.n - 1);
	*name = (struct ws_str){text.s + 1, end ? (size_t)(end - text.s - 1) : 0};
	return name->n > 0;
}

static void
take_include(const struct scan *s, struct ws_str line)
{
	struct ws_str name;
	bool angle;
	skip_blanks(&line);
	if (read_name(line, &name, &angle)) {
		s->take(s->self, (struct ws_ask){angle ? WS_ASK_ANGLE : WS_ASK_QUOTE, name});
	}
}

/* True when the argument of the `__has_include` at the start of @a text is a header name, or there
 * is none (`defined(__has_include)`, `#ifdef`). */
static bool
argument_is_literal(struct ws_str text)
{
	skip_word(&text, "__has_include");
	skip_word(&text, "_next");
	skip_word(&text, "__");
	skip_blanks(&text);
	if (!skip_word(&text, "(")) {
		return true;
	}
	skip_blanks(&text);
	return text.n > 0 && (text.s[0] == '<' || text.s[0] == '"');
}

/* In a condition every header name in parentheses is a question: macros around __has_include are
 * spelled in many ways. */
static void
take_questions(struct scan *s, struct ws_str line)
{
	for (size_t i = 0; i < line.n; i++) {
		struct ws_str rest = {line.s + i, line.n - i};
		if (line.s[i] == '_'
			&& ws_str_cmp(
				   (struct ws_str){rest.s, rest.n < 13 ? rest.n : 13}, ws_str_of("__has_include"))
				== 0) {
			s->complete = s->complete && argument_is_literal(rest);
		}
		if (line.s[i] != '(') {
			continue;
		}
		struct ws_str name;
		bool angle;
		rest.s++;
		rest.n--;
		skip_blanks(&rest);
		if (read_name(rest, &name, &angle)) {
			s->take(
				s->self, (struct ws_ask){angle ? WS_ASK_ANGLE_EXISTS : WS_ASK_QUOTE_EXISTS, name});
		}
	}
}

bool
ws_scan(struct ws_str text, void (*take)(void *self, struct ws_ask ask), void *self)
{
	struct scan s = {take, self, true};
	while (text.s) {
		struct ws_str line = cut_line(&text);
		skip_blanks(&line);
		if (!skip_word(&line, "#")) {
			continue;
		}
		skip_blanks(&line);
		if (skip_word(&line, "include_next") || skip_word(&line, "include")
			|| skip_word(&line, "import")) {
			take_include(&s, line);
		} else if (skip_word(&line, "if") || skip_word(&line, "elif")) {
			take_questions(&s, line); /* "ifdef" and "ifndef" ask nothing about headers */
		}
	}
	return s.complete;
}
