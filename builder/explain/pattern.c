/* pattern.c - the first word of the pattern's text is looked for as it stands; around each place
 * where it is found the rest is compared, from left to right, without going back. */
#include "explain/signs.h"

#include <string.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* What a word in a message ends with. Names of symbols, paths and versions hold none of these. */
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

/* The last capture: a word, without the full stop behind it. */
static size_t
word_end(struct ws_str text, size_t at)
{
	size_t end = at;
	while (end < text.n && !ends_word(text.s[end])) {
		end++;
	}
	while (end > at && strchr(".:", text.s[end - 1])) {
		end--;
	}
	return end;
}

/* Matches what follows a capture's opening brace. */
static bool
match_capture(const char **pattern, struct ws_str text, size_t *at, struct ws_match *match)
{
	const char *name = *pattern + 1;
	const char *literal = strchr(name, '}') + 1;
	size_t len = literal_len(literal);
	size_t end = *at, after = *at;
	if (len == 0) {
		after = end = word_end(text, *at);
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

/* The word that ends before @at. */
static bool
match_before(const char *pattern, struct ws_str text, size_t at, struct ws_match *match)
{
	size_t start = at;
	while (start > 0 && at - start <= WS_CAPTURE_MOST && !ends_word(text.s[start - 1])
		&& text.s[start - 1] != '(') {
		start--;
	}
	if (start == at || at - start > WS_CAPTURE_MOST) {
		return false;
	}
	add_capture(match, pattern + 1, text, start, at);
	match->at = start;
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
	if (rest != pattern && !match_before(pattern, text, match->at, match)) {
		return false;
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
