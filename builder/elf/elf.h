/**
 * elf.h - one ELF file of unknown origin, as the loader reads it: what it needs, exports and looks
 * for
 *
 * ELF64, little endian, x86-64 (others where it is said), shared objects and executables. Read by
 * program headers and the dynamic section alone; what glibc's loader refuses or does not survive is
 * not opened. The file is mapped, never copied: of a library of 450 MB only the pages that are
 * looked at become resident. Every text that is handed out lies in the mapping and lives until
 * ws_elf_close. Judging what was read is verify's.
 *
 * Sources: System V gABI chapters 4 and 5, the GNU symbol versioning text of the LSB, elf.h,
 * glibc's elf/.
 */
#ifndef WS_ELF_ELF_H
#define WS_ELF_ELF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

/** A version that the file asks of another library, or defines itself. */
struct ws_elf_version {
	const char *library; /**< whose it is: "libc.so.6"; NULL: this file defines it */
	const char *name;    /**< "GLIBC_2.14" */
	unsigned index;      /**< as in .gnu.version, at least 2 */
	bool weak;           /**< the loader only warns when it is missing (VER_FLG_WEAK) */
};

struct ws_elf {
	const char *path;          /**< for messages */
	uint64_t size;             /**< bytes */
	unsigned machine;          /**< e_machine: 62 is x86-64, 183 aarch64 */
	const char *soname;        /**< DT_SONAME; NULL when there is none */
	const char *rpath;         /**< DT_RPATH; NULL when there is none */
	const char *runpath;       /**< DT_RUNPATH; NULL when there is none */
	const char *const *needed; /**< DT_NEEDED and DT_FILTER, in order */
	size_t needed_count;
	const struct ws_elf_version *versions; /**< in the order of the file, needed ones first */
	size_t version_count;
	size_t symbol_count; /**< dynamic symbols, the null entry included */
	bool executable;     /**< a program (ET_EXEC, or DF_1_PIE): nothing can load it */
	bool no_dlopen;      /**< DF_1_NODLOPEN: only what needs it can load it */
	bool static_tls;    /**< a relocation wants its thread-local variables in room that is scarce */
	bool exec_stack;    /**< it wants an executable stack: PT_GNU_STACK says so, or is not there */
	bool relr;          /**< it has packed relocations (DT_RELR), which glibc reads since 2.36 */
	uint64_t tls_bytes; /**< of its thread-local variables (PT_TLS) */
};

enum ws_elf_binding {
	WS_ELF_GLOBAL,
	WS_ELF_WEAK,
	WS_ELF_UNIQUE, /**< STB_GNU_UNIQUE: one of it in a process */
};

enum ws_elf_type {
	WS_ELF_NOTYPE, /**< most undefined symbols */
	WS_ELF_FUNC,
	WS_ELF_OBJECT,
	WS_ELF_TLS,
	WS_ELF_IFUNC, /**< STT_GNU_IFUNC: a function chosen when it is loaded */
};

/**
 * One dynamic symbol. Borrowed from the mapping. What the loader passes over when it looks for a
 * name (hidden or internal visibility, address 0) is not handed out as defined, nor as wanted.
 */
struct ws_elf_symbol {
	const char *name; /**< never "" */
	bool defined;     /**< this file exports it; else it wants it */
	bool asked;  /**< a relocation has the loader look for it; a wanted one without is not missed */
	bool hidden; /**< a reference finds it only by its version */
	bool not_default; /**< dlsym, which asks for no version, does not find it */
	enum ws_elf_binding binding;
	enum ws_elf_type type;
	uint64_t address; /**< in the file's own numbering; 0: wanted, or an absolute 0 */
	const struct ws_elf_version *version; /**< NULL when it has none */
};

/**
 * Opens and checks a file. It must not shrink while it is open (SIGBUS). WS_ERR_IO when it cannot
 * be read, WS_ERR_FETCH when it is something else or malformed. Texts of the struct itself live
 * in @a a.
 */
struct ws_elf *ws_elf_open(const char *path, struct ws_arena *a, struct ws_err *err);

/** As ws_elf_open; messages call the file @a name. */
struct ws_elf *ws_elf_open_as(
	const char *path, const char *name, struct ws_arena *a, struct ws_err *err);

/** As ws_elf_open_as, whichever machine it is for: to tell, not to judge. */
struct ws_elf *ws_elf_open_any(
	const char *path, const char *name, struct ws_arena *a, struct ws_err *err);

/** As ws_elf_open, of @a len bytes that the caller keeps until ws_elf_close. */
struct ws_elf *ws_elf_open_bytes(
	const char *name, const void *bytes, size_t len, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_elf_close(struct ws_elf *elf);

/** What was looked at need not stay resident; all texts stay valid, and come back when they are
 * read. */
void ws_elf_forget(const struct ws_elf *elf);

/**
 * The next global, weak or unique symbol at or after *@a at, which moves past it; false at the
 * end. Loop: `for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);)`. Symbols whose name
 * lies outside the string table are passed over.
 */
bool ws_elf_next_symbol(const struct ws_elf *elf, size_t *at, struct ws_elf_symbol *symbol);

/**
 * The bytes of the first section of that name, which no loader reads; empty (s NULL) when it has
 * none in the file, or one that says it is loaded and is not what a segment has there.
 */
struct ws_str ws_elf_section(const struct ws_elf *elf, const char *name);

/**
 * Which machine a program or library is for, by its first bytes: "x86-64", "aarch64", "ELF machine
 * 22", "Mach-O", "Windows". NULL: it is neither. Texts live in @a a.
 */
const char *ws_machine_of(const void *head, size_t len, struct ws_arena *a);

/** How many first bytes ws_machine_of wants. */
#define WS_MACHINE_BYTES 20

/** What others name it by: DT_SONAME, else the last part of the path. */
const char *ws_elf_library_name(const struct ws_elf *elf);

static inline void
ws_auto_elf(struct ws_elf *const *elf)
{
	ws_elf_close(*elf);
}

/** `WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(...)`. */
#define WS_AUTO_ELF __attribute__((cleanup(ws_auto_elf)))

/* ---- object files ---- */

/**
 * The names that @a file, of any machine of 64 bits, wants and does not define, weak ones left out;
 * how many. They lie in its bytes. None where it is something else or malformed.
 */
size_t ws_elf_object_wants(struct ws_str file, struct ws_arena *a, const char *const **names);

#endif
