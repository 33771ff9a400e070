/**
 * elf_file.h - one ELF file in memory, by address; for elf/ alone
 *
 * Addresses are those of the program headers. An address outside the file's bytes of a segment
 * has no contents. All reads go through ws_elf_rest, which checks bounds.
 */
#ifndef WS_ELF_ELF_FILE_H
#define WS_ELF_ELF_FILE_H

#include "elf/elf.h"

/** A part of the file that is loaded (PT_LOAD). */
struct ws_elf_segment {
	uint64_t address;
	uint64_t size;   /**< bytes in the file */
	uint64_t memory; /**< bytes in memory: zeros follow */
	uint64_t offset; /**< of the first one in the file */
	bool writable, executable;
};

/** Marks of a symbol's name, a bit each. */
#define WS_ELF_FOUND 1 /* found by the hash table */
#define WS_ELF_ASKED 2 /* looked up for a relocation */

struct ws_elf_file {
	struct ws_elf seen; /**< first: the public part */
	struct ws_arena *a;
	struct ws_str bytes; /**< of the whole file */
	bool mapped;         /**< else the caller owns the bytes */
	const struct ws_elf_segment *segments;
	size_t segment_count;
	struct ws_str dynamic; /**< entries of the dynamic section, without DT_NULL */
	uint64_t strings_at;   /**< DT_STRTAB */
	struct ws_str strings; /**< from there up to the last 0 byte of its segment */
	struct ws_str symbols; /**< from DT_SYMTAB up to the end of its segment */
	struct ws_str
		versyms; /**< from DT_VERSYM to the end of its segment; empty: symbols have no versions */
	unsigned char *marks;                   /**< of each symbol: WS_ELF_FOUND, WS_ELF_ASKED */
	const struct ws_elf_version **by_index; /**< of .gnu.version; NULL: no version */
	size_t index_count;
};

/** The file's bytes from @a address to the end of its segment; may be empty. */
struct ws_str ws_elf_rest(const struct ws_elf_file *f, uint64_t address);

/** The segment that has @a size bytes of memory at @a address; NULL: none. */
const struct ws_elf_segment *ws_elf_segment_of(
	const struct ws_elf_file *f, uint64_t address, uint64_t size);

/** True when the address is in an executable segment. */
bool ws_elf_is_code(const struct ws_elf_file *f, uint64_t address);

/** The value of the last entry of that tag, which the loader uses; false: none. */
bool ws_elf_dynamic(const struct ws_elf_file *f, int64_t tag, uint64_t *value);

/** The string at @a offset from the string table, also outside of it; NULL: none. */
const char *ws_elf_string(const struct ws_elf_file *f, uint64_t offset);

/** The hash of a name in DT_HASH and in version tables. */
uint32_t ws_elf_hash(const char *name);

/** Sets WS_ERR_FETCH with the reason @a what, for which the loader refuses or does not survive
 * the file. Returns false. */
bool ws_elf_damaged(const struct ws_elf_file *f, struct ws_err *err, const char *what);

/** Reads the versions that the file requires and defines. */
bool ws_elf_read_versions(struct ws_elf_file *f, struct ws_err *err);

/** Reads the hash table: the number of symbols, and which of them a lookup finds. */
bool ws_elf_read_symbols(struct ws_elf_file *f, struct ws_err *err);

/** Reads relocations and marks their symbols, which may be beyond those of the hash table. */
bool ws_elf_read_relocations(struct ws_elf_file *f, struct ws_err *err);

/** Makes room for @a count symbols; false: the file does not have so many. */
bool ws_elf_extend_symbols(struct ws_elf_file *f, uint64_t count);

#endif
