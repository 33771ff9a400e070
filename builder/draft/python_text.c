/* python_text.c - one pass over the bytes. Brackets hold a logical line open, a backslash at the end
 * of a line does too; comments are dropped. */
#include "draft/python_text.h"

#include "base/buf.h"
#include "base/vec.h"

#include <string.h>

struct reader {
	const char *s, *end;
	struct ws_arena *a;
	unsigned indent, depth;
	bool line_begins;
	WS_VEC(struct ws_python_word) words;
};

static char
peek(const struct reader *r, size_t ahead)
{
	return (size_t)(r->end - r->s) > ahead ? r->s[ahead] : '\0';
}

static void
push(struct reader *r, enum ws_python_word_kind kind, const char *text)
{
	*ws_vec_push(&r->words, r->a) =
		(struct ws_python_word){.kind = kind, .text = text, .indent = r->indent};
}

static bool
is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
		|| (unsigned char)c >= 0x80;
}

static void
end_line(struct reader *r)
{
	if (r->words.len > 0 && r->words.at[r->words.len - 1].kind != WS_PYTHON_END) {
		push(r, WS_PYTHON_END, "");
	}
	r->line_begins = true;
}

/* Blanks at the start of a line are its indentation. */
static void
read_indent(struct reader *r)
{
	unsigned columns = 0;
	for (; peek(r, 0) == ' ' || peek(r, 0) == '\t'; r->s++) {
		columns = *r->s == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
	}
	r->indent = columns;
	r->line_begins = false;
}

/* What stands behind a backslash in a string that is not raw. */
static void
add_escape(struct ws_buf *b, char c)
{
	switch (c) {
	case 'n':
		ws_buf_putc(b, '\n');
		break;
	case 't':
		ws_buf_putc(b, '\t');
		break;
	case '\\':
	case '\'':
	case '"':
		ws_buf_putc(b, c);
		break;
	case '\n':
		break;
	default:
		ws_buf_putc(b, '\\');
		ws_buf_putc(b, c);
	}
}

/* At a quote; @a prefix is what stood before it: "", "f", "rb". */
static void
read_string(struct reader *r, struct ws_str prefix)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	bool raw = prefix.n > 0 && (memchr(prefix.s, 'r', prefix.n) || memchr(prefix.s, 'R', prefix.n));
	bool formatted =
		prefix.n > 0 && (memchr(prefix.s, 'f', prefix.n) || memchr(prefix.s, 'F', prefix.n));
	char quote = *r->s;
	bool triple = peek(r, 1) == quote && peek(r, 2) == quote;
	for (r->s += triple ? 3 : 1; r->s < r->end; r->s++) {
		if (*r->s == quote && (!triple || (peek(r, 1) == quote && peek(r, 2) == quote))) {
			r->s += triple ? 3 : 1;
			break;
		}
		if (*r->s == '\n' && !triple) {
			break; /* no Python: the string was left open */
		}
		if (*r->s == '\\' && r->s + 1 < r->end) {
			r->s++;
			if (raw) {
				ws_buf_putc(&b, '\\');
				ws_buf_putc(&b, *r->s);
			} else {
				add_escape(&b, *r->s);
			}
		} else if (*r->s != '\0') {
			ws_buf_putc(&b, *r->s);
		}
	}
	push(r, WS_PYTHON_STRING, ws_buf_copy(&b, r->a));
	r->words.at[r->words.len - 1].formatted = formatted;
}

static bool
is_prefix(struct ws_str name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (!strchr("rRbBfFuU", name.s[i])) {
			return false;
		}
	}
	return name.n <= 2;
}

static void
read_name(struct reader *r)
{
	struct ws_str name = {r->s, 0};
	while (r->s < r->end && is_name(*r->s)) {
		r->s++;
		name.n++;
	}
	if ((peek(r, 0) == '"' || peek(r, 0) == '\'') && is_prefix(name)) {
		read_string(r, name);
	} else {
		push(r, WS_PYTHON_NAME, ws_str_copy(name, r->a));
	}
}

static void
read_op(struct reader *r)
{
	static const char *const pairs[] = {"+=", "-=", "==", "!=", "<=", ">=", ":=", "->", "**", "//"};
	size_t len = 1;
	for (size_t i = 0; i < WS_LEN(pairs); i++) {
		if (pairs[i][0] == peek(r, 0) && pairs[i][1] == peek(r, 1)) {
			len = 2;
		}
	}
	if (strchr("([{", *r->s)) {
		r->depth++;
	} else if (strchr(")]}", *r->s) && r->depth > 0) {
		r->depth--;
	}
	push(r, WS_PYTHON_OP, ws_arena_copy(r->a, r->s, len));
	r->s += len;
}

static void
read_next(struct reader *r)
{
	if (r->line_begins) {
		read_indent(r);
		return;
	}
	char c = *r->s;
	if (c == '\n') {
		if (r->depth == 0) {
			end_line(r);
		}
		r->s++;
	} else if (c == '#') {
		while (r->s < r->end && *r->s != '\n') {
			r->s++;
		}
	} else if (c == '\\' || (unsigned char)c <= ' ') {
		r->s += c == '\\' && peek(r, 1) == '\n' ? 2 : 1;
	} else if (c == '"' || c == '\'') {
		read_string(r, (struct ws_str){NULL, 0});
	} else if (is_name(c)) {
		read_name(r);
	} else {
		read_op(r);
	}
}

struct ws_python_text
ws_python_text_read(struct ws_str text, struct ws_arena *a)
{
	size_t len = text.n < WS_PYTHON_TEXT_MOST ? text.n : WS_PYTHON_TEXT_MOST;
	const char *s = text.s ? text.s : "";
	struct reader r = {.s = s, .end = s + len, .a = a, .line_begins = true};
	while (r.s < r.end) {
		read_next(&r);
	}
	end_line(&r);
	return (struct ws_python_text){r.words.at, r.words.len};
}

bool
ws_python_is(const struct ws_python_text *text, size_t i, const char *word)
{
	return i < text->count
		&& (text->words[i].kind == WS_PYTHON_NAME || text->words[i].kind == WS_PYTHON_OP)
		&& strcmp(text->words[i].text, word) == 0;
}

size_t
ws_python_skip(const struct ws_python_text *text, size_t i)
{
	size_t depth = 0;
	for (; i < text->count; i++) {
		const struct ws_python_word *word = &text->words[i];
		bool op = word->kind == WS_PYTHON_OP && word->text[1] == '\0';
		depth += op && strchr("([{", word->text[0]);
		depth -= op && depth > 0 && strchr(")]}", word->text[0]);
		if (depth == 0) {
			return i + 1;
		}
	}
	return text->count;
}
