/* json_token.c - escapes are checked here and decoded by cJSON. */
#include "base/attr.h"
#include "base/json_scan.h"

#include <stdarg.h>
#include <string.h>

#define LONGEST_NUMBER 60 /* cJSON copies a number into 64 bytes */

/* A text that is shown in a message is cut there. */
#define SHOWN(len) ((len) > 60 ? 60 : (int)(len))

WS_PRINTF(4, 5)
static size_t
fail(struct ws_json_fault *fault, size_t offset, size_t len, const char *format, ...)
{
	*fault = (struct ws_json_fault){.offset = offset, .len = len};
	va_list values;
	va_start(values, format);
	vsnprintf(fault->text, sizeof(fault->text), format, values);
	va_end(values);
	return 0;
}

WS_PRINTF(2, 3)
static size_t
cure(struct ws_json_fault *fault, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(fault->cure, sizeof(fault->cure), format, values);
	va_end(values);
	return 0;
}

static bool
is_word(char c)
{
	return ws_is_letter(c) || ws_is_digit(c) || c == '_' || c == '+' || c == '-' || c == '.';
}

size_t
ws_json_word_len(const char *text)
{
	size_t len = 0;
	while (is_word(text[len])) {
		len++;
	}
	return len;
}

size_t
ws_json_comment_len(const char *text, struct ws_json_fault *fault)
{
	if (text[1] == '/') {
		return strcspn(text, "\n");
	}
	if (text[1] != '*') {
		return fail(fault, 0, 1, "expected '//' or '/*', found a single '/'");
	}
	const char *end = strstr(text + 2, "*/");
	return end ? (size_t)(end + 2 - text) : fail(fault, 0, 2, "comment is not closed");
}

/* The value of four hexadecimal digits, or -1. */
static int
hex4(const char *text)
{
	int value = 0;
	for (size_t i = 0; i < 4; i++) {
		int digit = ws_hex_digit(text[i]);
		if (digit < 0) {
			return -1;
		}
		value = value * 16 + digit;
	}
	return value;
}

/* Length of "\uXXXX", of two of them for a character beyond U+FFFF. */
static size_t
unicode_len(const char *text, size_t at, struct ws_json_fault *fault)
{
	const char *here = text + at;
	int unit = hex4(here + 2);
	if (unit < 0) {
		return fail(fault, at, 2, "expected four hexadecimal digits after '\\u'");
	}
	if (unit == 0) {
		return fail(fault, at, 6, "'\\u0000' cannot stand in a text");
	}
	if (unit >= 0xdc00 && unit <= 0xdfff) {
		return fail(
			fault, at, 6, "'%.6s' is the second half of a character without its first", here);
	}
	if (unit < 0xd800 || unit > 0xdbff) {
		return 6;
	}
	int second = here[6] == '\\' && here[7] == 'u' ? hex4(here + 8) : -1;
	if (second < 0xdc00 || second > 0xdfff) {
		return fail(
			fault, at, 6, "'%.6s' is the first half of a character without its second", here);
	}
	return 12;
}

static size_t
escape_len(const char *text, size_t at, struct ws_json_fault *fault)
{
	char c = text[at + 1];
	if (c == 'u') {
		return unicode_len(text, at, fault);
	}
	if (c != '\0' && strchr("\"\\/bfnrt", c)) {
		return 2;
	}
	fail(fault, at, c == '\0' ? 1 : 2, "unknown escape in a string");
	return cure(fault, "a backslash itself is written \\\\");
}

size_t
ws_json_string_len(const char *text, struct ws_json_fault *fault)
{
	for (size_t at = 1;;) {
		unsigned char c = (unsigned char)text[at];
		if (c == '"') {
			return at + 1;
		}
		if (c == '\n' || c == '\r' || c == '\0') {
			return fail(fault, 0, at, "string is not closed on its line");
		}
		if (c < ' ') {
			fail(fault, at, 1, "control character 0x%02x in a string", c);
			return cure(fault, "write \\u%04x", c);
		}
		size_t len = c == '\\' ? escape_len(text, at, fault) : 1;
		if (len == 0) {
			return 0;
		}
		at += len;
	}
}

static size_t
digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* By the grammar alone; 0 when it is none. */
static size_t
match_number(const char *text)
{
	const char *p = text + (*text == '-');
	size_t whole = digits_at(p);
	if (whole == 0 || (whole > 1 && *p == '0')) {
		return 0;
	}
	p += whole;
	if (*p == '.') {
		size_t fraction = digits_at(p + 1);
		p += fraction + 1;
		if (fraction == 0) {
			return 0;
		}
	}
	if (*p == 'e' || *p == 'E') {
		p += 1 + (p[1] == '+' || p[1] == '-');
		size_t exponent = digits_at(p);
		p += exponent;
		if (exponent == 0) {
			return 0;
		}
	}
	return (size_t)(p - text);
}

size_t
ws_json_number_len(const char *text, struct ws_json_fault *fault)
{
	size_t len = match_number(text), word = ws_json_word_len(text);
	if (len != word) {
		fail(fault, 0, word, "'%.*s' is not a number", SHOWN(word), text);
		return cure(fault, "write \"%.*s\" in quotes if it is a text", SHOWN(word), text);
	}
	if (len > LONGEST_NUMBER) {
		return fail(fault, 0, len, "number of more than %d digits", LONGEST_NUMBER);
	}
	return len;
}
