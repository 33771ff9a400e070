/* elf.c - opening a file: header, segments, dynamic section. The rules are those of glibc 2.36
 * (elf/dl-load.c, elf/get-dynamic-info.h): a file that it refuses or does not survive is not
 * opened. Each rule has a file in tests/support/crafted_elf.py, which the test loads with dlopen
 * as well. */
#include "base/fs.h"
#include "elf/elf_file.h"

#include <elf.h>

#include <fcntl.h>
#include <sys/mman.h>

/* Real libraries have dozens of each; a hostile one shall not cost memory. */
#define MOST_DYNAMIC 65536
#define MOST_NEEDED 1024

#define PAGE_BYTES 4096
#define MOST_ADDRESS ((uint64_t)1 << 36) /* 64 GiB; libtorch_cuda of 2.15 has one and a half */

static bool
read_header(struct ws_elf_file *f, bool any_machine, Elf64_Ehdr *header, struct ws_err *err)
{
	struct ws_elf *seen = &f->seen;
	*header = (Elf64_Ehdr){0};
	memcpy(header, f->bytes.s, f->bytes.n < sizeof(*header) ? f->bytes.n : sizeof(*header));
	if (f->bytes.n < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is not an ELF file", seen->path);
	}
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB
		|| (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64 && !any_machine)) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' is for another machine (ELF machine %u), not for x86-64 or aarch64", seen->path,
			(unsigned)header->e_machine);
	}
	if (header->e_type != ET_DYN && header->e_type != ET_EXEC) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' is neither a shared library nor an executable (ELF type %u)", seen->path,
			(unsigned)header->e_type);
	}
	seen->executable = header->e_type == ET_EXEC;
	seen->machine = header->e_machine;
	unsigned osabi = header->e_ident[EI_OSABI], version = header->e_ident[EI_ABIVERSION];
	if (header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT) {
		return ws_elf_damaged(f, err, "its header has an unknown version of ELF");
	}
	if ((osabi != ELFOSABI_SYSV && osabi != ELFOSABI_GNU) || version > 3
		|| (version > 0 && osabi != ELFOSABI_GNU)) {
		return ws_elf_damaged(f, err, "its header names an ABI that is not Linux's");
	}
	for (size_t i = EI_PAD; i < EI_NIDENT; i++) {
		if (header->e_ident[i] != 0) {
			return ws_elf_damaged(f, err, "its header is not filled with zeros");
		}
	}
	return header->e_phentsize == sizeof(Elf64_Phdr)
		|| ws_elf_damaged(f, err, "its program headers have an unknown size");
}

/* ---- segments ---- */

static bool
read_load(struct ws_elf_file *f, const Elf64_Phdr *p, struct ws_elf_segment *s, struct ws_err *err)
{
	const struct ws_elf_segment *last = f->segment_count > 0 ? s - 1 : NULL;
	if (p->p_offset > f->bytes.n || p->p_filesz > f->bytes.n - p->p_offset) {
		return ws_elf_damaged(f, err, "it ends in the middle of a segment");
	}
	bool apart =
		!last || (p->p_vaddr >= last->address && p->p_vaddr - last->address >= last->memory);
	if (p->p_memsz < p->p_filesz || p->p_vaddr > MOST_ADDRESS || p->p_memsz > MOST_ADDRESS || !apart
		|| (p->p_vaddr - p->p_offset) % PAGE_BYTES != 0) {
		return ws_elf_damaged(f, err, "a segment cannot be mapped");
	}
	*s = (struct ws_elf_segment){
		.address = p->p_vaddr,
		.size = p->p_filesz,
		.memory = p->p_memsz,
		.offset = p->p_offset,
		.writable = p->p_flags & PF_W,
		.executable = p->p_flags & PF_X,
	};
	f->segment_count++;
	return true;
}

/* @dynamic gets the address of PT_DYNAMIC. */
static bool
read_segments(
	struct ws_elf_file *f, const Elf64_Ehdr *header, uint64_t *dynamic, struct ws_err *err)
{
	uint64_t offset = header->e_phoff, size = header->e_phnum * sizeof(Elf64_Phdr);
	struct ws_elf_segment *segments = WS_NEW_N(f->a, struct ws_elf_segment, header->e_phnum);
	if (offset > f->bytes.n || size > f->bytes.n - offset) {
		return ws_elf_damaged(f, err, "its program headers are outside of it");
	}
	f->segments = segments;
	f->seen.exec_stack = true; /* the default without PT_GNU_STACK */
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr p;
		memcpy(&p, f->bytes.s + offset + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && !read_load(f, &p, &segments[f->segment_count], err)) {
			return false;
		} else if (p.p_type == PT_DYNAMIC && p.p_filesz > 0) {
			*dynamic = p.p_vaddr;
		} else if (p.p_type == PT_TLS) {
			f->seen.tls_bytes = p.p_memsz;
		} else if (p.p_type == PT_GNU_STACK) {
			f->seen.exec_stack = p.p_flags & PF_X;
		}
	}
	return f->segment_count > 0 || ws_elf_damaged(f, err, "it has no segment that is loaded");
}

/* ---- the dynamic section ---- */

/* Conditions that the loader does not check and crashes without. */
static bool
check_dynamic(const struct ws_elf_file *f, struct ws_err *err)
{
	static const struct {
		int64_t tag;
		uint64_t value;
	} fixed[] = {
		{DT_PLTREL, DT_RELA}, {DT_RELAENT, sizeof(Elf64_Rela)}, {DT_RELRENT, sizeof(Elf64_Relr)}};
	static const struct {
		int64_t tag, with;
	} pairs[] = {{DT_RELA, DT_RELASZ}, {DT_RELA, DT_RELAENT}, {DT_RELR, DT_RELRSZ},
		{DT_RELR, DT_RELRENT}, {DT_PLTREL, DT_JMPREL}, {DT_PLTREL, DT_PLTRELSZ},
		{DT_INIT_ARRAY, DT_INIT_ARRAYSZ}};
	uint64_t value;
	for (size_t i = 0; i < WS_LEN(fixed); i++) {
		if (ws_elf_dynamic(f, fixed[i].tag, &value) && value != fixed[i].value) {
			return ws_elf_damaged(f, err, "its relocations have an unknown form");
		}
	}
	for (size_t i = 0; i < WS_LEN(pairs); i++) {
		if (ws_elf_dynamic(f, pairs[i].tag, &value) && !ws_elf_dynamic(f, pairs[i].with, &value)) {
			return ws_elf_damaged(f, err, "one of two entries of its dynamic section is missing");
		}
	}
	if (ws_elf_dynamic(f, DT_INIT, &value) && value != 0 && !ws_elf_is_code(f, value)) {
		return ws_elf_damaged(f, err, "the code that starts it is not there");
	}
	return true;
}

static const char *
text_of(const struct ws_elf_file *f, int64_t tag)
{
	uint64_t offset;
	return ws_elf_dynamic(f, tag, &offset) ? ws_elf_string(f, offset) : NULL;
}

/* Reads DT_NEEDED, and DT_FILTER: the library that a filter replaces. */
static bool
read_needed(struct ws_elf_file *f, struct ws_err *err)
{
	WS_VEC(const char *) needed = {0};
	for (size_t at = 0; at < f->dynamic.n; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;
		memcpy(&entry, f->dynamic.s + at, sizeof(entry));
		const char *name = ws_elf_string(f, entry.d_un.d_val);
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_FILTER) {
			continue;
		}
		if (!name) {
			return ws_elf_damaged(f, err, "a dynamic entry names no string");
		}
		if (needed.len == MOST_NEEDED) {
			return ws_err_set(err, WS_ERR_FETCH,
				"'%s' needs more than %d libraries, which is unexpected", f->seen.path,
				MOST_NEEDED);
		}
		if (*name) { /* "" is the program that loads it */
			*ws_vec_push(&needed, f->a) = name;
		}
	}
	f->seen.needed = needed.at;
	f->seen.needed_count = needed.len;
	return true;
}

static bool
read_dynamic(struct ws_elf_file *f, uint64_t address, struct ws_err *err)
{
	struct ws_elf *seen = &f->seen;
	if (address == 0) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no dynamic section", seen->path);
	}
	struct ws_str rest = ws_elf_rest(f, address);
	size_t at = 0;
	for (Elf64_Dyn entry; !f->dynamic.s; at += sizeof(entry)) {
		if (rest.n - at < sizeof(entry) || at >= MOST_DYNAMIC * sizeof(entry)) {
			return ws_elf_damaged(f, err, "its dynamic section has no end");
		}
		memcpy(&entry, rest.s + at, sizeof(entry));
		if (entry.d_tag == DT_NULL) {
			f->dynamic = (struct ws_str){rest.s, at};
		}
	}
	rest = ws_elf_dynamic(f, DT_STRTAB, &f->strings_at) ? ws_elf_rest(f, f->strings_at)
														: (struct ws_str){0};
	const char *last = rest.n ? memrchr(rest.s, '\0', rest.n) : NULL;
	if (!last) {
		return ws_elf_damaged(f, err, "it has no strings");
	}
	f->strings = (struct ws_str){rest.s, (size_t)(last - rest.s) + 1};
	if (!check_dynamic(f, err) || !read_needed(f, err)) {
		return false;
	}
	uint64_t flags;
	seen->soname = text_of(f, DT_SONAME);
	seen->rpath = text_of(f, DT_RPATH);
	seen->runpath = text_of(f, DT_RUNPATH);
	if (ws_elf_dynamic(f, DT_FLAGS_1, &flags)) {
		seen->no_dlopen = (flags & DF_1_NOOPEN) != 0;
		seen->executable = seen->executable || (flags & DF_1_PIE);
	}
	return true;
}

/* ---- a file ---- */

static struct ws_elf *
open_bytes(const char *name, struct ws_str bytes, bool mapped, bool any_machine, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_elf_file *f = WS_NEW(a, struct ws_elf_file);
	f->seen.path = ws_arena_strdup(a, name);
	f->seen.size = bytes.n;
	f->a = a;
	f->bytes = bytes;
	f->mapped = mapped;
	Elf64_Ehdr header;
	uint64_t dynamic = 0;
	if (!read_header(f, any_machine, &header, err) || !read_segments(f, &header, &dynamic, err)
		|| !read_dynamic(f, dynamic, err) || !ws_elf_read_versions(f, err)
		|| !ws_elf_read_symbols(f, err) || !ws_elf_read_relocations(f, err)) {
		ws_elf_close(&f->seen);
		return NULL;
	}
	return &f->seen;
}

struct ws_elf *
ws_elf_open_as(
	const char *path, const char *name, bool any_machine, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer */
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", name);
		return NULL;
	}
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' is not an ELF file", name);
		return NULL;
	}
	size_t len = (size_t)status.st_size;
	const void *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		ws_err_sys(err, WS_ERR_IO, "cannot map '%s'", name);
		return NULL;
	}
	return open_bytes(name, (struct ws_str){bytes, len}, true, any_machine, a, err);
}

struct ws_elf *
ws_elf_open(const char *path, struct ws_arena *a, struct ws_err *err)
{
	return ws_elf_open_as(path, path, false, a, err);
}

struct ws_elf *
ws_elf_open_bytes(
	const char *name, const void *bytes, size_t len, struct ws_arena *a, struct ws_err *err)
{
	return open_bytes(name, (struct ws_str){bytes, len}, false, false, a, err);
}

void
ws_elf_close(struct ws_elf *elf)
{
	struct ws_elf_file *f = (struct ws_elf_file *)elf;
	if (f && f->mapped) {
		munmap((void *)(uintptr_t)f->bytes.s, f->bytes.n);
		f->mapped = false;
	}
}

void
ws_elf_forget(const struct ws_elf *elf)
{
	const struct ws_elf_file *f = (const struct ws_elf_file *)elf;
	if (f->mapped) {
		madvise((void *)(uintptr_t)f->bytes.s, f->bytes.n, MADV_DONTNEED);
	}
}

const char *
ws_elf_library_name(const struct ws_elf *elf)
{
	return elf->soname ? elf->soname : ws_path_base(elf->path);
}
