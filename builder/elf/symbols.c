/* symbols.c - dynamic symbols and their versions. Only the hash table gives the number of
 * symbols, and the loader finds only those in it (elf/dl-lookup.c, elf/dl-setup_hash.c). */
#include "elf/elf_file.h"

#include <elf.h>

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

/* Cuts @count words off @table; false: it has fewer. */
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

/* The number of symbols: the end of the last chain; 0: a chain leaves the table. */
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

/* A chain is a run of words that ends with an odd one; the bucket of a name may point into its
 * middle. */
static void
mark_by_gnu_hash(struct ws_elf_file *f, const struct gnu_hash *h)
{
	for (uint64_t i = h->first, start = i; h->bucket_count > 0 && i < f->seen.symbol_count; i++) {
		uint32_t word = word_at(h->chain, i - h->first), hash = 5381;
		const char *name = ws_elf_string(f, symbol_at(f, i).st_name);
		for (const char *c = name; c && *c; c++) {
			hash = hash * 33 + (unsigned char)*c;
		}
		uint64_t bloom;
		size_t place = hash / 64 & (h->bloom_count - 1);
		memcpy(&bloom, h->bloom.s + place * sizeof(bloom), sizeof(bloom));
		bool passes = bloom >> hash % 64 & bloom >> (hash >> (h->shift & 31)) % 64 & 1;
		uint32_t bucket = name ? word_at(h->buckets, hash % h->bucket_count) : 0;
		if (bucket != 0 && bucket >= start && bucket <= i && (hash | 1) == (word | 1) && passes) {
			f->marks[i] |= WS_ELF_FOUND;
		}
		start = word & 1 ? i + 1 : start;
	}
}

/* ---- DT_HASH ---- */

/* False: a chain leaves the table, or is a circle. */
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

/* True when other files can see the name. */
static bool
is_public(const Elf64_Sym *entry)
{
	unsigned binding = ELF64_ST_BIND(entry->st_info);
	unsigned visibility = ELF64_ST_VISIBILITY(entry->st_other);
	return (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE)
		&& visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

bool
ws_elf_next_symbol(const struct ws_elf *elf, size_t *at, struct ws_elf_symbol *symbol)
{
	static const enum ws_elf_type types[16] = {
		[STT_FUNC] = WS_ELF_FUNC,
		[STT_OBJECT] = WS_ELF_OBJECT,
		[STT_COMMON] = WS_ELF_OBJECT,
		[STT_TLS] = WS_ELF_TLS,
		[STT_GNU_IFUNC] = WS_ELF_IFUNC,
	};
	const struct ws_elf_file *f = (const struct ws_elf_file *)elf;
	while (*at < elf->symbol_count) {
		size_t here = (*at)++;
		Elf64_Sym entry = symbol_at(f, here);
		const char *name = ws_elf_string(f, entry.st_name);
		unsigned binding = ELF64_ST_BIND(entry.st_info);
		bool public = is_public(&entry), asked = f->marks[here] & WS_ELF_ASKED;
		bool wanted = asked || (entry.st_shndx == SHN_UNDEF && public);
		/* The loader finds it by name, as do_lookup_x of glibc. */
		bool somewhere = entry.st_value != 0 || entry.st_shndx == SHN_ABS
			|| ELF64_ST_TYPE(entry.st_info) == STT_TLS;
		bool defined =
			public && entry.st_shndx != SHN_UNDEF && somewhere && (f->marks[here] & WS_ELF_FOUND);
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
			.type = types[ELF64_ST_TYPE(entry.st_info)],
			.address = entry.st_value,
		};
		if (f->versyms.n > 0) {
			Elf64_Half version;
			memcpy(&version, f->versyms.s + here * sizeof(version), sizeof(version));
			unsigned index = version & 0x7fff;
			symbol->version = index < f->index_count ? f->by_index[index] : NULL;
			symbol->not_default = version & 0x8000;
			/* A reference without a version gets the first one of a library, hidden or not. */
			symbol->hidden = symbol->not_default && index > 2;
		}
		return true;
	}
	return false;
}

/* ---- versions ---- */

#define MOST_VERSIONS 32768 /* 15 bits in .gnu.version; the top bit means "hidden" */

struct reading {
	struct ws_elf_file *f;
	WS_VEC(struct ws_elf_version) list;
};

/* Copies @len bytes at *@rest to @to, after moving it by @step. */
static bool
step(struct ws_str *rest, uint64_t step, void *to, size_t len)
{
	if (step > rest->n || len > rest->n - step) {
		return false;
	}
	*rest = (struct ws_str){rest->s + step, rest->n - step};
	memcpy(to, rest->s, len);
	return true;
}

/* The versions that are required from one library. */
static bool
read_need(struct reading *r, struct ws_str rest, const Elf64_Verneed *need)
{
	const char *library = ws_elf_string(r->f, need->vn_file);
	Elf64_Vernaux aux = {.vna_next = need->vn_aux};
	do {
		const char *name;
		if (!library || r->list.len == MOST_VERSIONS
			|| !step(&rest, aux.vna_next, &aux, sizeof(aux))
			|| !(name = ws_elf_string(r->f, aux.vna_name)) || aux.vna_hash != ws_elf_hash(name)) {
			return false;
		}
		*ws_vec_push(&r->list, r->f->a) = (struct ws_elf_version){
			library,
			name,
			aux.vna_other & 0x7fff,
			(aux.vna_flags & VER_FLG_WEAK) != 0,
		};
	} while (aux.vna_next != 0);
	return true;
}

static bool
read_defs(struct reading *r, struct ws_str rest)
{
	Elf64_Verdef def = {0};
	do {
		Elf64_Verdaux aux;
		const char *name;
		if (r->list.len == MOST_VERSIONS || !step(&rest, def.vd_next, &def, sizeof(def))
			|| def.vd_version != VER_DEF_CURRENT
			|| !step(&(struct ws_str){rest.s, rest.n}, def.vd_aux, &aux, sizeof(aux))
			|| !(name = ws_elf_string(r->f, aux.vda_name))) {
			return false;
		}
		/* The base definition is the library's own name, not a version of a symbol. */
		if (!(def.vd_flags & VER_FLG_BASE) && def.vd_hash == ws_elf_hash(name)) {
			*ws_vec_push(&r->list, r->f->a) =
				(struct ws_elf_version){.name = name, .index = def.vd_ndx & 0x7fff};
		}
	} while (def.vd_next != 0);
	return true;
}

bool
ws_elf_read_versions(struct ws_elf_file *f, struct ws_err *err)
{
	struct reading r = {.f = f};
	uint64_t address;
	bool fine = true;
	if (ws_elf_dynamic(f, DT_VERNEED, &address)) {
		struct ws_str rest = ws_elf_rest(f, address);
		Elf64_Verneed need = {0};
		do {
			/* One version at least for each library, so that MOST_VERSIONS also ends this loop. */
			fine = step(&rest, need.vn_next, &need, sizeof(need))
				&& need.vn_version == VER_NEED_CURRENT && read_need(&r, rest, &need);
		} while (fine && need.vn_next != 0);
	}
	if (!fine
		|| (ws_elf_dynamic(f, DT_VERDEF, &address) && !read_defs(&r, ws_elf_rest(f, address)))) {
		return ws_elf_damaged(f, err, "its version tables cannot be read");
	}
	bool versioned = ws_elf_dynamic(f, DT_VERSYM, &address);
	f->versyms = versioned ? ws_elf_rest(f, address) : (struct ws_str){0};
	if ((versioned || r.list.len > 0) && f->versyms.n == 0) {
		return ws_elf_damaged(f, err, "the versions of its symbols are not there");
	}
	for (size_t i = 0; i < r.list.len; i++) {
		size_t next = r.list.at[i].index + 1;
		f->index_count = next > f->index_count ? next : f->index_count;
	}
	f->by_index = WS_NEW_N(f->a, const struct ws_elf_version *, f->index_count);
	for (size_t i = 0; i < r.list.len; i++) {
		f->by_index[r.list.at[i].index] = &r.list.at[i];
	}
	f->seen.versions = r.list.at;
	f->seen.version_count = r.list.len;
	return true;
}
