/* sections.c - data that only section headers and first bytes give. Loaders read neither; a
 * section that claims to be loaded must be in a segment at that place, so that it cannot be a
 * decoy. */
#include "elf/elf_file.h"

#include <elf.h>

/* Bytes of the file; empty: outside. */
static struct ws_str
bytes_at(struct ws_str file, uint64_t offset, uint64_t size)
{
	return offset <= file.n && size <= file.n - offset ? (struct ws_str){file.s + offset, size}
													   : (struct ws_str){0};
}

/* False: the file has no section of that number. */
static bool
read_section(struct ws_str file, uint64_t number, Elf64_Shdr *section)
{
	Elf64_Ehdr header;
	memcpy(&header, file.s, sizeof(header));
	if (header.e_shoff == 0 || header.e_shentsize != sizeof(*section)
		|| number >= file.n / sizeof(*section)) {
		return false;
	}
	struct ws_str bytes = bytes_at(file, header.e_shoff, (number + 1) * sizeof(*section));
	if (bytes.n == 0) {
		return false;
	}
	memcpy(section, bytes.s + number * sizeof(*section), sizeof(*section));
	return true;
}

/* The number of sections, and which section holds their names. Large numbers are in the first
 * section. */
static bool
read_numbers(struct ws_str file, uint64_t *count, uint64_t *names)
{
	Elf64_Ehdr header;
	Elf64_Shdr first;
	memcpy(&header, file.s, sizeof(header));
	if (!read_section(file, 0, &first)) {
		return false;
	}
	*count = header.e_shnum ? header.e_shnum : first.sh_size;
	*names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
	return true;
}

struct ws_str
ws_elf_section(const struct ws_elf *elf, const char *name)
{
	const struct ws_elf_file *f = (const struct ws_elf_file *)elf;
	uint64_t count, names_at;
	Elf64_Shdr section;
	if (!read_numbers(f->bytes, &count, &names_at) || !read_section(f->bytes, names_at, &section)) {
		return (struct ws_str){0};
	}
	struct ws_str names = bytes_at(f->bytes, section.sh_offset, section.sh_size);
	size_t len = strlen(name) + 1;
	for (uint64_t i = 0; i < count && read_section(f->bytes, i, &section); i++) {
		struct ws_str called = bytes_at(names, section.sh_name, len);
		if (section.sh_type == SHT_NOBITS || called.n == 0 || memcmp(called.s, name, len) != 0) {
			continue;
		}
		struct ws_str bytes = bytes_at(f->bytes, section.sh_offset, section.sh_size);
		struct ws_str loaded =
			section.sh_flags & SHF_ALLOC ? ws_elf_rest(f, section.sh_addr) : bytes;
		return bytes.s == loaded.s && bytes.n <= loaded.n ? bytes : (struct ws_str){0};
	}
	return (struct ws_str){0};
}

const char *
ws_machine_of(const void *head, size_t len, struct ws_arena *a)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *text;
	} others[] = {
		{"\xcf\xfa\xed\xfe", 4, "Mach-O"}, /* 64 bits, of little endian */
		{"\xce\xfa\xed\xfe", 4, "Mach-O"},
		{"\xca\xfe\xba\xbe", 4, "Mach-O"}, /* several machines in one */
		{"MZ", 2, "Windows"},
	};
	const unsigned char *bytes = head;
	for (size_t i = 0; i < WS_LEN(others); i++) {
		if (len >= WS_MACHINE_BYTES && memcmp(bytes, others[i].magic, others[i].len) == 0) {
			return others[i].text;
		}
	}
	if (len < WS_MACHINE_BYTES || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
		return NULL;
	}
	bool big = bytes[EI_DATA] == ELFDATA2MSB;
	unsigned machine = (unsigned)(big ? bytes[18] << 8 | bytes[19] : bytes[19] << 8 | bytes[18]);
	return machine == EM_X86_64 ? "x86-64"
		: machine == EM_AARCH64 ? "aarch64"
		: machine == EM_386     ? "x86"
		: machine == EM_PPC64   ? (big ? "ppc64" : "ppc64le")
								: ws_arena_printf(a, "ELF machine %u", machine);
}

/* ---- object files ---- */

size_t
ws_elf_object_wants(struct ws_str file, struct ws_arena *a, const char *const **names)
{
	WS_VEC(const char *) wants = {0};
	Elf64_Ehdr header = {0};
	Elf64_Shdr table = {0}, section;
	uint64_t count, unused;
	if (file.n < sizeof(header)) {
		return 0;
	}
	memcpy(&header, file.s, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64
		|| header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL
		|| !read_numbers(file, &count, &unused)) {
		return 0;
	}
	for (uint64_t i = 0; i < count && read_section(file, i, &section); i++) {
		table = section.sh_type == SHT_SYMTAB ? section : table;
	}
	struct ws_str symbols = bytes_at(file, table.sh_offset, table.sh_size), texts = {0};
	if (symbols.n > 0 && read_section(file, table.sh_link, &section)) {
		texts = bytes_at(file, section.sh_offset, section.sh_size);
	}
	for (uint64_t i = 0; i < symbols.n / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.s + i * sizeof(symbol), sizeof(symbol));
		uint64_t at = symbol.st_name;
		if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL
			&& at < texts.n && texts.s[at] && memchr(texts.s + at, '\0', texts.n - at)) {
			*ws_vec_push(&wants, a) = texts.s + at;
		}
	}
	*names = wants.at;
	return wants.len;
}
