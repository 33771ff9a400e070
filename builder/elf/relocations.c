/* relocations.c - the symbols that the loader looks up, and the places where it writes. Names
 * without a relocation are not looked up: a linker lists unused ones (std::ios_base_library_init
 * of GCC 13). */
#include "elf/elf_file.h"

#include <elf.h>

/* Types that glibc's loader supports (sysdeps/MACHINE/dl-machine.h); 0 is R_*_NONE. */
static const unsigned x86_64[] = {R_X86_64_64, R_X86_64_PC32, R_X86_64_COPY, R_X86_64_GLOB_DAT,
	R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, R_X86_64_32, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64,
	R_X86_64_TPOFF64, R_X86_64_SIZE32, R_X86_64_SIZE64, R_X86_64_TLSDESC, R_X86_64_IRELATIVE};
static const unsigned aarch64[] = {R_AARCH64_ABS64, R_AARCH64_COPY, R_AARCH64_GLOB_DAT,
	R_AARCH64_JUMP_SLOT, R_AARCH64_RELATIVE, R_AARCH64_TLS_DTPMOD, R_AARCH64_TLS_DTPREL,
	R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC, R_AARCH64_IRELATIVE};

static const struct abi {
	unsigned machine, relative, tpoff;
	const unsigned *known;
	size_t count;
} abis[] = {
	{EM_X86_64, R_X86_64_RELATIVE, R_X86_64_TPOFF64, x86_64, WS_LEN(x86_64)},
	{EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_TLS_TPREL, aarch64, WS_LEN(aarch64)},
};

struct reading {
	struct ws_elf_file *f;
	const struct abi *abi; /* NULL for a machine whose relocations are not checked */
	bool text;             /* code may be written */
	uint64_t inits, end;   /* addresses of functions that start the library */
	uint64_t init_count;   /* those that are relocated */
};

/* True when 8 bytes may be written there: also in code when all code is made writable first. */
static bool
write_at(struct reading *r, uint64_t address)
{
	const struct ws_elf_segment *s = ws_elf_segment_of(r->f, address, sizeof(uint64_t));
	r->init_count += address >= r->inits && address < r->end;
	return s && (s->writable || r->text);
}

/* Marks the symbol of a relocation; false: it does not exist, or has no name. */
static bool
ask(struct ws_elf_file *f, uint64_t number)
{
	Elf64_Sym symbol;
	if (number >= f->seen.symbol_count && !ws_elf_extend_symbols(f, number + 1)) {
		return false;
	}
	memcpy(&symbol, f->symbols.s + number * sizeof(symbol), sizeof(symbol));
	unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
	if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || visibility == STV_HIDDEN
		|| visibility == STV_INTERNAL) {
		return true; /* resolved to this file, without a lookup */
	}
	f->marks[number] |= WS_ELF_ASKED;
	Elf64_Half version = 0;
	if (f->versyms.n > 0) {
		memcpy(&version, f->versyms.s + number * sizeof(version), sizeof(version));
		version &= 0x7fff;
	}
	const char *name = ws_elf_string(f, symbol.st_name);
	bool weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
	return name && (*name || weak) && (version < 2 || version < f->index_count);
}

static const char *
read_one(struct reading *r, const Elf64_Rela *rela)
{
	struct ws_elf_file *f = r->f;
	unsigned type = ELF64_R_TYPE(rela->r_info);
	uint64_t number = ELF64_R_SYM(rela->r_info), at = rela->r_offset;
	const struct abi *abi = r->abi;
	if (abi && type == 0) {
		return NULL;
	}
	size_t known = 0;
	while (abi && known < abi->count && abi->known[known] != type) {
		known++;
	}
	if (abi && known == abi->count) {
		return "it has a relocation of an unknown type";
	}
	if (!write_at(r, at)) {
		return "a relocation writes where it may not";
	}
	if (abi && type == abi->relative && at >= r->inits && at < r->end
		&& !ws_elf_is_code(f, (uint64_t)rela->r_addend)) {
		return "the code that starts it is not there";
	}
	if (number > 0 && !ask(f, number)) {
		return "a relocation names a symbol that is not there";
	}
	if (abi && type == abi->tpoff) {
		/* A thread-local variable of this file takes static room. */
		Elf64_Sym symbol = {0};
		memcpy(&symbol, f->symbols.s + number * sizeof(symbol), sizeof(symbol));
		f->seen.static_tls = f->seen.static_tls || number == 0 || symbol.st_shndx != SHN_UNDEF;
	}
	return NULL;
}

/* Why the loader does not survive a table; NULL: it does. */
static const char *
read_table(struct reading *r, int64_t at_tag, int64_t size_tag, uint64_t relative)
{
	uint64_t address, size;
	if (!ws_elf_dynamic(r->f, size_tag, &size) || size == 0) {
		return NULL;
	}
	struct ws_str rest =
		ws_elf_dynamic(r->f, at_tag, &address) ? ws_elf_rest(r->f, address) : (struct ws_str){0};
	if (size > rest.n) {
		return "its relocations are not there";
	}
	const char *why = NULL;
	for (size_t i = 0; i < size / sizeof(Elf64_Rela) && !why; i++) {
		Elf64_Rela rela;
		memcpy(&rela, rest.s + i * sizeof(rela), sizeof(rela));
		bool lies = i < relative && r->abi && ELF64_R_TYPE(rela.r_info) != r->abi->relative;
		why = lies ? "its count of relative relocations is wrong" : read_one(r, &rela);
	}
	return why;
}

/* Words that are an address, or, when odd, a bit for each of the 63 words that follow. */
static const char *
read_relr(struct reading *r)
{
	uint64_t address, size, next = 0;
	if (!ws_elf_dynamic(r->f, DT_RELR, &address)) {
		return NULL;
	}
	r->f->seen.relr = true;
	struct ws_str rest = ws_elf_rest(r->f, address);
	if (!ws_elf_dynamic(r->f, DT_RELRSZ, &size) || size > rest.n) {
		return "its relocations are not there";
	}
	for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
		uint64_t word;
		memcpy(&word, rest.s + i * sizeof(word), sizeof(word));
		bool bits = word & 1;
		for (unsigned k = 0; k < (bits ? 63 : 1); k++) {
			uint64_t at = bits ? next + k * sizeof(word) : word;
			if ((!bits || word >> (k + 1) & 1) && !write_at(r, at)) {
				return "a relocation writes where it may not";
			}
		}
		next = bits ? next + 63 * sizeof(word) : word + sizeof(word);
	}
	return NULL;
}

bool
ws_elf_read_relocations(struct ws_elf_file *f, struct ws_err *err)
{
	struct reading r = {.f = f};
	uint64_t value, size = 0, relative = 0;
	r.text = ws_elf_dynamic(f, DT_TEXTREL, &value)
		|| (ws_elf_dynamic(f, DT_FLAGS, &value) && (value & DF_TEXTREL));
	if (ws_elf_dynamic(f, DT_INIT_ARRAY, &r.inits) && ws_elf_dynamic(f, DT_INIT_ARRAYSZ, &size)) {
		r.end = r.inits + size;
	}
	for (size_t i = 0; i < WS_LEN(abis); i++) {
		r.abi = abis[i].machine == f->seen.machine ? &abis[i] : r.abi;
	}
	ws_elf_dynamic(f, DT_RELACOUNT, &relative);
	const char *why = read_relr(&r);
	why = why ? why : read_table(&r, DT_RELA, DT_RELASZ, relative);
	why = why ? why : read_table(&r, DT_JMPREL, DT_PLTRELSZ, 0);
	bool all = r.init_count >= size / sizeof(uint64_t) && r.inits % sizeof(uint64_t) == 0;
	if (!why && !f->seen.executable && !all) {
		why = "the code that starts it is not there";
	}
	return !why || ws_elf_damaged(f, err, why);
}
