/* symbols.c - dynamic symbols. How many there are, only the hash table says, and the loader finds
 * only those that it leads to (elf/dl-lookup.c, elf/dl-setup_hash.c). */
#include "elf/elf_file.h"

#include <elf.h>

#include <string.h>

static Elf64_Sym
symbol_at(const struct ws_elf_file *f, size_t number)
{
	Elf64_Sym symbol;
	memcpy(&symbol, f->symbols.s + number * sizeof(symbol), sizeof(symbol));
	return symbol;
}

static uint32_t
word_at(struct ws_str table, size_t number)
{
	uint32_t word;
	memcpy(&word, table.s + number * sizeof(word), sizeof(word));
	return word;
}

/* @count words of @table, which move it on; false: it has fewer. */
static bool
cut_words(struct ws_str *table, uint64_t count, struct ws_str *words)
{
	if (count > table->n / sizeof(uint32_t)) {
		return false;
	}
	*words = (struct ws_str){table->s, count * sizeof(uint32_t)};
	*table = (struct ws_str){table->s + words->n, table->n - words->n};
	return true;
}

bool
ws_elf_extend_symbols(struct ws_elf_file *f, uint64_t count)
{
	if (count > f->symbols.n / sizeof(Elf64_Sym)
		|| (f->versyms.n > 0 && count > f->versyms.n / sizeof(Elf64_Half))) {
		return false;
	}
	unsigned char *marks = ws_arena_alloc(f->a, count ? count : 1);
	memset(marks, 0, count);
	if (f->seen.symbol_count > 0) {
		memcpy(marks, f->marks, f->seen.symbol_count);
	}
	f->marks = marks;
	f->seen.symbol_count = count;
	return true;
}

/* ---- DT_GNU_HASH ---- */

struct gnu_hash {
	uint32_t first; /* number of the first symbol that it lists */
	uint32_t shift;
	struct ws_str bloom, buckets, chain;
	size_t bucket_count, bloom_count;
};

static uint32_t
gnu_hash_of(const char *name)
{
	uint32_t h = 5381;
	for (; *name; name++) {
		h = h * 33 + (unsigned char)*name;
	}
	return h;
}

static bool
read_gnu_hash(struct ws_str table, struct gnu_hash *h)
{
	struct ws_str head;
	if (!cut_words(&table, 4, &head)) {
		return false;
	}
	*h = (struct gnu_hash){.first = word_at(head, 1),
		.shift = word_at(head, 3),
		.bucket_count = word_at(head, 0),
		.bloom_count = word_at(head, 2)};
	bool power = h->bloom_count > 0 && (h->bloom_count & (h->bloom_count - 1)) == 0;
	if (!power || !cut_words(&table, 2 * (uint64_t)h->bloom_count, &h->bloom)
		|| !cut_words(&table, h->bucket_count, &h->buckets)) {
		return false;
	}
	h->chain = table;
	return true;
}

/* How many symbols there are: the longest way along a chain; 0: some way leads out of the table. */
static uint64_t
count_by_gnu_hash(const struct gnu_hash *h)
{
	uint64_t last = 0, words = h->chain.n / sizeof(uint32_t);
	for (size_t i = 0; i < h->bucket_count; i++) {
		uint32_t start = word_at(h->buckets, i);
		if (start != 0 && start < h->first) {
			return 0;
		}
		last = start > last ? start : last;
	}
	if (last == 0) {
		return h->first > 0 ? h->first : 1;
	}
	for (uint64_t i = last - h->first; i < words; i++) {
		if (word_at(h->chain, i) & 1) {
			return i + h->first + 1;
		}
	}
	return 0;
}

static bool
passes_bloom(const struct gnu_hash *h, uint32_t hash)
{
	uint64_t word;
	memcpy(&word, h->bloom.s + (hash / 64 & (h->bloom_count - 1)) * sizeof(word), sizeof(word));
	return word >> hash % 64 & word >> (hash >> (h->shift & 31)) % 64 & 1;
}

/* A chain is a run of words up to one that is odd; the bucket of a name may lead into its
 * middle. */
static void
mark_by_gnu_hash(struct ws_elf_file *f, const struct gnu_hash *h)
{
	for (uint64_t i = h->first, start = i; h->bucket_count > 0 && i < f->seen.symbol_count; i++) {
		uint32_t word = word_at(h->chain, i - h->first);
		const char *name = ws_elf_string(f, symbol_at(f, i).st_name);
		uint32_t hash = name ? gnu_hash_of(name) : 0;
		uint32_t bucket = name ? word_at(h->buckets, hash % h->bucket_count) : 0;
		if (bucket != 0 && bucket >= start && bucket <= i && (hash | 1) == (word | 1)
			&& passes_bloom(h, hash)) {
			f->marks[i] |= WS_ELF_FOUND;
		}
		start = word & 1 ? i + 1 : start;
	}
}

/* ---- DT_HASH ---- */

/* False: a chain leads out of the table, or in a circle. */
static bool
read_by_hash(struct ws_elf_file *f, struct ws_str table)
{
	struct ws_str head, buckets, chain;
	if (!cut_words(&table, 2, &head) || !cut_words(&table, word_at(head, 0), &buckets)
		|| !cut_words(&table, word_at(head, 1), &chain)) {
		return false;
	}
	size_t count = word_at(head, 1), bucket_count = word_at(head, 0), steps = 0;
	if (!ws_elf_extend_symbols(f, count)) {
		return false;
	}
	for (size_t b = 0; b < bucket_count; b++) {
		for (uint32_t i = word_at(buckets, b); i != 0; i = word_at(chain, i)) {
			if (i >= count || steps++ > count) {
				return false;
			}
			const char *name = ws_elf_string(f, symbol_at(f, i).st_name);
			bool found = name && ws_elf_hash(name) % bucket_count == b;
			f->marks[i] |= found ? WS_ELF_FOUND : 0;
		}
	}
	return true;
}

/* ---- all ---- */

bool
ws_elf_read_symbols(struct ws_elf_file *f, struct ws_err *err)
{
	uint64_t address;
	struct gnu_hash h;
	f->symbols =
		ws_elf_dynamic(f, DT_SYMTAB, &address) ? ws_elf_rest(f, address) : (struct ws_str){0};
	if (f->symbols.n < sizeof(Elf64_Sym)) {
		return ws_elf_damaged(f, err, "it has no symbols");
	}
	bool fine = true;
	if (ws_elf_dynamic(f, DT_GNU_HASH, &address)) {
		fine = read_gnu_hash(ws_elf_rest(f, address), &h);
		uint64_t count = fine ? count_by_gnu_hash(&h) : 0;
		fine = count > 0 && ws_elf_extend_symbols(f, count);
		if (fine) {
			mark_by_gnu_hash(f, &h);
		}
	} else if (ws_elf_dynamic(f, DT_HASH, &address)) {
		fine = read_by_hash(f, ws_elf_rest(f, address));
	}
	return fine || ws_elf_damaged(f, err, "its hash table cannot be read");
}

static enum ws_elf_type
type_of(const Elf64_Sym *entry)
{
	switch (ELF64_ST_TYPE(entry->st_info)) {
	case STT_FUNC:
		return WS_ELF_FUNC;
	case STT_OBJECT:
	case STT_COMMON:
		return WS_ELF_OBJECT;
	case STT_TLS:
		return WS_ELF_TLS;
	case STT_GNU_IFUNC:
		return WS_ELF_IFUNC;
	default:
		return WS_ELF_NOTYPE;
	}
}

static void
add_version(const struct ws_elf_file *f, size_t number, struct ws_elf_symbol *symbol)
{
	Elf64_Half entry;
	if (f->versyms.n == 0) {
		return;
	}
	memcpy(&entry, f->versyms.s + number * sizeof(entry), sizeof(entry));
	unsigned index = entry & 0x7fff;
	symbol->version = index < f->index_count ? f->by_index[index] : NULL;
	symbol->not_default = entry & 0x8000;
	/* To a reference without a version the loader gives the first of a library, hidden or not. */
	symbol->hidden = symbol->not_default && index > 2;
}

/* Is it a name to other files? */
static bool
is_public(const Elf64_Sym *entry)
{
	unsigned binding = ELF64_ST_BIND(entry->st_info);
	unsigned visibility = ELF64_ST_VISIBILITY(entry->st_other);
	return (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE)
		&& visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

/* Would the loader find it under its name? As do_lookup_x of glibc. */
static bool
is_found(const struct ws_elf_file *f, size_t number, const Elf64_Sym *entry)
{
	bool somewhere = entry->st_value != 0 || entry->st_shndx == SHN_ABS
		|| ELF64_ST_TYPE(entry->st_info) == STT_TLS;
	return is_public(entry) && entry->st_shndx != SHN_UNDEF && somewhere
		&& (f->marks[number] & WS_ELF_FOUND);
}

bool
ws_elf_next_symbol(const struct ws_elf *elf, size_t *at, struct ws_elf_symbol *symbol)
{
	const struct ws_elf_file *f = (const struct ws_elf_file *)elf;
	while (*at < elf->symbol_count) {
		size_t here = (*at)++;
		Elf64_Sym entry = symbol_at(f, here);
		const char *name = ws_elf_string(f, entry.st_name);
		unsigned binding = ELF64_ST_BIND(entry.st_info);
		bool defined = is_found(f, here, &entry), asked = f->marks[here] & WS_ELF_ASKED;
		bool wanted = asked || (entry.st_shndx == SHN_UNDEF && is_public(&entry));
		if (!name || !*name || !(defined || wanted)) {
			continue;
		}
		*symbol = (struct ws_elf_symbol){
			.name = name,
			.defined = defined,
			.asked = asked,
			.binding = binding == STB_WEAK ? WS_ELF_WEAK
				: binding == STB_GLOBAL    ? WS_ELF_GLOBAL
										   : WS_ELF_UNIQUE,
			.type = type_of(&entry),
			.address = entry.st_value,
		};
		add_version(f, here, symbol);
		return true;
	}
	return false;
}
