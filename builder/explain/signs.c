/* signs.c - the table of one sign. */
#include "explain/signs.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/values.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Ends of words in messages. Names of symbols, paths and versions hold none of these. */
static bool
ends_word(char c)
{
	return is_blank(c) || strchr("'\"`,;)>]", c) != NULL; /* NUL too */
}

/* The length of the text up to the next capture, or to the end. */
static size_t
literal_len(const char *pattern)
{
	return strcspn(pattern, "{");
}

static size_t
anchor_len(const char *literal)
{
	return strcspn(literal, " {");
}

/* The text behind a capture that opens the pattern. */
static const char *
head_of(const char *pattern)
{
	const char *end = pattern[0] == '{' ? strchr(pattern, '}') : NULL;
	return end ? end + 1 : pattern;
}

const char *
ws_pattern_fault(const char *pattern)
{
	size_t captures = 0;
	for (const char *at = pattern; *at; at++) {
		if (*at == '}' || is_blank(*at) != (*at == ' ')) {
			return "'}' and line breaks cannot be matched";
		}
		if (*at != '{') {
			continue;
		}
		size_t len = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
		if (len == 0 || at[1 + len] != '}') {
			return "a capture is {name}, in lower case";
		}
		if (++captures > WS_CAPTURES) {
			return "there are more than 4 captures";
		}
		at += 1 + len;
		if (at[1] == '{') {
			return "text must stand between two captures";
		}
	}
	return anchor_len(head_of(pattern)) == 0 ? "its text must begin with a word" : NULL;
}

/* Compares @len bytes of @literal with the text at @at; false, or the end of what matched in
 * @end. */
static bool
matches(const char *literal, size_t len, struct ws_str text, size_t at, size_t *end)
{
	for (size_t i = 0; i < len; i++) {
		if (at >= text.n
			|| (literal[i] == ' ' ? !is_blank(text.s[at]) : literal[i] != text.s[at])) {
			return false;
		}
		at++;
		while (literal[i] == ' ' && at < text.n && is_blank(text.s[at])) {
			at++;
		}
	}
	*end = at;
	return true;
}

static void
add_capture(struct ws_match *match, const char *name, struct ws_str text, size_t from, size_t end)
{
	match->captures[match->count++] = (struct ws_captured){
		.name = {name, strcspn(name, "}")},
		.text = {text.s + from, end - from},
	};
}

/* Matches what follows a capture's opening brace. */
static bool
match_capture(const char **pattern, struct ws_str text, size_t *at, struct ws_match *match)
{
	const char *name = *pattern + 1;
	const char *literal = strchr(name, '}') + 1;
	size_t len = literal_len(literal);
	size_t end = *at, after = *at;
	if (len == 0) { /* the last capture: a word, without the full stop behind it */
		while (end < text.n && !ends_word(text.s[end])) {
			end++;
		}
		while (end > *at && strchr(".:", text.s[end - 1])) {
			end--;
		}
		after = end;
	} else {
		while (!matches(literal, len, text, end, &after)) {
			if (end == text.n || is_blank(text.s[end]) || end - *at > WS_CAPTURE_MOST) {
				return false;
			}
			end++;
		}
	}
	if (end == *at || end - *at > WS_CAPTURE_MOST) {
		return false;
	}
	add_capture(match, name, text, *at, end);
	*pattern = literal + len;
	*at = after;
	return true;
}

static bool
match_at(const char *pattern, struct ws_str text, size_t at, struct ws_match *match)
{
	const char *rest = head_of(pattern);
	size_t len = literal_len(rest);
	*match = (struct ws_match){.at = at};
	if (!matches(rest, len, text, at, &at)) {
		return false;
	}
	if (rest != pattern) { /* a capture opens the pattern: the last word before the text */
		size_t start = match->at;
		while (start > 0 && match->at - start <= WS_CAPTURE_MOST && !ends_word(text.s[start - 1])
			&& text.s[start - 1] != '(') {
			start--;
		}
		if (start == match->at || match->at - start > WS_CAPTURE_MOST) {
			return false;
		}
		add_capture(match, pattern + 1, text, start, match->at);
		match->at = start;
	}
	rest += len;
	while (*rest == '{') {
		if (!match_capture(&rest, text, &at, match)) {
			return false;
		}
	}
	match->len = at - match->at;
	return true;
}

bool
ws_pattern_find(const char *pattern, struct ws_str text, size_t from, struct ws_match *match)
{
	const char *head = head_of(pattern);
	size_t len = anchor_len(head);
	while (from < text.n) {
		const char *found = memmem(text.s + from, text.n - from, head, len);
		if (!found) {
			return false;
		}
		size_t at = (size_t)(found - text.s);
		if (match_at(pattern, text, at, match)) {
			return true;
		}
		from = at + 1;
	}
	return false;
}

/* ---- signs.json ---- */

static bool
read_pattern(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a text");
	const char *fault = text ? ws_pattern_fault(text) : NULL;
	*(const char **)into = text;
	return text
		&& (!fault || ws_json_err(r->doc, value, r->err, "this is not a pattern: %s", fault));
}

static const struct ws_type type_pattern =
	WS_VALUES(const char *, "a pattern", "patterns", read_pattern);

static const struct ws_field sign_fields[] = {
	{WS_ONE(struct ws_sign, name, "sign", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_sign, texts, text_count, "text", type_pattern),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_sign, cause, "cause", ws_type_line), .flags = WS_FIELD_REQUIRED},
	{WS_MANY(struct ws_sign, cures, cure_count, "cure", ws_type_line), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_sign, build_cures, build_cure_count, "build", ws_type_line),
		.flags = WS_FIELD_LIST},
	{WS_ONE(struct ws_sign, package, "package", ws_type_package)},
	{WS_ONE(struct ws_sign, symbol, "symbol", ws_value_bool)},
	{WS_ONE(struct ws_sign, from, "from", ws_type_line)},
};
static const struct ws_table sign_table = {"a sign", sign_fields, WS_LEN(sign_fields)};
static const struct ws_type type_sign = WS_BY_TABLE(struct ws_sign, sign_table);

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_MANY(struct ws_signs, at, count, "signs", type_sign),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table table = {"the signs of errors", fields, WS_LEN(fields)};

bool
ws_signs_read(const char *facts, struct ws_arena *a, struct ws_signs *signs, struct ws_err *err)
{
	struct ws_document document;
	const char *path = ws_path_join(a, facts, "signs.json", NULL);
	*signs = (struct ws_signs){0};
	if (!ws_document_read(path, "facts file", a, &document, err)) {
		return false;
	}
	struct ws_reader r = {.doc = document.doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, document.doc->root, &table, signs);
}

/* ---- a text of any length ---- */

#define WINDOW 131072
#define BEFORE 16384 /* kept for a capture at the start of a pattern, and for its line */
#define AFTER 32768  /* the longest match: three captures and the text between them */
#define LINE_MOST 300

enum escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,   /* ESC */
	ESCAPE_CONTROL, /* ESC [, up to a letter */
	ESCAPE_STRING,  /* ESC ], up to BEL or ESC \ */
};

struct ws_finder {
	struct ws_arena *a;
	const struct ws_signs *signs;
	struct ws_found_sign *found; /* one for each sign; line 0: not yet */
	size_t len, from;            /* bytes in the window; offset where the search continues */
	size_t lines, gone;          /* before the window: line breaks, bytes */
	enum escape escape;
	char window[WINDOW];
};

struct ws_finder *
ws_finder_open(const struct ws_signs *signs, struct ws_arena *a)
{
	struct ws_finder *f = WS_NEW(a, struct ws_finder);
	f->a = a;
	f->signs = signs;
	f->found = WS_NEW_N(a, struct ws_found_sign, signs->count);
	return f;
}

static size_t
count_lines(const char *text, size_t len)
{
	size_t count = 0;
	for (const char *end = text + len; (text = memchr(text, '\n', (size_t)(end - text))); text++) {
		count++;
	}
	return count;
}

static void
add_found(struct ws_finder *f, size_t sign, const struct ws_match *match)
{
	struct ws_found_sign *found = &f->found[sign];
	found->sign = &f->signs->at[sign];
	found->line = f->lines + count_lines(f->window, match->at) + 1;
	found->at = f->gone + match->at;
	found->end = found->at + match->len;
	/* The line in which the match stands: of a long one the part around it. */
	size_t start = match->at, end = match->at;
	while (start > 0 && f->window[start - 1] != '\n' && match->at - start < LINE_MOST / 2) {
		start--;
	}
	while (end < f->len && f->window[end] != '\n' && end - start < LINE_MOST) {
		end++;
	}
	found->text = ws_str_copy(ws_str_trim((struct ws_str){f->window + start, end - start}), f->a);
	found->count = match->count;
	found->captures = WS_NEW_N(f->a, struct ws_capture, match->count);
	for (size_t k = 0; k < match->count; k++) {
		found->captures[k].name = ws_str_copy(match->captures[k].name, f->a);
		found->captures[k].value = ws_str_copy(match->captures[k].text, f->a);
	}
}

/* Looks in the window for what begins before @until. */
static void
search(struct ws_finder *f, size_t until)
{
	const struct ws_str text = {f->window, f->len};
	for (size_t i = 0; i < f->signs->count; i++) {
		const struct ws_sign *sign = &f->signs->at[i];
		struct ws_match match;
		for (size_t t = 0; t < sign->text_count && f->found[i].line == 0; t++) {
			if (ws_pattern_find(sign->texts[t], text, f->from, &match) && match.at < until) {
				add_found(f, i, &match);
			}
		}
	}
}

/* Passes over control sequences (ECMA-48); a text that is cut inside one loses its rest of the
 * line. */
static bool
is_escaped(struct ws_finder *f, char c)
{
	switch (f->escape) {
	case ESCAPE_NONE:
		f->escape = c == '\033' ? ESCAPE_BEGUN : ESCAPE_NONE;
		return c == '\033';
	case ESCAPE_BEGUN:
		f->escape = c == '[' ? ESCAPE_CONTROL : c == ']' ? ESCAPE_STRING : ESCAPE_NONE;
		return c != '\n';
	case ESCAPE_CONTROL:
		f->escape = (c >= '@' && c <= '~') || c == '\n' ? ESCAPE_NONE : ESCAPE_CONTROL;
		return c != '\n';
	case ESCAPE_STRING:
		f->escape = c == '\a' || c == '\n' ? ESCAPE_NONE
			: c == '\033'                  ? ESCAPE_BEGUN
										   : ESCAPE_STRING;
		return c != '\n';
	}
	return false;
}

void
ws_finder_add(struct ws_finder *f, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];
		if (is_escaped(f, c)) {
			continue;
		}
		bool is_control = (unsigned char)c < ' ' && c != '\n';
		f->window[f->len++] = is_control || c == 0x7f ? ' ' : c;
		if (f->len == WINDOW) {
			size_t until = f->len - AFTER;
			search(f, until);
			size_t gone = until - BEFORE;
			f->lines += count_lines(f->window, gone);
			f->gone += gone;
			f->len -= gone;
			f->from = BEFORE;
			memmove(f->window, f->window + gone, f->len);
		}
	}
}

size_t
ws_finder_end(struct ws_finder *f, const struct ws_found_sign **found)
{
	size_t count = 0;
	search(f, f->len);
	for (size_t i = 0; i < f->signs->count; i++) {
		/* A sign within an earlier match is less precise: "Python.h" before any header. */
		bool counts = f->found[i].line > 0;
		for (size_t k = 0; k < count; k++) {
			counts =
				counts && (f->found[i].at >= f->found[k].end || f->found[k].at >= f->found[i].end);
		}
		if (counts) {
			f->found[count++] = f->found[i];
		}
	}
	*found = f->found;
	return count;
}
