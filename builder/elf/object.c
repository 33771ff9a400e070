/* object.c - section headers, the symbol table and its names; gABI chapter 4. */
#include "elf/object.h"

#include "base/vec.h"

#include <elf.h>

#include <string.h>

/* Bytes of the file; empty: outside. */
static struct ws_str
bytes_at(struct ws_str file, uint64_t offset, uint64_t size)
{
	return offset <= file.n && size <= file.n - offset ? (struct ws_str){file.s + offset, size}
													   : (struct ws_str){0};
}

static bool
read_header(struct ws_str file, Elf64_Ehdr *header)
{
	if (file.n < sizeof(*header)) {
		return false;
	}
	memcpy(header, file.s, sizeof(*header));
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64
		&& header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_REL
		&& header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff <= file.n;
}

/* False: there is none of that number. */
static bool
read_section(struct ws_str file, const Elf64_Ehdr *header, uint64_t number, Elf64_Shdr *section)
{
	struct ws_str rest = {file.s + header->e_shoff, file.n - header->e_shoff};
	if (number >= rest.n / sizeof(*section)) {
		return false;
	}
	memcpy(section, rest.s + number * sizeof(*section), sizeof(*section));
	return true;
}

/* NULL: it does not end in @texts. */
static const char *
text_at(struct ws_str texts, uint64_t at)
{
	return at < texts.n && memchr(texts.s + at, '\0', texts.n - at) ? texts.s + at : NULL;
}

size_t
ws_elf_object_wants(struct ws_str file, struct ws_arena *a, const char *const **names)
{
	WS_VEC(const char *) wants = {0};
	Elf64_Ehdr header;
	Elf64_Shdr table = {0}, first, section;
	if (!read_header(file, &header) || !read_section(file, &header, 0, &first)) {
		return 0;
	}
	uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
	for (uint64_t i = 0; i < count && read_section(file, &header, i, &section); i++) {
		table = section.sh_type == SHT_SYMTAB ? section : table;
	}
	struct ws_str symbols = bytes_at(file, table.sh_offset, table.sh_size), texts = {0};
	if (symbols.n > 0 && read_section(file, &header, table.sh_link, &section)) {
		texts = bytes_at(file, section.sh_offset, section.sh_size);
	}
	for (uint64_t i = 0; i < symbols.n / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.s + i * sizeof(symbol), sizeof(symbol));
		const char *name = text_at(texts, symbol.st_name);
		if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && name
			&& *name) {
			*ws_vec_push(&wants, a) = name;
		}
	}
	*names = wants.at;
	return wants.len;
}
