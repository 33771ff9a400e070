/* module_cpu.c - for which CPU a module's code is, by instructions that compilers write into every
 * function that needs a newer one. Nothing is disassembled: a rare instruction of three bytes
 * counts only where there are many more of it than chance writes into other bytes. */
#include "inspect/facts.h"

#include <elf.h>

#include <string.h>

static size_t
count_in(struct ws_str code, const char *bytes, size_t len)
{
	size_t count = 0;
	const char *end = code.s + code.n;
	for (const char *at = code.s; (at = memmem(at, (size_t)(end - at), bytes, len)); at += len) {
		count++;
	}
	return count;
}

/* vzeroupper, and moves and sums of one number that is VEX coded: all of -mavx, or of
 * -march=native. */
static bool
is_avx(struct ws_str code)
{
	static const char words[][4] = {
		"\xc5\xf8\x77", "\xc5\xfa\x10", "\xc5\xfa\x58", "\xc5\xfb\x10", "\xc5\xfb\x58"};
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(words); i++) {
		count += count_in(code, words[i], 3);
	}
	return count >= 2 + (code.n >> 18); /* chance: 5 in 2^24 bytes */
}

/* Moves of 32 and 64 bytes that are EVEX coded, aligned or not. */
static bool
is_avx512(struct ws_str code)
{
	static const char kinds[] = "\x7c\x7d\x7e\x7f\xfc\xfd\xfe\xff",
					  opcodes[] = "\x10\x11\x28\x29\x6f\x7f";
	size_t count = 0;
	for (size_t i = 0; i + 5 <= code.n;) {
		const char *at = memmem(code.s + i, code.n - i - 3, "\x62\xf1", 2);
		if (!at) {
			break;
		}
		bool wide = at[3] == '\x28' || at[3] == '\x48';
		count += wide && memchr(kinds, at[2], 8) && memchr(opcodes, at[4], 6);
		i = (size_t)(at - code.s) + 1;
	}
	return count > code.n >> 26; /* chance: 96 in 2^40 bytes */
}

const char *
ws_module_cpu(const struct ws_elf *elf)
{
	struct ws_str code = ws_elf_section(elf, ".text");
	if (elf->machine != EM_X86_64 || code.n < 8) {
		return NULL;
	}
	/* xgetbv: it asks whether the system keeps these registers, and has other code where not. */
	if (count_in(code, "\x0f\x01\xd0", 3) > 0) {
		return NULL;
	}
	return is_avx512(code) ? "AVX-512" : is_avx(code) ? "AVX" : NULL;
}
