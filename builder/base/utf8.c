/* utf8.c - the table of well-formed sequences: RFC 3629 section 4, Unicode table 3-7. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static bool
within(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

size_t
ws_utf8_len(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	if (n == 0) {
		return 0;
	}
	unsigned char lead = u[0];
	if (lead < 0x80) {
		return 1;
	}
	size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (!within(lead, 0xc2, 0xf4) || n < len) {
		return 0;
	}
	/* The second byte's range rules out long forms, surrogates and what is above U+10FFFF. */
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	if (!within(u[1], low, high)) {
		return 0;
	}
	for (size_t i = 2; i < len; i++) {
		if (!within(u[i], 0x80, 0xbf)) {
			return 0;
		}
	}
	return len;
}

static uint32_t
decode(const char *s, size_t len)
{
	static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)s[0] & lead[len];
	for (size_t i = 1; i < len; i++) {
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	}
	return code;
}

static unsigned
columns_of(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		unsigned columns;
	} ranges[] = {{0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
		{0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
		{0xfe30, 0xfe6f, 2}, {0xff01, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
		{0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last) {
			return ranges[i].columns;
		}
	}
	return 1;
}

unsigned
ws_utf8_columns(const char *s, size_t n)
{
	unsigned columns = 0;
	while (n > 0) {
		size_t len = ws_utf8_len(s, n);
		columns += len ? columns_of(decode(s, len)) : 1;
		len = len ? len : 1;
		s += len;
		n -= len;
	}
	return columns;
}

static bool
is_control(const char *s)
{
	unsigned char c = (unsigned char)s[0];
	return c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

/* U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool
turns_text(const char *s, size_t len)
{
	const unsigned char *c = (const unsigned char *)s;
	if (len == 2) {
		return c[0] == 0xd8 && c[1] == 0x9c;
	}
	return len == 3 && c[0] == 0xe2
		&& ((c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)))
			|| (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

void
ws_utf8_make_plain(char *text, bool lines)
{
	char *end = text;
	for (size_t left = strlen(text); left > 0;) {
		size_t len = ws_utf8_len(text, left);
		if ((len == 0 || is_control(text) || turns_text(text, len))
			&& !(lines && (*text == '\n' || *text == '\t'))) {
			*end++ = '?';
		} else {
			memmove(end, text, len);
			end += len;
		}
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	*end = '\0';
}
