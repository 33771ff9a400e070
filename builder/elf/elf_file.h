/**
 * elf_file.h - one file as the loader has it in memory; for elf/ alone
 *
 * Addresses are those of the program headers. What lies in no segment, or behind the bytes that the
 * file has for one, is not there. Everything is read through ws_elf_rest, which is where bounds are
 * checked.
 */
#ifndef WS_ELF_ELF_FILE_H
#define WS_ELF_ELF_FILE_H

#include "base/err.h"
#include "elf/elf.h"

#include <stddef.h>

struct ws_mapping {
	const void *bytes; /**< NULL: nothing is mapped */
	size_t len;
};

/** Messages call it @a name. WS_ERR_IO when it cannot be read; WS_ERR_FETCH when it is not a file
 * of
 * @a least bytes. */
bool ws_mapping_open(const char *path, const char *name, size_t least, struct ws_mapping *mapping,
	struct ws_err *err);

/** Its pages need not stay resident; they come back when they are looked at. */
void ws_mapping_forget(const struct ws_mapping *mapping);

/** Nothing mapped is fine. */
void ws_mapping_close(struct ws_mapping *mapping);

/** A part of the file that is mapped (PT_LOAD). */
struct ws_elf_segment {
	uint64_t address;
	uint64_t size;   /**< bytes that the file has of it */
	uint64_t memory; /**< bytes in memory: zeros follow */
	uint64_t offset; /**< of the first one in the file */
	bool writable, executable;
};

/** What the loader does with a symbol's name, a bit each. */
#define WS_ELF_FOUND 1 /* the hash table leads to it */
#define WS_ELF_ASKED 2 /* a relocation has it looked for */

struct ws_elf_file {
	struct ws_elf seen; /**< first: what is handed out */
	struct ws_arena *a;
	struct ws_mapping mapping; /**< nothing: the bytes are the caller's */
	struct ws_str bytes;       /**< of the whole file */
	const struct ws_elf_segment *segments;
	size_t segment_count;
	struct ws_str dynamic; /**< entries of the dynamic section, without DT_NULL */
	uint64_t strings_at;   /**< DT_STRTAB */
	struct ws_str strings; /**< from there up to the last 0 byte of its segment */
	struct ws_str symbols; /**< from DT_SYMTAB up to the end of its segment */
	struct ws_str versyms; /**< from DT_VERSYM likewise; empty: nothing is versioned */
	unsigned char *marks;  /**< of each symbol: WS_ELF_FOUND, WS_ELF_ASKED */
	const struct ws_elf_version **by_index; /**< of .gnu.version; NULL: no version */
	size_t index_count;
};

/** What the file has from @a address on, up to the end of its segment; empty: nothing. */
struct ws_str ws_elf_rest(const struct ws_elf_file *f, uint64_t address);

/** The segment in whose memory @a size bytes at @a address are; NULL: none. */
const struct ws_elf_segment *ws_elf_segment_of(
	const struct ws_elf_file *f, uint64_t address, uint64_t size);

/** Can it be run? */
bool ws_elf_is_code(const struct ws_elf_file *f, uint64_t address);

/** The value of the last entry with that tag, as the loader takes it; false: there is none. */
bool ws_elf_dynamic(const struct ws_elf_file *f, int64_t tag, uint64_t *value);

/** The string at @a offset of the string table, wherever that leads; NULL: nowhere. */
const char *ws_elf_string(const struct ws_elf_file *f, uint64_t offset);

/** The number by which DT_HASH and version tables know a name. */
uint32_t ws_elf_hash(const char *name);

/** WS_ERR_FETCH: the loader would refuse the file, or not survive it, because of @a what. Returns
 * false. */
bool ws_elf_damaged(const struct ws_elf_file *f, struct ws_err *err, const char *what);

/** Reads the versions that it asks for and defines. */
bool ws_elf_read_versions(struct ws_elf_file *f, struct ws_err *err);

/** Reads the hash table, which says how many symbols there are and which of them are found. */
bool ws_elf_read_symbols(struct ws_elf_file *f, struct ws_err *err);

/** Reads relocations: marks the symbols that are looked for, of which there may be more. */
bool ws_elf_read_relocations(struct ws_elf_file *f, struct ws_err *err);

/** Makes room for @a count symbols; false: the file does not have so many. */
bool ws_elf_extend_symbols(struct ws_elf_file *f, uint64_t count);

#endif
