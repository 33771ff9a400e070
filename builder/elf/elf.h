/**
 * elf.h - ELF files of unknown origin: shared objects and executables as the loader reads them
 *
 * ELF64, little endian, x86-64 and aarch64 (others where noted). Reads program headers and the
 * dynamic section; sections and object files only in the functions named so. Files that glibc's
 * loader refuses or does not survive are not opened. The file is mapped, never copied: of a library
 * of 450 MB only the pages that are read become resident. Texts lie in the mapping and live until
 * ws_elf_close. verify/ judges the result.
 *
 * Sources: System V gABI chapters 4 and 5, the GNU symbol versioning text of the LSB, elf.h,
 * glibc's elf/.
 */
#ifndef WS_ELF_ELF_H
#define WS_ELF_ELF_H

#include "base/err.h"
#include "base/text.h"

/** A symbol version: required from another library, or defined here. */
struct ws_elf_version {
	const char *library; /**< "libc.so.6"; NULL: defined by this file */
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
	bool executable; /**< a program (ET_EXEC, or DF_1_PIE), which cannot be loaded as a library */
	bool no_dlopen;  /**< only a dependent library can load it, not dlopen */
	bool static_tls; /**< a relocation needs its thread-local variables in the scarce static room */
	bool exec_stack; /**< needs an executable stack: by PT_GNU_STACK, or without it */
	bool relr;       /**< has packed relocations (DT_RELR), which need glibc 2.36 */
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
 * One dynamic symbol, borrowed from the mapping. Symbols that the loader ignores in a lookup
 * (hidden or internal visibility, address 0) are neither defined nor undefined here.
 */
struct ws_elf_symbol {
	const char *name; /**< never "" */
	bool defined;     /**< exported by this file; else undefined */
	bool
		asked; /**< a relocation refers to it; an undefined symbol without one is never looked up */
	bool hidden;      /**< found only by a reference with its version */
	bool not_default; /**< not found by dlsym, which gives no version */
	enum ws_elf_binding binding;
	enum ws_elf_type type;
	uint64_t address; /**< in the file's own numbering; 0: undefined, or an absolute 0 */
	const struct ws_elf_version *version; /**< NULL when it has none */
};

/**
 * Opens and checks a file. It must not shrink while it is open (SIGBUS). WS_ERR_IO when it cannot
 * be read, WS_ERR_FETCH when it is malformed or not a library. The struct's own texts live in @a
 * a.
 */
struct ws_elf *ws_elf_open(const char *path, struct ws_arena *a, struct ws_err *err);

/** As ws_elf_open; messages call the file @a name. @a any_machine: to describe the file, not to
 * judge it. */
struct ws_elf *ws_elf_open_as(
	const char *path, const char *name, bool any_machine, struct ws_arena *a, struct ws_err *err);

/** As ws_elf_open, for @a len bytes that the caller keeps until ws_elf_close. */
struct ws_elf *ws_elf_open_bytes(
	const char *name, const void *bytes, size_t len, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_elf_close(struct ws_elf *elf);

/** Lets the kernel drop the pages that were read. Texts stay valid: the kernel reads their pages
 * again. */
void ws_elf_forget(const struct ws_elf *elf);

/**
 * The next global, weak or unique symbol at or after *@a at, which moves past it; false at the
 * end. Loop: `for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);)`. Skips symbols whose
 * name is outside the string table.
 */
bool ws_elf_next_symbol(const struct ws_elf *elf, size_t *at, struct ws_elf_symbol *symbol);

/**
 * The bytes of the first section of that name; empty (s NULL) without one. Loaders do not read
 * sections: one that claims to be loaded must be in a segment at that place, else it is empty.
 */
struct ws_str ws_elf_section(const struct ws_elf *elf, const char *name);

/**
 * The machine of a program or library, by its first bytes: "x86-64", "aarch64", "ELF machine 22",
 * "Mach-O", "Windows". NULL for other files. Texts live in @a a.
 */
const char *ws_machine_of(const void *head, size_t len, struct ws_arena *a);

/** Number of first bytes that ws_machine_of needs. */
#define WS_MACHINE_BYTES 20

/** The name that other libraries use: DT_SONAME, else the last part of the path. */
const char *ws_elf_library_name(const struct ws_elf *elf);

WS_RELEASED_BY(ws_auto_elf, struct ws_elf, ws_elf_close)

/** `WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(...)`. */
#define WS_AUTO_ELF __attribute__((cleanup(ws_auto_elf)))

/* ---- object files ---- */

/**
 * The undefined names of the object file @a file (ET_REL, 64 bits, any machine), without weak
 * ones; their number. They point into its bytes. Other and malformed files have no names.
 */
size_t ws_elf_object_wants(struct ws_str file, struct ws_arena *a, const char *const **names);

#endif
