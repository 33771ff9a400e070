/* stub.c - lays out the least that ld, gold, lld and the loader accept (System V gABI, chapters 4
 * and 5; the GNU symbol versioning text of the LSB): symbols, their hash table, strings, versions
 * where there are symbols, the dynamic section; one segment over it all. Written byte by byte,
 * because the bytes are part of link keys; not through libelf. */
#include "elf/stub.h"

#include "elf/elf_file.h"

#include <elf.h>

/* Sections, in the order of their headers and of their bytes. The version sections are optional. */
enum { NONE, HASH, DYNSYM, DYNSTR, VERSYM, VERDEF, DYNAMIC, SHSTRTAB, SECTIONS };

static const struct {
	const char *name;
	uint32_t type;
	uint64_t flags, alignment, entry;
	unsigned link;
} sections[SECTIONS] = {
	[HASH] = {".hash", SHT_HASH, SHF_ALLOC, 8, 4, DYNSYM},
	[DYNSYM] = {".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, sizeof(Elf64_Sym), DYNSTR},
	[DYNSTR] = {".dynstr", SHT_STRTAB, SHF_ALLOC, 1, 0, NONE},
	[VERSYM] = {".gnu.version", SHT_GNU_versym, SHF_ALLOC, 2, 2, DYNSYM},
	[VERDEF] = {".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, 8, 0, DYNSTR},
	[DYNAMIC] = {".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, sizeof(Elf64_Dyn), DYNSTR},
	[SHSTRTAB] = {".shstrtab", SHT_STRTAB, 0, 1, 0, NONE},
};

/* Any change of the bytes below changes the keys of all links. */
struct layout {
	const struct ws_stub *stub;
	struct ws_arena *a;
	struct ws_buf bytes[SECTIONS];
	uint64_t at[SECTIONS];
	uint32_t name[SECTIONS]; /* in SHSTRTAB */
	unsigned number[SECTIONS];
	unsigned count; /* of sections, the null one included */
	WS_VEC(const char *) versions;
	struct ws_map version_numbers; /* unsigned, by name */
	uint64_t headers;              /* where the section headers begin */
};

static void
put(struct ws_buf *out, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		ws_buf_putc(out, (char)(value >> (8 * i) & 0xff));
	}
}

static void
put_text(struct ws_buf *out, const char *text)
{
	ws_buf_add(out, text, strlen(text) + 1);
}

/* Zeros up to @offset of the file that begins at @start. */
static void
pad(struct ws_buf *out, size_t start, uint64_t offset)
{
	while (out->len - start < offset) {
		ws_buf_putc(out, '\0');
	}
}

/* ---- contents ---- */

/* Symbols, their names and versions, and one hash bucket with a chain through all of them: linkers
 * do not look into it. A version's number is 2 and up, in the order in which they are first used.
 */
static void
fill_symbols(struct layout *l)
{
	const struct ws_stub *stub = l->stub;
	size_t count = stub->symbols.len + 1;
	struct ws_buf *hash = &l->bytes[HASH];
	put(hash, 1, 4);
	put(hash, count, 4);
	put(hash, count > 1 ? 1 : 0, 4);
	put(hash, 0, 4);
	pad(&l->bytes[DYNSYM], 0, sizeof(Elf64_Sym));
	put(&l->bytes[VERSYM], 0, 2);
	ws_buf_putc(&l->bytes[DYNSTR], '\0');
	put_text(&l->bytes[DYNSTR], stub->soname);
	for (size_t i = 0; i < stub->symbols.len; i++) {
		const struct ws_stub_symbol *symbol = &stub->symbols.at[i];
		unsigned type = symbol->tls ? STT_TLS : symbol->size ? STT_OBJECT : STT_FUNC;
		struct ws_buf *out = &l->bytes[DYNSYM];
		put(out, l->bytes[DYNSTR].len, 4);
		put(out, ELF64_ST_INFO(STB_GLOBAL, type), 1);
		put(out, STV_DEFAULT, 1);
		put(out, l->number[DYNAMIC], 2); /* any section that is loaded */
		put(out, symbol->tls ? 0 : 0x1000 + 16 * i, 8);
		put(out, symbol->size, 8);
		put_text(&l->bytes[DYNSTR], symbol->name);
		unsigned *known = ws_map_get(&l->version_numbers, symbol->version);
		if (!known) {
			known = WS_NEW(l->a, unsigned);
			*ws_vec_push(&l->versions, l->a) = symbol->version;
			*known = (unsigned)l->versions.len + 1;
			ws_map_put(&l->version_numbers, symbol->version, known, l->a);
		}
		put(&l->bytes[VERSYM], *known, 2);
		put(hash, i + 2 < count ? i + 2 : 0, 4);
	}
}

static void
put_version(struct layout *l, const char *name, unsigned flags, unsigned number, bool last)
{
	struct ws_buf *out = &l->bytes[VERDEF];
	put(out, VER_DEF_CURRENT, 2);
	put(out, flags, 2);
	put(out, number, 2);
	put(out, 1, 2);
	put(out, ws_elf_hash(name), 4);
	put(out, sizeof(Elf64_Verdef), 4);
	put(out, last ? 0 : sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux), 4);
	put(out, flags ? 1 : l->bytes[DYNSTR].len, 4);
	put(out, 0, 4);
	if (!flags) {
		put_text(&l->bytes[DYNSTR], name);
	}
}

static bool
is_left_out(const struct layout *l, int section)
{
	return (section == VERSYM || section == VERDEF) && l->stub->symbols.len == 0;
}

/* Needs the addresses of all other sections. Its size does not depend on them. */
static void
fill_dynamic(struct layout *l, bool final)
{
	const uint64_t entries[][2] = {
		{DT_SONAME, 1},
		{DT_HASH, l->at[HASH]},
		{DT_STRTAB, l->at[DYNSTR]},
		{DT_SYMTAB, l->at[DYNSYM]},
		{DT_STRSZ, l->bytes[DYNSTR].len},
		{DT_SYMENT, sizeof(Elf64_Sym)},
		{DT_VERSYM, l->at[VERSYM]},
		{DT_VERDEF, l->at[VERDEF]},
		{DT_VERDEFNUM, l->versions.len + 1},
		{DT_NULL, 0},
	};
	struct ws_buf *out = &l->bytes[DYNAMIC];
	ws_buf_clear(out);
	for (size_t i = 0; i < WS_LEN(entries); i++) {
		bool of_versions = i >= 6 && i <= 8;
		if (!of_versions || !is_left_out(l, VERDEF)) {
			put(out, final ? entries[i][0] : 0, 8);
			put(out, final ? entries[i][1] : 0, 8);
		}
	}
}

/* ---- the file ---- */

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
put_file(struct ws_buf *out, const struct layout *l)
{
	size_t start = out->len;
	uint64_t loaded = l->at[DYNAMIC] + l->bytes[DYNAMIC].len;
	static const unsigned char ident[EI_NIDENT] = {
		0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	ws_buf_add(out, ident, sizeof(ident));
	put(out, ET_DYN, 2);
	put(out, l->stub->machine ? l->stub->machine : EM_X86_64, 2);
	put(out, EV_CURRENT, 4);
	put(out, 0, 8); /* entry */
	put(out, sizeof(Elf64_Ehdr), 8);
	put(out, l->headers, 8);
	put(out, 0, 4); /* flags */
	put(out, sizeof(Elf64_Ehdr), 2);
	put(out, sizeof(Elf64_Phdr), 2);
	put(out, 3, 2);
	put(out, sizeof(Elf64_Shdr), 2);
	put(out, l->count, 2);
	put(out, l->number[SHSTRTAB], 2);
	put_segment(out, PT_LOAD, PF_R | PF_W, 0, loaded, 0x1000);
	put_segment(out, PT_DYNAMIC, PF_R | PF_W, l->at[DYNAMIC], l->bytes[DYNAMIC].len, 8);
	put_segment(out, PT_GNU_STACK, PF_R | PF_W, 0, 0, 16);
	for (int i = HASH; i < SECTIONS; i++) {
		if (!is_left_out(l, i)) {
			pad(out, start, l->at[i]);
			ws_buf_add(out, l->bytes[i].data, l->bytes[i].len);
		}
	}
	pad(out, start, l->headers + sizeof(Elf64_Shdr)); /* the null section */
	for (int i = HASH; i < SECTIONS; i++) {
		if (is_left_out(l, i)) {
			continue;
		}
		put(out, l->name[i], 4);
		put(out, sections[i].type, 4);
		put(out, sections[i].flags, 8);
		put(out, sections[i].flags & SHF_ALLOC ? l->at[i] : 0, 8);
		put(out, l->at[i], 8);
		put(out, l->bytes[i].len, 8);
		put(out, l->number[sections[i].link], 4);
		put(out, i == DYNSYM ? 1 : i == VERDEF ? l->versions.len + 1 : 0, 4);
		put(out, sections[i].alignment, 8);
		put(out, sections[i].entry, 8);
	}
}

bool
ws_elf_stub(const struct ws_stub *stub, struct ws_buf *out, struct ws_err *err)
{
	const char *soname = stub->soname;
	if (!*soname || strlen(soname) > 255 || strchr(soname, '/')) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' is not a library's name", soname);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct layout l = {.stub = stub, .a = a, .count = 1};
	ws_buf_putc(&l.bytes[SHSTRTAB], '\0');
	for (int i = HASH; i < SECTIONS; i++) {
		if (!is_left_out(&l, i)) {
			l.number[i] = l.count++;
			l.name[i] = (uint32_t)l.bytes[SHSTRTAB].len;
			put_text(&l.bytes[SHSTRTAB], sections[i].name);
		}
	}
	fill_symbols(&l);
	if (stub->symbols.len > 0) {
		put_version(&l, soname, VER_FLG_BASE, 1, false);
	}
	for (size_t i = 0; i < l.versions.len; i++) {
		put_version(&l, l.versions.at[i], 0, (unsigned)i + 2, i + 1 == l.versions.len);
	}
	fill_dynamic(&l, false);
	l.headers = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
	for (int i = HASH; i < SECTIONS; i++) {
		l.at[i] = l.headers;
		l.headers += is_left_out(&l, i) ? 0 : (l.bytes[i].len + 7) & ~(uint64_t)7;
	}
	fill_dynamic(&l, true);
	put_file(out, &l);
	for (int i = NONE; i < SECTIONS; i++) {
		ws_buf_release(&l.bytes[i]);
	}
	return true;
}
