/* elf.c - the only file that knows libelf. libelf finds sections and checks that strings and
 * entries lie inside them; what it hands out is trusted no further than that. Section headers
 * are required: a file that hides them cannot be judged. */
#include "elf/elf.h"

#include "base/fs.h"
#include "base/vec.h"
#include "elf/mapping.h"

#include <gelf.h>
#include <libelf.h>

#include <string.h>

/* Real libraries have dozens of each; a hostile one shall not cost memory. */
#define MOST_DYNAMIC 65536
#define MOST_NEEDED 1024
#define MOST_VERSIONS 32768 /* 15 bits in .gnu.version; the top bit means "hidden" */

struct elf_file {
	struct ws_elf seen;
	Elf *libelf;
	struct ws_mapping mapping; /* nothing: the bytes are the caller's */
	bool any_machine; /* what is for no machine that wheels are made for is opened as well */
	Elf_Data *symbols;
	size_t strings;    /* section of the symbols' names */
	Elf_Data *versyms; /* NULL: nothing is versioned */
	const struct ws_elf_version **by_index;
	size_t index_count;
};

/* What is gathered while a file is opened. */
struct reading {
	struct elf_file *file;
	struct ws_arena *a;
	WS_VEC(const char *) needed;
	WS_VEC(struct ws_elf_version) versions;
};

static bool
check_header(struct elf_file *file, struct ws_err *err)
{
	struct ws_elf *seen = &file->seen;
	Elf *libelf = file->libelf;
	GElf_Ehdr header;
	const char *name = seen->path;
	if (!libelf || elf_kind(libelf) != ELF_K_ELF || !gelf_getehdr(libelf, &header)) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is not an ELF file", name);
	}
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB
		|| (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64
			&& !file->any_machine)) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' is for another machine (ELF machine %u), not for x86-64 or aarch64", name,
			(unsigned)header.e_machine);
	}
	if (header.e_type != ET_DYN && header.e_type != ET_EXEC) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' is neither a shared library nor an executable (ELF type %u)", name,
			(unsigned)header.e_type);
	}
	seen->executable = header.e_type == ET_EXEC;
	seen->machine = header.e_machine;
	return true;
}

static void
read_segments(Elf *libelf, struct ws_elf *seen)
{
	size_t count;
	GElf_Phdr segment;
	for (size_t i = 0;
		 elf_getphdrnum(libelf, &count) == 0 && i < count && gelf_getphdr(libelf, (int)i, &segment);
		 i++) {
		seen->tls_bytes = segment.p_type == PT_TLS ? segment.p_memsz : seen->tls_bytes;
	}
}

/* The first section of that type, and its bytes as libelf reads that type; NULL: none. */
static Elf_Data *
find_typed(Elf *libelf, GElf_Word type, GElf_Shdr *header)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(libelf, section));) {
		if (gelf_getshdr(section, header) && header->sh_type == type) {
			return elf_getdata(section, NULL);
		}
	}
	return NULL;
}

/* One entry of the dynamic section that names a string. */
static bool
take_entry(struct reading *r, int64_t tag, const char *text, struct ws_err *err)
{
	struct ws_elf *seen = &r->file->seen;
	if (!text) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' is damaged: a dynamic entry names no string", seen->path);
	}
	if (tag == DT_SONAME) {
		seen->soname = text;
	} else if (tag == DT_RPATH) {
		seen->rpath = text;
	} else if (tag == DT_RUNPATH) {
		seen->runpath = text;
	} else if (r->needed.len == MOST_NEEDED) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' needs more than %d libraries, which is unexpected", seen->path, MOST_NEEDED);
	} else {
		*ws_vec_push(&r->needed, r->a) = text;
	}
	return true;
}

static bool
read_dynamic(struct reading *r, struct ws_err *err)
{
	GElf_Shdr header;
	Elf_Data *data = find_typed(r->file->libelf, SHT_DYNAMIC, &header);
	if (!data) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no dynamic section", r->file->seen.path);
	}
	struct ws_elf *seen = &r->file->seen;
	GElf_Dyn entry;
	for (int i = 0; i < MOST_DYNAMIC && gelf_getdyn(data, i, &entry); i++) {
		int64_t tag = entry.d_tag;
		if (tag == DT_NULL) {
			break;
		}
		if (tag == DT_FLAGS) {
			seen->static_tls = (entry.d_un.d_val & DF_STATIC_TLS) != 0;
		} else if (tag == DT_FLAGS_1) {
			seen->no_dlopen = (entry.d_un.d_val & DF_1_NOOPEN) != 0;
			seen->executable = seen->executable || (entry.d_un.d_val & DF_1_PIE);
		}
		bool wanted = tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH;
		if (wanted
			&& !take_entry(
				r, tag, elf_strptr(r->file->libelf, header.sh_link, entry.d_un.d_val), err)) {
			return false;
		}
	}
	return true;
}

/* One verneed entry: the versions asked of one library. False when it is malformed. */
static bool
read_need(struct reading *r, Elf_Data *data, size_t link, const GElf_Verneed *need, size_t offset)
{
	const char *library = elf_strptr(r->file->libelf, link, need->vn_file);
	GElf_Vernaux aux;
	for (unsigned i = 0; i < need->vn_cnt; i++) {
		if (!library || offset > INT32_MAX || r->versions.len == MOST_VERSIONS
			|| !gelf_getvernaux(data, (int)offset, &aux)) {
			return false;
		}
		const char *name = elf_strptr(r->file->libelf, link, aux.vna_name);
		if (!name) {
			return false;
		}
		*ws_vec_push(&r->versions, r->a) = (struct ws_elf_version){
			.library = library,
			.name = name,
			.index = aux.vna_other & 0x7fff,
			.weak = (aux.vna_flags & VER_FLG_WEAK) != 0,
		};
		if (aux.vna_next == 0) {
			break;
		}
		offset += aux.vna_next;
	}
	return true;
}

static bool
read_needs(struct reading *r)
{
	GElf_Shdr header;
	Elf_Data *data = find_typed(r->file->libelf, SHT_GNU_verneed, &header);
	GElf_Verneed need;
	for (size_t offset = 0; data; offset += need.vn_next) {
		/* One version at least for each library, so that MOST_VERSIONS also ends this loop. */
		if (offset > INT32_MAX || !gelf_getverneed(data, (int)offset, &need) || need.vn_cnt == 0
			|| !read_need(r, data, header.sh_link, &need, offset + need.vn_aux)) {
			return false;
		}
		if (need.vn_next == 0) {
			break;
		}
	}
	return true;
}

static bool
read_defs(struct reading *r)
{
	GElf_Shdr header;
	Elf_Data *data = find_typed(r->file->libelf, SHT_GNU_verdef, &header);
	GElf_Verdef def;
	for (size_t offset = 0; data; offset += def.vd_next) {
		GElf_Verdaux aux;
		if (offset > INT32_MAX / 2 || r->versions.len == MOST_VERSIONS
			|| !gelf_getverdef(data, (int)offset, &def) || def.vd_aux > INT32_MAX / 2
			|| !gelf_getverdaux(data, (int)(offset + def.vd_aux), &aux)) {
			return false;
		}
		const char *name = elf_strptr(r->file->libelf, header.sh_link, aux.vda_name);
		if (!name) {
			return false;
		}
		/* The base definition is the library's own name, no version of a symbol. */
		if (!(def.vd_flags & VER_FLG_BASE)) {
			*ws_vec_push(&r->versions, r->a) =
				(struct ws_elf_version){.name = name, .index = def.vd_ndx & 0x7fff};
		}
		if (def.vd_next == 0) {
			break;
		}
	}
	return true;
}

static void
index_versions(struct reading *r)
{
	struct elf_file *file = r->file;
	for (size_t i = 0; i < r->versions.len; i++) {
		if (r->versions.at[i].index >= file->index_count) {
			file->index_count = r->versions.at[i].index + 1;
		}
	}
	file->by_index = WS_NEW_N(r->a, const struct ws_elf_version *, file->index_count);
	for (size_t i = 0; i < r->versions.len; i++) {
		file->by_index[r->versions.at[i].index] = &r->versions.at[i];
	}
}

static bool
read_tables(struct reading *r, struct ws_err *err)
{
	struct elf_file *file = r->file;
	struct ws_elf *seen = &file->seen;
	if (!read_dynamic(r, err)) {
		return false;
	}
	if (!read_needs(r) || !read_defs(r)) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' is damaged: its version tables cannot be read", seen->path);
	}
	index_versions(r);
	read_segments(file->libelf, seen);
	GElf_Shdr header;
	file->versyms = find_typed(file->libelf, SHT_GNU_versym, &header);
	file->symbols = find_typed(file->libelf, SHT_DYNSYM, &header);
	if (file->symbols) {
		file->strings = header.sh_link;
		seen->symbol_count = file->symbols->d_size / sizeof(Elf64_Sym);
	}
	seen->needed = r->needed.at;
	seen->needed_count = r->needed.len;
	seen->versions = r->versions.at;
	seen->version_count = r->versions.len;
	return true;
}

/* Takes over @a file's mapping, also when it fails. */
static struct ws_elf *
open_image(
	struct elf_file *file, const void *bytes, size_t len, struct ws_arena *a, struct ws_err *err)
{
	elf_version(EV_CURRENT);
	/* elf_memory wants to be able to write; nothing here asks it to. */
	file->libelf = elf_memory((char *)(uintptr_t)bytes, len);
	struct reading reading = {.file = file, .a = a};
	if (!check_header(file, err) || !read_tables(&reading, err)) {
		ws_elf_close(&file->seen);
		return NULL;
	}
	return &file->seen;
}

struct ws_elf *
ws_elf_open(const char *path, struct ws_arena *a, struct ws_err *err)
{
	return ws_elf_open_as(path, path, a, err);
}

static struct ws_elf *
open_path(
	const char *path, const char *name, bool any_machine, struct ws_arena *a, struct ws_err *err)
{
	struct ws_mapping mapping;
	if (!ws_mapping_open(path, name, sizeof(Elf64_Ehdr), &mapping, err)) {
		return NULL;
	}
	struct elf_file *file = WS_NEW(a, struct elf_file);
	file->seen.path = ws_arena_strdup(a, name);
	file->seen.size = mapping.len;
	file->mapping = mapping;
	file->any_machine = any_machine;
	return open_image(file, mapping.bytes, mapping.len, a, err);
}

struct ws_elf *
ws_elf_open_as(const char *path, const char *name, struct ws_arena *a, struct ws_err *err)
{
	return open_path(path, name, false, a, err);
}

struct ws_elf *
ws_elf_open_any(const char *path, const char *name, struct ws_arena *a, struct ws_err *err)
{
	return open_path(path, name, true, a, err);
}

struct ws_elf *
ws_elf_open_bytes(
	const char *name, const void *bytes, size_t len, struct ws_arena *a, struct ws_err *err)
{
	if (len < sizeof(Elf64_Ehdr)) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' is not an ELF file", name);
		return NULL;
	}
	struct elf_file *file = WS_NEW(a, struct elf_file);
	file->seen.path = ws_arena_strdup(a, name);
	file->seen.size = len;
	return open_image(file, bytes, len, a, err);
}

void
ws_elf_close(struct ws_elf *elf)
{
	if (!elf) {
		return;
	}
	struct elf_file *file = (struct elf_file *)elf;
	elf_end(file->libelf);
	ws_mapping_close(&file->mapping);
}

void
ws_elf_forget(const struct ws_elf *elf)
{
	ws_mapping_forget(&((const struct elf_file *)elf)->mapping);
}

static enum ws_elf_type
symbol_type(unsigned type)
{
	switch (type) {
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
add_version(const struct elf_file *file, size_t at, struct ws_elf_symbol *symbol)
{
	GElf_Versym entry;
	if (!file->versyms || !gelf_getversym(file->versyms, (int)at, &entry)) {
		return;
	}
	unsigned index = entry & 0x7fff;
	symbol->version = index < file->index_count ? file->by_index[index] : NULL;
	symbol->not_default = entry & 0x8000;
	/* To a reference without a version the loader gives the first of a library, hidden or not. */
	symbol->hidden = symbol->not_default && index > 2;
}

/* Would the loader find it, or look for it? As do_lookup_x of glibc. */
static bool
is_looked_at(const GElf_Sym *entry)
{
	unsigned binding = GELF_ST_BIND(entry->st_info), type = GELF_ST_TYPE(entry->st_info);
	unsigned visibility = GELF_ST_VISIBILITY(entry->st_other);
	if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE) {
		return false;
	}
	bool somewhere = entry->st_value != 0 || entry->st_shndx == SHN_ABS
		|| entry->st_shndx == SHN_UNDEF || type == STT_TLS;
	return somewhere && visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

bool
ws_elf_next_symbol(const struct ws_elf *elf, size_t *at, struct ws_elf_symbol *symbol)
{
	const struct elf_file *file = (const struct elf_file *)elf;
	GElf_Sym entry;
	while (*at < elf->symbol_count && *at < INT32_MAX
		&& gelf_getsym(file->symbols, (int)*at, &entry)) {
		size_t here = (*at)++;
		unsigned binding = GELF_ST_BIND(entry.st_info);
		if (!is_looked_at(&entry)) {
			continue;
		}
		const char *name = elf_strptr(file->libelf, file->strings, entry.st_name);
		if (!name || !*name) {
			continue;
		}
		*symbol = (struct ws_elf_symbol){
			.name = name,
			.defined = entry.st_shndx != SHN_UNDEF,
			.binding = binding == STB_WEAK ? WS_ELF_WEAK
				: binding == STB_GLOBAL    ? WS_ELF_GLOBAL
										   : WS_ELF_UNIQUE,
			.type = symbol_type(GELF_ST_TYPE(entry.st_info)),
			.address = entry.st_value,
		};
		add_version(file, here, symbol);
		return true;
	}
	return false;
}

struct ws_str
ws_elf_section(const struct ws_elf *elf, const char *name)
{
	const struct elf_file *file = (const struct elf_file *)elf;
	size_t names;
	if (elf_getshdrstrndx(file->libelf, &names) < 0) {
		return (struct ws_str){0};
	}
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->libelf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS
			|| !ws_same(elf_strptr(file->libelf, names, header.sh_name), name)) {
			continue;
		}
		const Elf_Data *data = elf_rawdata(section, NULL);
		return data ? (struct ws_str){data->d_buf, data->d_size} : (struct ws_str){0};
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
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_PPC64:
		return big ? "ppc64" : "ppc64le";
	case EM_386:
		return "x86";
	default:
		return ws_arena_printf(a, "ELF machine %u", machine);
	}
}

const char *
ws_elf_library_name(const struct ws_elf *elf)
{
	return elf->soname ? elf->soname : ws_path_base(elf->path);
}
