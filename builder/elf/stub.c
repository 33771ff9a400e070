/* stub.c - lays out the least that ld, gold, lld and the loader accept (System V gABI, chapters 4
 * and 5): a null symbol, its hash table, strings, the dynamic section; one segment over it all.
 * Written byte by byte, because the bytes are part of link keys; not through libelf. */
#include "elf/stub.h"

#include <elf.h>

#include <string.h>

/* Sections, in the order of their headers and of their bytes. */
enum { NONE, HASH, DYNSYM, DYNSTR, DYNAMIC, SHSTRTAB, SECTIONS };

static const char section_names[] = "\0.hash\0.dynsym\0.dynstr\0.dynamic\0.shstrtab";
static const unsigned char section_name_at[SECTIONS] = {0, 1, 7, 15, 23, 32};

/* Version 1 of the layout. Any change of the bytes below changes the keys of all links. */
struct layout {
	uint64_t at[SECTIONS], size[SECTIONS];
	uint64_t headers; /* where the section headers begin */
};

static void
put(struct ws_buf *out, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		ws_buf_putc(out, (char)(value >> (8 * i) & 0xff));
	}
}

static uint64_t
round_up(uint64_t offset)
{
	return (offset + 7) & ~(uint64_t)7;
}

static struct layout
lay_out(const char *soname)
{
	struct layout l = {
		.size =
			{
				[HASH] = 4 * sizeof(uint32_t),
				[DYNSYM] = sizeof(Elf64_Sym),
				[DYNSTR] = strlen(soname) + 2,
				[DYNAMIC] = 7 * sizeof(Elf64_Dyn),
				[SHSTRTAB] = sizeof(section_names),
			},
	};
	uint64_t at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
	for (int i = HASH; i < SECTIONS; i++) {
		l.at[i] = at;
		at = round_up(at + l.size[i]);
	}
	l.headers = at;
	return l;
}

static void
put_file_header(struct ws_buf *out, const struct layout *l)
{
	static const unsigned char ident[EI_NIDENT] = {
		0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	ws_buf_add(out, ident, sizeof(ident));
	put(out, ET_DYN, 2);
	put(out, EM_X86_64, 2);
	put(out, EV_CURRENT, 4);
	put(out, 0, 8); /* entry */
	put(out, sizeof(Elf64_Ehdr), 8);
	put(out, l->headers, 8);
	put(out, 0, 4); /* flags */
	put(out, sizeof(Elf64_Ehdr), 2);
	put(out, sizeof(Elf64_Phdr), 2);
	put(out, 3, 2);
	put(out, sizeof(Elf64_Shdr), 2);
	put(out, SECTIONS, 2);
	put(out, SHSTRTAB, 2);
}

static void
put_segment(struct ws_buf *out, uint32_t type, uint32_t flags, uint64_t at, uint64_t size,
	uint64_t alignment)
{
	put(out, type, 4);
	put(out, flags, 4);
	put(out, at, 8);
	put(out, at, 8); /* address: as in the file */
	put(out, at, 8);
	put(out, size, 8);
	put(out, size, 8);
	put(out, alignment, 8);
}

static void
put_section(struct ws_buf *out, const struct layout *l, int which, uint32_t type, uint64_t flags,
	uint32_t link, uint32_t info, uint64_t alignment, uint64_t entry)
{
	put(out, section_name_at[which], 4);
	put(out, type, 4);
	put(out, flags, 8);
	put(out, flags & SHF_ALLOC ? l->at[which] : 0, 8);
	put(out, l->at[which], 8);
	put(out, l->size[which], 8);
	put(out, link, 4);
	put(out, info, 4);
	put(out, alignment, 8);
	put(out, entry, 8);
}

static void
put_dynamic(struct ws_buf *out, const struct layout *l)
{
	const uint64_t entries[][2] = {
		{DT_SONAME, 1},
		{DT_HASH, l->at[HASH]},
		{DT_STRTAB, l->at[DYNSTR]},
		{DT_SYMTAB, l->at[DYNSYM]},
		{DT_STRSZ, l->size[DYNSTR]},
		{DT_SYMENT, sizeof(Elf64_Sym)},
		{DT_NULL, 0},
	};
	for (size_t i = 0; i < WS_LEN(entries); i++) {
		put(out, entries[i][0], 8);
		put(out, entries[i][1], 8);
	}
}

/* Zeros up to @offset of the file that begins at @start. */
static void
pad(struct ws_buf *out, size_t start, uint64_t offset)
{
	while (out->len - start < offset) {
		ws_buf_putc(out, '\0');
	}
}

bool
ws_elf_stub(const char *soname, struct ws_buf *out, struct ws_err *err)
{
	if (!*soname || strlen(soname) > 255 || strchr(soname, '/')) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' is not a library's name", soname);
	}
	const struct layout l = lay_out(soname);
	size_t start = out->len;
	put_file_header(out, &l);
	put_segment(out, PT_LOAD, PF_R | PF_W, 0, l.at[DYNAMIC] + l.size[DYNAMIC], 0x1000);
	put_segment(out, PT_DYNAMIC, PF_R | PF_W, l.at[DYNAMIC], l.size[DYNAMIC], 8);
	put_segment(out, PT_GNU_STACK, PF_R | PF_W, 0, 0, 16);

	put(out, 1, 4); /* one bucket, empty; a chain for the null symbol */
	put(out, 1, 4);
	put(out, 0, 8);
	pad(out, start, l.at[DYNSYM] + l.size[DYNSYM]);
	pad(out, start, l.at[DYNSTR] + 1);
	ws_buf_puts(out, soname);
	pad(out, start, l.at[DYNAMIC]);
	put_dynamic(out, &l);
	pad(out, start, l.at[SHSTRTAB]);
	ws_buf_add(out, section_names, sizeof(section_names));

	pad(out, start, l.headers + sizeof(Elf64_Shdr)); /* the null section */
	put_section(out, &l, HASH, SHT_HASH, SHF_ALLOC, DYNSYM, 0, 8, 4);
	put_section(out, &l, DYNSYM, SHT_DYNSYM, SHF_ALLOC, DYNSTR, 1, 8, sizeof(Elf64_Sym));
	put_section(out, &l, DYNSTR, SHT_STRTAB, SHF_ALLOC, 0, 0, 1, 0);
	put_section(
		out, &l, DYNAMIC, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, DYNSTR, 0, 8, sizeof(Elf64_Dyn));
	put_section(out, &l, SHSTRTAB, SHT_STRTAB, 0, 0, 0, 1, 0);
	return true;
}
