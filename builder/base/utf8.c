/* utf8.c - the table of well-formed sequences: RFC 3629 section 4, Unicode table 3-7. */
#include "base/utf8.h"

#include <stdbool.h>

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
