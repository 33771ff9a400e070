/* json_scan.c - a recursive descent over the text that notes places and blanks out what plain JSON
 * has not. Decoding strings is left to cJSON. */
#include "base/json_scan.h"

#include "base/text.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#define DEEPEST 100
#define MOST_VALUES 1000000 /* a hostile page costs at most some 200 MB */

struct scan {
	struct ws_json_doc *doc;
	size_t at; /* the next byte */
	bool relaxed;
	unsigned depth;
	size_t values;
	struct ws_arena *a;
	struct ws_buf *plain;
	struct ws_err *err;
};

/* The next byte; '\0' at the end only, since the text holds none. */
static char
peek(const struct scan *s)
{
	return s->doc->text[s->at];
}

WS_PRINTF(4, 5)
static bool
fail(const struct scan *s, size_t offset, size_t len, const char *format, ...)
{
	char text[300];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	ws_err_set(s->err, WS_ERR_CONFIG, "%s", text);
	return ws_err_at(s->err, s->doc->name, s->doc->text, offset, len);
}

/* "expected X, found Y" at the next byte; Y is a whole word where there is one. */
static bool
expected(const struct scan *s, const char *what)
{
	const char *next = s->doc->text + s->at;
	size_t len = ws_json_word_len(next);
	if (*next == '\0') {
		return fail(s, s->at, 1, "expected %s, found the end of the text", what);
	}
	if (*next == '"') {
		return fail(s, s->at, 1, "expected %s, found a string", what);
	}
	if ((unsigned char)*next < ' ') {
		return fail(s, s->at, 1, "expected %s, found byte 0x%02x", what, (unsigned)*next);
	}
	if (len == 0) {
		len = ws_utf8_len(next, s->doc->len - s->at);
	}
	return fail(s, s->at, len, "expected %s, found '%.*s'", what, len > 60 ? 60 : (int)len, next);
}

static void
blank(struct scan *s, size_t offset, size_t len)
{
	if (s->plain->len == 0) {
		ws_buf_add(s->plain, s->doc->text, s->doc->len);
	}
	memset(s->plain->data + offset, ' ', len);
}

/* Over the token that measure() finds at the next byte. */
static bool
skip_token(struct scan *s, size_t (*measure)(const char *text, struct ws_json_fault *fault))
{
	struct ws_json_fault fault;
	size_t len = measure(s->doc->text + s->at, &fault);
	if (len == 0) {
		fail(s, s->at + fault.offset, fault.len, "%s", fault.text);
		return fault.cure[0] ? ws_err_cure(s->err, "%s", fault.cure) : false;
	}
	s->at += len;
	return true;
}

/* At a '/': over one comment. */
static bool
skip_comment(struct scan *s)
{
	size_t start = s->at;
	if (!skip_token(s, ws_json_comment_len)) {
		return false;
	}
	if (!s->relaxed) {
		return fail(s, start, s->at - start, "comment where plain JSON is wanted");
	}
	blank(s, start, s->at - start);
	return true;
}

static bool
skip_space(struct scan *s)
{
	for (;;) {
		s->at += strspn(s->doc->text + s->at, " \t\r\n");
		if (peek(s) != '/') {
			return true;
		}
		if (!skip_comment(s)) {
			return false;
		}
	}
}

/* true, false, null; else a word that should have been one of them, or a string. */
static bool
scan_word(struct scan *s, struct ws_json *value)
{
	static const struct {
		const char *word;
		enum ws_json_kind kind;
		bool truth;
	} words[] = {
		{"null", WS_JSON_NULL, false},
		{"false", WS_JSON_BOOL, false},
		{"true", WS_JSON_BOOL, true},
	};
	const char *text = s->doc->text + s->at;
	size_t len = ws_json_word_len(text);
	for (size_t i = 0; i < WS_LEN(words); i++) {
		bool same_len = strlen(words[i].word) == len;
		if (same_len && strncmp(text, words[i].word, len) == 0) {
			value->kind = words[i].kind;
			value->truth = words[i].truth;
			s->at += len;
			return true;
		}
		if (same_len && strncasecmp(text, words[i].word, len) == 0) {
			expected(s, "a value");
			return ws_err_cure(s->err, "write %s in lower case", words[i].word);
		}
	}
	expected(s, "a value");
	if (len > 0 || *text == '\'') {
		ws_err_cure(s->err, "use double quotes for strings");
	}
	return false;
}

static bool scan_value(struct scan *s, struct ws_json *value);

static bool
scan_key(struct scan *s, struct ws_json *member, bool first)
{
	if (peek(s) != '"') {
		return expected(s, first ? "a key in double quotes or '}'" : "a key in double quotes");
	}
	member->key_offset = s->at;
	if (!skip_token(s, ws_json_string_len) || !skip_space(s)) {
		return false;
	}
	if (peek(s) != ':') {
		return expected(s, "':' after the key");
	}
	s->at++;
	return skip_space(s);
}

/* After a member: over a comma, or to the closing bracket. */
static bool
scan_separator(struct scan *s, char closer)
{
	if (!skip_space(s)) {
		return false;
	}
	size_t comma = s->at;
	if (peek(s) == closer) {
		return true;
	}
	if (peek(s) != ',') {
		return expected(s, closer == ']' ? "',' or ']'" : "',' or '}'");
	}
	s->at++;
	if (!skip_space(s)) {
		return false;
	}
	if (peek(s) == closer) {
		if (!s->relaxed) {
			return fail(s, comma, 1, "comma after the last value");
		}
		blank(s, comma, 1);
	}
	return true;
}

static bool
scan_members(struct scan *s, struct ws_json *value)
{
	bool object = value->kind == WS_JSON_OBJECT;
	char closer = object ? '}' : ']';
	struct ws_json **link = &value->first;
	s->at++;
	if (!skip_space(s)) {
		return false;
	}
	while (peek(s) != closer) {
		struct ws_json *member = WS_NEW(s->a, struct ws_json);
		if ((object && !scan_key(s, member, value->count == 0)) || !scan_value(s, member)
			|| !scan_separator(s, closer)) {
			return false;
		}
		*link = member;
		link = &member->next;
		value->count++;
	}
	s->at++;
	return true;
}

static bool
scan_nested(struct scan *s, struct ws_json *value)
{
	if (s->depth == DEEPEST) {
		return fail(s, s->at, 1, "nested more than %d deep", DEEPEST);
	}
	s->depth++;
	if (!scan_members(s, value)) {
		/* At the end, or at the ':' of a key that stands where the list should have ended. */
		bool open = peek(s) == '\0' || (peek(s) == ':' && value->kind == WS_JSON_ARRAY);
		if (open && s->err && s->err->cure[0] == '\0') {
			struct ws_err opened = {0};
			ws_err_at(&opened, s->doc->name, s->doc->text, value->offset, 1);
			ws_err_cure(
				s->err, "the '%c' at %s is not closed", s->doc->text[value->offset], opened.place);
		}
		return false;
	}
	s->depth--;
	return true;
}

static bool
scan_value(struct scan *s, struct ws_json *value)
{
	bool done;
	char c = peek(s);
	if (++s->values > MOST_VALUES) {
		return fail(s, s->at, 1, "more than %d values", MOST_VALUES);
	}
	value->offset = s->at;
	if (c == '{' || c == '[') {
		value->kind = c == '{' ? WS_JSON_OBJECT : WS_JSON_ARRAY;
		done = scan_nested(s, value);
	} else if (c == '"') {
		value->kind = WS_JSON_STRING;
		done = skip_token(s, ws_json_string_len);
	} else if (ws_is_digit(c) || c == '-' || c == '+' || c == '.') {
		value->kind = WS_JSON_NUMBER;
		done = skip_token(s, ws_json_number_len);
	} else {
		done = scan_word(s, value);
	}
	value->len = s->at - value->offset;
	return done;
}

/* No NUL, nothing but UTF-8: afterwards '\0' means the end, and messages may quote the text. */
static bool
check_bytes(const struct scan *s)
{
	const struct ws_json_doc *doc = s->doc;
	for (size_t at = 0; at < doc->len;) {
		size_t len = ws_utf8_len(doc->text + at, doc->len - at);
		unsigned char c = (unsigned char)doc->text[at];
		if (len == 0) {
			return fail(s, at, 1, "byte 0x%02x is not UTF-8", c);
		}
		if (c == '\0') {
			return fail(s, at, 1, "NUL byte");
		}
		at += len;
	}
	return true;
}

bool
ws_json_scan(struct ws_json_doc *doc, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_buf *plain, struct ws_err *err)
{
	struct scan s = {
		.doc = doc, .relaxed = flags & WS_JSON_RELAXED, .a = a, .plain = plain, .err = err};
	doc->root = WS_NEW(a, struct ws_json);
	if (!check_bytes(&s) || !skip_space(&s) || !scan_value(&s, doc->root) || !skip_space(&s)) {
		return false;
	}
	return peek(&s) == '\0' || expected(&s, "the end of the text");
}
