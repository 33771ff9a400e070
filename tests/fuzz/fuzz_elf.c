/* fuzz_elf.c - any bytes as a library: every text that is handed out must end, every byte of a
 * section must be there. */
#include "elf/fatbin.h"
#include "elf/torch_abi.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Reads all bytes, so that the sanitizer detects a range that is out of bounds. */
static size_t
touch(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t
touch_all(const struct ws_elf *elf)
{
	size_t sum = touch(elf->soname) + touch(elf->rpath) + touch(elf->runpath);
	for (size_t i = 0; i < elf->needed_count; i++) {
		sum += touch(elf->needed[i]);
	}
	for (size_t i = 0; i < elf->version_count; i++) {
		sum += touch(elf->versions[i].name) + touch(elf->versions[i].library);
	}
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		sum += touch(symbol.name) + (symbol.version ? touch(symbol.version->name) : 0);
	}
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("fuzz", bytes, len, a, &err);
	if (!elf) {
		if (err.kind != WS_ERR_FETCH) {
			abort();
		}
		return 0;
	}
	size_t sum = touch_all(elf);
	struct ws_str section = ws_elf_section(elf, WS_FATBIN_SECTION);
	for (size_t i = 0; i < section.n; i++) {
		sum += (unsigned char)section.s[i];
	}
	struct ws_fatbin fatbin;
	ws_fatbin_read(section.s, section.n, a, &fatbin, NULL);
	ws_pybind11_internals(elf, a);
	if (sum == SIZE_MAX) {
		abort(); /* so that the sum is wanted */
	}
	return 0;
}
